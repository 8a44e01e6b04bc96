//! Which LPs tell what their processes do.

use std::sync::Arc;

use warpline_base::LpId;
use warpline_record::Deed;

use crate::context::{Context, HasEvent};
use crate::{Init, Observe, Table, Text};

/// The table into which LPs tell. No model declares it.
pub(crate) const TOLD: Table = Table(u16::MAX);

/// Which LPs tell what their processes do, and how much.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Followed {
    /// By LP; `None` if nobody is followed.
    lps: Option<Arc<[bool]>>,
    /// The most that an LP tells.
    most: u32,
}

impl Followed {
    /// The LPs for which `lps` is true tell at most `most` deeds each.
    pub fn new(lps: impl Iterator<Item = bool>, most: u32) -> Self {
        let lps: Arc<[bool]> = lps.collect();
        Followed { lps: lps.contains(&true).then_some(lps), most }
    }

    /// How much this LP may tell.
    #[inline]
    pub fn most(&self, lp: LpId) -> u32 {
        let follows = self.lps.as_ref().is_some_and(|lps| lps.get(lp.index()) == Some(&true));
        if follows { self.most } else { 0 }
    }

    /// Whether this is the table into which LPs tell.
    pub fn is_table(table: u16) -> bool {
        table == TOLD.0
    }
}

macro_rules! telling {
    ($type:ty, $lp:ident => $context:expr, $name:literal) => {
        impl<M: HasEvent> $type {
            /// How many deeds this LP may tell; 0 unless somebody follows it. Ask before a text is
            /// made for nothing.
            #[inline]
            pub fn may_tell(&self) -> u32 {
                let $lp = self;
                $context.limits.followed.most($context.id)
            }

            /// Tells what `who`, somebody within this LP, does, for those who follow the LP. If
            /// nobody does, nothing happens.
            ///
            /// ```
            /// # use warpline_model::{prelude::*, record::Deed};
            #[doc = concat!("# fn example<M: Model>(lp: &mut ", $name, "<M>) {")]
            /// lp.tell("Ann", Deed::Queues, "till");
            /// lp.tell("Ben", Deed::Does, "looks out of the window");
            /// # }
            /// ```
            #[cold]
            pub fn tell(&mut self, who: impl Into<Text>, deed: Deed, what: impl Into<Text>) {
                if self.may_tell() > 0 {
                    let row = [who.into().into(), deed.number().into(), what.into().into()];
                    self.record(TOLD, &row);
                }
            }
        }
    };
}

telling!(Context<M>, context => context, "Context");
telling!(Init<'_, M>, init => init.context, "Init");
