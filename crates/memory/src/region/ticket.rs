use std::io;
use std::str::FromStr;

/// What another process needs to know to map a [region](crate::Region).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionTicket {
    /// The process that has the files.
    owner: u32,
    /// The numbers that the files have there: the area for payloads, the common part, the heaps.
    files: Vec<i32>,
    /// The address at which all processes map them.
    address: usize,
}

impl RegionTicket {
    pub(super) fn new(owner: u32, files: Vec<i32>, address: usize) -> Self {
        RegionTicket { owner, files, address }
    }

    pub(super) fn files(&self) -> &[i32] {
        &self.files
    }

    pub(super) fn address(&self) -> usize {
        self.address
    }

    /// The process that has created the region.
    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// How many processes can share it.
    pub fn processes(&self) -> u32 {
        self.files.len() as u32 - 2
    }
}

impl std::fmt::Display for RegionTicket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{:x}", self.owner, self.address)?;
        self.files.iter().try_for_each(|file| write!(f, ":{file}"))
    }
}

impl FromStr for RegionTicket {
    type Err = io::Error;

    fn from_str(text: &str) -> io::Result<Self> {
        let parse = || {
            let mut parts = text.split(':');
            let owner = parts.next()?.parse().ok()?;
            let address = usize::from_str_radix(parts.next()?, 16).ok()?;
            let files = parts.map(|part| part.parse().ok()).collect::<Option<Vec<i32>>>()?;
            (files.len() > 2).then_some(RegionTicket { owner, files, address })
        };
        parse().ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("`{text}` describes no shared memory"),
            )
        })
    }
}
