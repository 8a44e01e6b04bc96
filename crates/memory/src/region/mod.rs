//! Memory that several processes share.
//!
//! An address means the same in every process, so what threads share, processes share by the same
//! code: rings, buffers with their status, bounds, registers for GVT, payloads. Only the place
//! differs ([`Region::place`]). Two processes measured 0.97 to 1.06 of two threads (PHOLD in four
//! sizes). The system gives such memory in small pages only, unless its administrator says
//! otherwise; that costs a few percent where buffers fill many of them.
//!
//! The mappings are files in memory without a name, in a part of the address space that systems
//! leave alone. Only [portable](crate::Portable) values lie in them. Beside those lies what the
//! engine itself shares, such as locks, which is [`Shareable`](crate::Shareable) but no value that
//! could be sent.

mod common;
mod member;
mod segment;
mod ticket;

use std::io;
use std::ptr::NonNull;

pub use self::common::Common;
pub use self::member::Member;
pub(crate) use self::segment::APART;
use self::segment::Segment;
pub use self::ticket::RegionTicket;
use crate::portable::{IsPortable, Shareable};
use crate::sync::Arc;

/// Where the things lie that PEs share: in the memory of this process, or in memory that several
/// processes have mapped.
///
/// Shared memory consists of a part for payloads, a common part and a heap per process (E. Lynch,
/// G. Riley and S. Hampton, "Hardware supported time synchronization and zero-copy messages", the
/// heaps of §4). Every process maps all of it at the same address, so that an address stands for a
/// heap and an item in it, and means the same everywhere. It has no name, and is gone with the last
/// process. A process that goes on after the run keeps only payloads of it.
///
/// All processes place the same things in the common part, in the same order, so that each finds
/// them where the others do. The first process writes what is there at the beginning. So nobody may
/// use anything before the first process has placed it: the processes have to wait for each other
/// before they begin.
#[derive(Clone, Debug, Default)]
pub struct Region(Option<Arc<Segment>>);

impl Region {
    /// The memory of this process.
    pub fn own() -> Self {
        Region(None)
    }

    /// Memory that this process, the first, shares with as many others as are needed to make
    /// `processes`, and what they need to [join](Self::join).
    ///
    /// # Errors
    /// If the system has no files in memory, or refuses so much address space.
    pub fn create(processes: u32) -> io::Result<(Self, RegionTicket)> {
        let (segment, ticket) = Segment::create(processes)?;
        Ok((Region(Some(Arc::new(segment))), ticket))
    }

    /// The same memory in another process, which has this number.
    ///
    /// # Errors
    /// If the process that has created it is gone, or something else is at its address here.
    pub fn join(ticket: &RegionTicket, process: u32) -> io::Result<Self> {
        Ok(Region(Some(Arc::new(Segment::join(ticket, process)?))))
    }

    /// Whether other processes see what is in it.
    pub fn is_shared(&self) -> bool {
        self.0.is_some()
    }

    /// Whether this process writes what is in it at the beginning.
    pub fn is_first(&self) -> bool {
        self.0.as_ref().is_none_or(|segment| segment.process() == 0)
    }

    /// Places a value.
    ///
    /// # Panics
    /// If there is no room, it [unwinds](crate::Exhausted::unwind).
    pub fn place<T: Shareable + Send + Sync + 'static>(&self, value: T) -> Common<T> {
        let Some(segment) = &self.0 else { return Common::own(Box::new(value)) };
        // SAFETY: the place is large enough for a `T`, and aligned for it. It stays as long as the
        // segment. As all processes place the same things in the same order, it is of this type in
        // all, and the first process writes the value before any other uses it.
        unsafe {
            let place = segment.place(size_of::<T>(), align_of::<T>()).cast::<T>();
            if self.is_first() {
                place.write(value);
            }
            Common::placed(place, segment.clone())
        }
    }

    /// Places a list of values, each made from its index.
    ///
    /// # Panics
    /// Likewise.
    pub fn place_list<T: Shareable + Send + Sync + 'static>(
        &self,
        len: usize,
        mut value: impl FnMut(usize) -> T,
    ) -> Common<[T]> {
        let Some(segment) = &self.0 else { return Common::own((0..len).map(value).collect()) };
        // SAFETY: as above, for each value of the list.
        unsafe {
            let place = segment.place(len * size_of::<T>(), align_of::<T>()).cast::<T>();
            if self.is_first() {
                (0..len).for_each(|index| place.add(index).write(value(index)));
            }
            Common::placed(NonNull::slice_from_raw_parts(place, len), segment.clone())
        }
    }

    /// Places a list of cells without values: zeros, if the memory is shared, or else what `empty`
    /// makes.
    ///
    /// # Panics
    /// Likewise; and if the memory is shared, and there is no proof that values are portable.
    pub(crate) fn place_empty<C, T>(
        &self,
        len: usize,
        what: &'static str,
        proof: Option<IsPortable<T>>,
        empty: fn() -> C,
    ) -> Common<[C]>
    where
        C: Cell<T>,
    {
        let Some(segment) = &self.0 else {
            let mut cells = crate::list_for(len, what);
            cells.resize_with(len, empty);
            return Common::own(cells.into_boxed_slice());
        };
        assert!(proof.is_some(), "only portable values can lie in memory that processes share");
        let place = segment.place(len * size_of::<C>(), align_of::<C>()).cast::<C>();
        // SAFETY: as in `place_list`; an empty cell is valid whatever its bytes are, and its values
        // are portable.
        unsafe { Common::placed(NonNull::slice_from_raw_parts(place, len), segment.clone()) }
    }

    /// Leaves out a list of this many values, which other processes place here.
    ///
    /// # Panics
    /// As [`place`](Self::place).
    pub(crate) fn pass_over<T>(&self, len: usize) {
        if let Some(segment) = &self.0 {
            let _ = segment.place(len * size_of::<T>(), align_of::<T>());
        }
    }

    /// The segment, if it is shared.
    pub(crate) fn segment(&self) -> Option<&Arc<Segment>> {
        self.0.as_ref()
    }
}

/// A place that may be without a value.
///
/// # Safety
/// Any bytes are a valid cell.
pub(crate) unsafe trait Cell<T> {}
