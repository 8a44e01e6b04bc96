use crate::payload::shared::{self, Returned};
use crate::{Region, Shareable};

// SAFETY: the addresses in it are those of blocks in shared memory, the same in all processes.
unsafe impl Shareable for Returned {}

/// From now on, new [payloads](crate::Payload) of this process lie in a region that processes share, if they do, and go from one to another
/// without a copy. Those that have been made before have to be [moved there](crate::Payload::make_common) first. What lies there stays until the
/// program ends.
///
/// In a process, one run at a time can share payloads: the last to begin. All processes begin in the same place of the order in which they place
/// other things.
pub fn share_payloads(region: &Region) {
    let Some(segment) = region.segment() else { return };
    let returned = region.place_list(segment.processes() as usize, |_| Returned::default());
    shared::begin(segment, returned, &region.place(0usize));
}

/// From now on, new payloads lie in the memory of this process again.
pub fn unshare_payloads() {
    shared::end();
}
