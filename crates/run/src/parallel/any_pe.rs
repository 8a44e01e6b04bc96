//! PEs of any model, for the code that steps them.
//!
//! A PE is compiled for each model. What steps PEs is compiled once: it calls a PE once a step,
//! which is some hundred events, and can do so by a table of functions.

use std::sync::Arc;
use std::time::{Duration, Instant};

use warpline_base::{Moment, VirtualTime};
use warpline_kernel::gvt::{Barrier, Verdict};
use warpline_kernel::{Counts, MomentRow, Pe, Position, Step};
use warpline_memory::Exhausted;
use warpline_model::Model;
use warpline_model::engine::Beat;

use super::common::PeOf;

/// Declares a trait with functions that a PE has by the same names, and passes calls on to them.
macro_rules! any_pe {
    ($($(#[$about:meta])* pub(crate) trait $any:ident { $(fn $name:ident $parameters:tt $(-> $result:ty)?;)+ })+) => {$(
        $(#[$about])*
        pub(crate) trait $any: Send {
            $(fn $name $parameters $(-> $result)?;)+
        }

        impl<M: Model> $any for PeOf<'_, M> {
            $(any_pe!(@pass $name $parameters $(-> $result)?);)+
        }
    )+};
    (@pass $name:ident (&self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?) => {
        fn $name(&self $(, $argument: $type)*) $(-> $result)? {
            Pe::$name(self $(, $argument)*)
        }
    };
    (@pass $name:ident (&mut self $(, $argument:ident: $type:ty)*) $(-> $result:ty)?) => {
        fn $name(&mut self $(, $argument: $type)*) $(-> $result)? {
            Pe::$name(self $(, $argument)*)
        }
    };
}

any_pe! {
    /// A [`Pe`]; each function is that of the same name.
    pub(crate) trait AnyPe {
        fn prefetch(&self);
        fn prefetch_for_gvt(&self);
        fn step(&mut self) -> Result<Step, Exhausted>;
        fn beat(&self) -> &Arc<Beat>;
        fn begin_thread(&mut self, on_core: fn() -> Duration, alone: bool);
        fn begin_sharing(&mut self);
        fn slept(&mut self, time: Duration);
        fn end_thread(&mut self);
        fn waits_at_barrier(&self) -> Option<(&Barrier, u64)>;
        fn shared_word(&self) -> Option<u64>;
        fn horizon_in_registers(&self) -> Option<VirtualTime>;
        fn waits_for(&mut self) -> Option<VirtualTime>;
        fn is_waiting_for_gvt(&self) -> bool;
        fn note_idle_steps(&mut self, steps: u32);
        fn horizon(&self) -> VirtualTime;
        fn idle_steps_left(&mut self) -> Option<u32>;
        fn is_initialised(&self) -> bool;
        fn initialised_at(&self) -> Option<Instant>;
        fn counts(&self) -> &Counts;
        fn window(&self) -> f64;
        fn verdict(&self) -> Option<&Verdict>;
        fn settled(&self) -> Option<Moment>;
        fn failure(&self) -> Moment;
        fn position(&self) -> Position;
        fn take_rows(&mut self) -> Vec<MomentRow>;
        fn committed_before(&self, moment: &Moment) -> u64;
        fn weighs_copies(&self) -> bool;
        fn event_seconds(&self) -> f64;
        fn copy_states(&mut self, most: u32) -> u32;
        fn set_copy_cost(&mut self, events: f64);
        fn propose_end(&mut self) -> (VirtualTime, VirtualTime);
        fn end_at(&mut self, end: VirtualTime);
        fn let_go(&mut self);
        fn fail_unreadable(&mut self, end: VirtualTime);
    }
}
