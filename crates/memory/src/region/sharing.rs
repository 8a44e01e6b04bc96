use super::Region;
use crate::Exhausted;
use crate::payload::{give_back_payloads, shared};

/// From now on, new [payloads](crate::Payload) of this process lie in a region, if processes share
/// it, and go from one to another without a copy. Earlier payloads have to be [moved
/// there](crate::Payload::make_common) first. The memory stays as long as this process has a
/// payload there, however long it keeps the region. It changes nothing if payloads lie there
/// already.
///
/// In a process, one run at a time can share payloads: the last to begin.
///
/// # Panics
/// If there is no memory, it [unwinds](Exhausted::unwind).
pub fn share_payloads(region: &Region) {
    let Some(segment) = region.segment() else { return };
    if shared::begin(segment.area()).is_none() {
        Exhausted::Memory { what: "payloads that processes share", bytes: 1 << 20 }.unwind();
    }
}

/// From now on, new payloads lie in the memory of this process again, if they lay in this region.
/// To be called in all processes; in the one that goes on, when the others have ended.
pub fn unshare_payloads(region: &Region) {
    let Some(segment) = region.segment() else { return };
    give_back_payloads();
    shared::end(segment.area());
}
