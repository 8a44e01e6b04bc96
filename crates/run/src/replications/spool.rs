//! Keeps finished runs until the last has ended: in memory as long as they are small, then in a
//! file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many bytes stay in memory before they are written.
const IN_MEMORY: usize = 1 << 20;

/// Bytes that are kept until the spool is dropped.
#[derive(Debug, Default)]
pub(super) struct Spool(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// A temporary file without a name, which ends with the program.
    file: Option<File>,
    /// How many bytes the file has.
    written: u64,
    /// The bytes that follow those in the file.
    rest: Vec<u8>,
}

/// Where some bytes are in a spool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: u64,
    pub(super) len: u64,
}

impl Spool {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps these bytes.
    ///
    /// # Errors
    /// If the file cannot be made or written.
    pub(super) fn keep(&self, bytes: &[u8]) -> io::Result<Place> {
        let mut state = self.lock();
        let place =
            Place { start: state.written + state.rest.len() as u64, len: bytes.len() as u64 };
        state.rest.extend_from_slice(bytes);
        if state.rest.len() >= IN_MEMORY {
            state.write_rest()?;
        }
        Ok(place)
    }

    /// The bytes at a place.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) fn read(&self, Place { start, len }: Place) -> io::Result<Vec<u8>> {
        let mut state = self.lock();
        if let Some(begin) = start.checked_sub(state.written) {
            return Ok(state.rest[begin as usize..(begin + len) as usize].to_vec());
        }
        let mut bytes = vec![0; len as usize];
        let file = state.file.as_mut().ok_or(io::ErrorKind::NotFound)?;
        file.seek(SeekFrom::Start(start))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl State {
    fn write_rest(&mut self) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            none => none.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.written))?;
        file.write_all(&self.rest)?;
        self.written += self.rest.len() as u64;
        self.rest.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "writes a file")]
    fn what_is_kept_can_be_read_wherever_it_is() {
        let spool = Spool::default();
        let bytes = |number: usize| vec![number as u8; 1000 * number];
        let places: Vec<Place> =
            (0..100).map(|number| spool.keep(&bytes(number)).unwrap()).collect();
        let state = spool.lock();
        assert!(
            state.written > 4_000_000
                && state.rest.len() < IN_MEMORY
                && state.rest.capacity() < 3 * IN_MEMORY
        );
        drop(state);
        for (number, place) in places.into_iter().enumerate().rev() {
            assert_eq!(spool.read(place).unwrap(), bytes(number));
        }
    }
}
