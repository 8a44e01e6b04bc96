//! Mistakes that random models are planned to make.

/// A mistake of a model, and where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedFault {
    /// The mistake.
    pub mistake: Mistake,
    /// The LP that makes it.
    pub lp: u32,
    /// Which of that LP's events makes it, from 1.
    pub event: u64,
}

/// A mistake that a model can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// A delay that is NaN.
    NanDelay,
    /// A delay below zero.
    NegativeDelay,
    /// An infinite delay.
    InfiniteDelay,
    /// A delay below the lookahead. If the lookahead is zero, or there is no other LP, the same as
    /// `NegativeDelay`.
    BelowLookahead,
    /// A receiver that does not exist.
    UnknownLp,
    /// An event that sends itself on without delay for ever.
    ZeroDelayLoop,
    /// A panic with a message.
    Panic,
    /// A division by zero.
    DivideByZero,
    /// A statistic that is not declared.
    UndeclaredStatistic,
    /// A statistic of another kind than declared.
    WrongKind,
    /// An item beyond those declared.
    WrongItem,
    /// An observation that is NaN.
    NanObservation,
    /// A counter beyond the largest number, noticed when the results are made.
    CounterOverflow,
    /// A row that is too short.
    WrongRow,
    /// A table that is not declared.
    UndeclaredTable,
    /// A call of `fail`.
    Fail,
    /// A delay just below the lookahead.
    JustBelowLookahead,
    /// A receiver to which there is no link. If there are links to all, or none are declared, the
    /// same as `NegativeDelay`.
    UndeclaredLink,
    /// A timer with a delay below zero.
    NegativeTimer,
}

impl Mistake {
    /// All of them.
    pub const ALL: [Mistake; 19] = [
        Mistake::NanDelay,
        Mistake::NegativeDelay,
        Mistake::InfiniteDelay,
        Mistake::BelowLookahead,
        Mistake::UnknownLp,
        Mistake::ZeroDelayLoop,
        Mistake::Panic,
        Mistake::DivideByZero,
        Mistake::UndeclaredStatistic,
        Mistake::WrongKind,
        Mistake::WrongItem,
        Mistake::NanObservation,
        Mistake::CounterOverflow,
        Mistake::WrongRow,
        Mistake::UndeclaredTable,
        Mistake::Fail,
        Mistake::JustBelowLookahead,
        Mistake::UndeclaredLink,
        Mistake::NegativeTimer,
    ];
}
