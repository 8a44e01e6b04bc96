//! Files in memory that processes share, and where they are mapped.

use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

pub(crate) use self::system::{File, file, map_over, open, reserve, reserve_at, unmap};

/// Whether an address lies where segments are mapped, and nothing else is.
#[inline(always)]
pub(crate) fn is_in_any(address: usize) -> bool {
    system::ADDRESS_SPACE.contains(&address)
}

/// A word that is always 0, at the same address in all processes that share memory, and is never
/// unmapped; `None` if this process shares nothing.
#[inline]
pub(crate) fn zero() -> Option<NonNull<usize>> {
    NonNull::new(ZERO.load(Ordering::Acquire))
}

static ZERO: AtomicPtr<usize> = AtomicPtr::new(null_mut());

/// Maps the [word](zero), if it is not there yet.
pub(crate) fn map_zero() -> io::Result<()> {
    // Two threads must not map it at once.
    static ONCE: Mutex<()> = Mutex::new(());
    let _once = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    if zero().is_none() {
        ZERO.store(system::zeros()?.cast().as_ptr(), Ordering::Release);
    }
    Ok(())
}

#[cfg(all(target_os = "linux", not(miri)))]
mod system {
    use std::io;
    use std::ops::Range;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::ptr::{NonNull, null_mut};

    use rustix::fs::{FallocateFlags, MemfdFlags, fallocate, ftruncate, memfd_create};
    use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

    /// Where segments are mapped if possible: far from anything that the system maps of its own
    /// accord.
    const FIRST_ADDRESS: usize = 0x1000_0000_0000;
    const ADDRESSES_APART: usize = 0x0004_0000_0000;
    const ADDRESSES: usize = 4096;
    /// Nothing else is mapped here: the system uses addresses above, for programs and their
    /// libraries, and far below.
    pub(crate) const ADDRESS_SPACE: Range<usize> = FIRST_ADDRESS..0x5000_0000_0000;

    /// A file in memory.
    #[derive(Debug)]
    pub(crate) struct File(OwnedFd);

    impl File {
        /// Its number in this process, by which others [open](open) it.
        pub(crate) fn descriptor(&self) -> i32 {
            self.0.as_raw_fd()
        }

        /// Has the system provide these bytes; `None` if it cannot.
        pub(crate) fn allocate(&self, start: usize, bytes: usize) -> Option<()> {
            fallocate(&self.0, FallocateFlags::empty(), start as u64, bytes as u64).ok()
        }
    }

    pub(crate) fn file(bytes: usize) -> io::Result<File> {
        let file = memfd_create("warpline", MemfdFlags::CLOEXEC)?;
        ftruncate(&file, bytes as u64)?;
        Ok(File(file))
    }

    /// Opens the file that another process has under this number.
    pub(crate) fn open(process: u32, descriptor: i32) -> io::Result<File> {
        let path = format!("/proc/{process}/fd/{descriptor}");
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        Ok(File(file.into()))
    }

    pub(crate) fn reserve(bytes: usize) -> io::Result<NonNull<u8>> {
        let found = (0..ADDRESSES)
            .find_map(|number| reserve_at(FIRST_ADDRESS + number * ADDRESSES_APART, bytes).ok());
        found.ok_or_else(|| {
            io::Error::other(format!("no address space of {} GB is free", bytes / 1_000_000_000))
        })
    }

    pub(crate) fn reserve_at(address: usize, bytes: usize) -> io::Result<NonNull<u8>> {
        if !(ADDRESS_SPACE.contains(&address) && bytes <= ADDRESS_SPACE.end - address) {
            return Err(io::ErrorKind::AddrNotAvailable.into());
        }
        map_at(address, bytes, ProtFlags::empty())
    }

    /// A page of zeros, outside all segments.
    pub(crate) fn zeros() -> io::Result<NonNull<u8>> {
        map_at(FIRST_ADDRESS - (1 << 30), 4096, ProtFlags::READ)
    }

    fn map_at(address: usize, bytes: usize, protection: ProtFlags) -> io::Result<NonNull<u8>> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
        let wanted = null_mut::<u8>().with_addr(address).cast();
        // SAFETY: nothing that is mapped already is replaced.
        let start = unsafe { mmap_anonymous(wanted, bytes, protection, flags) }?;
        let start = NonNull::new(start.cast::<u8>()).ok_or(io::ErrorKind::AddrNotAvailable)?;
        if start.addr().get() == address {
            return Ok(start);
        }
        // An old system takes the address for a hint. SAFETY: it has just been mapped, and nobody
        // has seen it.
        unsafe { unmap(start, bytes) };
        Err(io::ErrorKind::AddrInUse.into())
    }

    /// Maps the beginning of a file.
    ///
    /// # Safety
    /// The bytes are reserved for it.
    pub(crate) unsafe fn map_over(start: NonNull<u8>, bytes: usize, file: &File) -> io::Result<()> {
        let flags = MapFlags::SHARED | MapFlags::NORESERVE | MapFlags::FIXED;
        // SAFETY: the caller's promise: nothing in use is mapped over.
        unsafe {
            mmap(
                start.as_ptr().cast(),
                bytes,
                ProtFlags::READ | ProtFlags::WRITE,
                flags,
                &file.0,
                0,
            )
        }?;
        Ok(())
    }

    /// Unmaps it.
    ///
    /// # Safety
    /// Nobody will use it any more.
    pub(crate) unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
        // SAFETY: the caller's promise.
        let _ = unsafe { munmap(start.as_ptr().cast(), bytes) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
mod system {
    use std::io;
    use std::ptr::NonNull;

    pub(crate) const ADDRESS_SPACE: std::ops::Range<usize> = 0..0;

    #[derive(Debug)]
    pub(crate) enum File {}

    impl File {
        pub(crate) fn descriptor(&self) -> i32 {
            match *self {}
        }

        pub(crate) fn allocate(&self, _: usize, _: usize) -> Option<()> {
            match *self {}
        }
    }

    fn unsupported<T>() -> io::Result<T> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "processes that share memory need Linux"))
    }

    pub(crate) fn file(_: usize) -> io::Result<File> {
        unsupported()
    }

    pub(crate) fn open(_: u32, _: i32) -> io::Result<File> {
        unsupported()
    }

    pub(crate) fn reserve(_: usize) -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(crate) fn reserve_at(_: usize, _: usize) -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(crate) fn zeros() -> io::Result<NonNull<u8>> {
        unsupported()
    }

    pub(crate) unsafe fn map_over(_: NonNull<u8>, _: usize, file: &File) -> io::Result<()> {
        match *file {}
    }

    pub(crate) unsafe fn unmap(_: NonNull<u8>, _: usize) {}
}
