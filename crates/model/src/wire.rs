use warpline_memory::{IsPortable, Payload, Portable};

/// How the events of a model leave their process, for runs of several processes: [`Model::wire`](crate::Model::wire), which has an example.
pub struct WireFormat<E> {
    portable: IsPortable<E>,
    payloads: Option<PayloadVisitor<E>>,
}

/// Passes all payloads in an event to somebody.
pub type PayloadVisitor<E> = fn(&mut E, &mut dyn FnMut(&mut Payload));

impl<E: Portable> WireFormat<E> {
    /// As plain data: as it lies in memory, and its [payloads](Payload) with it. Processes on the same machine share it without a copy.
    pub const fn portable() -> Self {
        let payloads: Option<PayloadVisitor<E>> = if E::HAS_PAYLOADS { Some(E::payloads) } else { None };
        WireFormat { portable: IsPortable::PROOF, payloads }
    }
}

impl<E> WireFormat<E> {
    /// The proof that processes may share events.
    pub const fn proof(&self) -> IsPortable<E> {
        self.portable
    }

    /// Passes on the payloads in an event, if events have any.
    pub const fn payloads(&self) -> Option<PayloadVisitor<E>> {
        self.payloads
    }
}
