use warpline_base::Moment;

use super::{Action, Asynchronous, Control, Gvt, Local, Synchronous, Tag};

/// An algorithm chosen at run time. Its methods are those of [`Gvt`].
#[derive(Debug)]
pub enum AnyGvt {
    /// PEs go on executing meanwhile.
    Asynchronous(Asynchronous),
    /// PEs hold meanwhile.
    Synchronous(Synchronous),
}

macro_rules! with {
    ($any:expr, $gvt:ident => $does:expr) => {
        match $any {
            AnyGvt::Asynchronous($gvt) => $does,
            AnyGvt::Synchronous($gvt) => $does,
        }
    };
}

impl AnyGvt {
    /// As [`Gvt::NAME`].
    pub fn name(&self) -> &'static str {
        match self {
            AnyGvt::Asynchronous(_) => Asynchronous::NAME,
            AnyGvt::Synchronous(_) => Synchronous::NAME,
        }
    }

    /// As [`Gvt::sent`].
    #[inline]
    pub fn sent(&mut self) -> Tag {
        with!(self, gvt => gvt.sent())
    }

    /// As [`Gvt::received`].
    #[inline]
    pub fn received(&mut self, tag: Tag, at: impl FnOnce() -> Moment) {
        with!(self, gvt => gvt.received(tag, at))
    }

    /// As [`Gvt::wish`].
    #[inline]
    pub fn wish(&mut self) {
        with!(self, gvt => gvt.wish())
    }

    /// As [`Gvt::receive_control`].
    ///
    /// # Panics
    /// As there.
    pub fn receive_control(&mut self, control: Control) {
        with!(self, gvt => gvt.receive_control(control))
    }

    /// As [`Gvt::advance`].
    ///
    /// # Panics
    /// As there.
    pub fn advance(&mut self, local: &mut impl Local) -> Option<Action> {
        with!(self, gvt => gvt.advance(local))
    }

    /// As [`Gvt::neighbours`].
    pub fn neighbours(&self) -> Vec<u32> {
        with!(self, gvt => gvt.neighbours())
    }

    /// As [`Gvt::holds`].
    #[inline]
    pub fn holds(&self) -> bool {
        with!(self, gvt => gvt.holds())
    }

    /// As [`Gvt::is_on`].
    #[inline]
    pub fn is_on(&self) -> bool {
        with!(self, gvt => gvt.is_on())
    }
}
