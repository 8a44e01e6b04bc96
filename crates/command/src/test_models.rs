//! Two small models, for tests of the command line.

use crate::models::catalogue::{Catalogue, CatalogueError, ModelEntry, Only, Visitor, configured};
use crate::models::program::Program;
use warpline_run::prelude::*;

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Choices)]
pub(crate) enum Discipline {
    /// Who came first.
    Fifo,
    /// Who came last.
    Lifo,
}

/// The parameters of [`Queue`].
#[derive(Clone, Debug, PartialEq, Parameters)]
pub(crate) struct QueueParameters {
    /// Mean number of customers that arrive per unit of time, however long that unit may be in the
    /// units of others.
    #[parameter(unit = "1/s", default = 0.8, range = 0.0..)]
    pub(crate) arrival_rate: f64,
    /// Mean number of customers that the server could serve per unit of time, if there were always
    /// one.
    #[parameter(unit = "1/s", default = 1.0, range = 0.0..)]
    pub(crate) service_rate: f64,
    /// Who is served next.
    #[parameter(default = Discipline::Fifo)]
    pub(crate) discipline: Discipline,
}

/// A model that does nothing.
pub(crate) struct Queue;

impl Model for Queue {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, _: &mut Init<Self>) {}

    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

impl Configure for Queue {
    type Parameters = QueueParameters;

    const NAME: &'static str = "mm1";
    const ABOUT: &'static str = "a queue";
    const TIME_UNIT: &'static str = "s";
    const DEFAULT_END: f64 = 1000.0;

    fn configure(_: &QueueParameters) -> Result<Self, String> {
        Ok(Queue)
    }
}

/// The parameters of [`Hops`].
#[derive(Clone, Debug, PartialEq, Parameters)]
pub(crate) struct HopsParameters {
    /// How many LPs there are.
    #[parameter(default = 1024, range = 1..)]
    pub(crate) lps: u32,
}

/// Another model that does nothing.
pub(crate) struct Hops;

impl Model for Hops {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, _: &mut Init<Self>) {}

    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

impl Configure for Hops {
    type Parameters = HopsParameters;

    const NAME: &'static str = "phold";
    const ABOUT: &'static str = "messages that hop";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 100.0;

    fn configure(_: &HopsParameters) -> Result<Self, String> {
        Ok(Hops)
    }
}

/// Both models.
pub(crate) struct Two;

impl Catalogue for Two {
    fn entries(&self) -> Vec<ModelEntry> {
        vec![ModelEntry::of::<Queue>(), ModelEntry::of::<Hops>()]
    }

    fn with_model<V: Visitor>(
        &self,
        name: &str,
        given: &[(String, String)],
        visitor: V,
    ) -> Result<V::Output, CatalogueError> {
        match self.find(name)?.name {
            Queue::NAME => Ok(visitor.visit(configured::<Queue>(given)?)),
            _ => Ok(visitor.visit(configured::<Hops>(given)?)),
        }
    }
}

/// A program with both models.
pub(crate) fn two() -> Program<'static, Two> {
    Program::new(&Two, Some(&"/usr/bin/warpline".into())).unwrap()
}

/// A program with one of them.
pub(crate) fn one() -> Program<'static, Only<Queue>> {
    const ONLY: Only<Queue> = Only::new();
    Program::new(&ONLY, Some(&"./queue".into())).unwrap()
}
