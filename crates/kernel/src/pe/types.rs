use warpline_model::Model;

use crate::agenda::pending::PendingSet;
use crate::mail::wires::Port;

/// The types that a PE is made of. A tuple of a model, a pending event set and a port implements
/// it.
pub trait PeTypes {
    /// The model.
    type Model: Model;
    /// The pending event set.
    type Pending: PendingSet;
    /// The PE's end of the wires.
    type Port: Port<EventOf<Self>>;
}

impl<M: Model, Q: PendingSet, P: Port<M::Event>> PeTypes for (M, Q, P) {
    type Model = M;
    type Pending = Q;
    type Port = P;
}

/// The payload of an event.
pub type EventOf<T> = <<T as PeTypes>::Model as Model>::Event;
/// The state of an LP.
pub(crate) type StateOf<T> = <<T as PeTypes>::Model as Model>::State;
