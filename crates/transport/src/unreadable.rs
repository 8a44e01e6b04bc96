use std::panic::resume_unwind;

/// What unwinds where an event of the model cannot be written as bytes, or not be read back: why, and which event it is. The model has to be
/// changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(pub String);

impl Unreadable {
    /// Unwinds to whoever steps the PE.
    #[cold]
    pub(crate) fn unwind(why: String) -> ! {
        resume_unwind(Box::new(Unreadable(why)))
    }
}
