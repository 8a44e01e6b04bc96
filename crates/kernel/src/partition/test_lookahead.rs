//! A model that declares what a test asks for.

use warpline_base::LpId;
use warpline_model::engine::Lookahead;
use warpline_model::{Context, Init, Link, Model};

/// For each LP, its lookahead towards any other, or its links.
pub(crate) type Declared<'a> = Result<f64, &'a [(u32, f64)]>;

struct Declaring(Vec<Result<f64, Vec<(u32, f64)>>>);

impl Model for Declaring {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        self.0.len() as u32
    }

    fn lookahead_of(&self, lp: LpId) -> Option<f64> {
        self.0[lp.index()].as_ref().ok().copied()
    }

    fn links(&self, lp: LpId) -> Option<Vec<Link>> {
        let links = self.0[lp.index()].as_ref().err()?;
        Some(links.iter().map(|&(to, lookahead)| Link { to: LpId(to), lookahead }).collect())
    }

    fn init(&self, _: &mut Init<Self>) {}

    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

/// What LPs declare.
pub(crate) fn lookahead(lps: &[Declared<'_>]) -> Lookahead {
    let declaring = Declaring(lps.iter().map(|lp| lp.map_err(<[_]>::to_vec)).collect());
    Lookahead::of(&declaring, lps.len() as u32).expect("it makes sense")
}
