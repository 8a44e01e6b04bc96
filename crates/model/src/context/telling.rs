//! How an event tells what goes on within its LP.

use warpline_record::Deed;

use super::phases::Init;
use super::{Context, HasEvent};
use crate::statistics::Observe;
use crate::tables::{Table, Text};

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
                    self.record(Table::TOLD, &row);
                }
            }
        }
    };
}

telling!(Context<M>, context => context, "Context");
telling!(Init<'_, M>, init => init.context, "Init");
