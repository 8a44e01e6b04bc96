//! Calls of MPI, as messages to users name them.

use std::fmt;
use std::panic::Location;

macro_rules! calls {
    ($($name:ident = $text:literal,)*) => {
        /// A function of MPI.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Name { $($name,)* }

        impl Name {
            const ALL: &[Name] = &[$(Name::$name,)*];

            /// As the standard calls it.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Name::$name => $text,)* }
            }
        }
    };
}

calls! {
    Init = "MPI_Init",
    Finalize = "MPI_Finalize",
    Compute = "a computation",
    Send = "MPI_Send",
    Ssend = "MPI_Ssend",
    Recv = "MPI_Recv",
    Isend = "MPI_Isend",
    Issend = "MPI_Issend",
    Irecv = "MPI_Irecv",
    SendInit = "MPI_Send_init",
    RecvInit = "MPI_Recv_init",
    Start = "MPI_Start",
    Sendrecv = "MPI_Sendrecv",
    Probe = "MPI_Probe",
    Iprobe = "MPI_Iprobe",
    Wait = "MPI_Wait",
    Waitall = "MPI_Waitall",
    Waitany = "MPI_Waitany",
    Waitsome = "MPI_Waitsome",
    Test = "MPI_Test",
    Testall = "MPI_Testall",
    Testany = "MPI_Testany",
    Testsome = "MPI_Testsome",
    Cancel = "MPI_Cancel",
    Barrier = "MPI_Barrier",
    Bcast = "MPI_Bcast",
    Reduce = "MPI_Reduce",
    Allreduce = "MPI_Allreduce",
    Gather = "MPI_Gather",
    Scatter = "MPI_Scatter",
    Allgather = "MPI_Allgather",
    Alltoall = "MPI_Alltoall",
    Scan = "MPI_Scan",
    Exscan = "MPI_Exscan",
    ReduceScatter = "MPI_Reduce_scatter_block",
    CommDup = "MPI_Comm_dup",
    CommSplit = "MPI_Comm_split",
    CommCreate = "MPI_Comm_create",
    CartCreate = "MPI_Cart_create",
    GraphCreate = "MPI_Graph_create",
}

impl Name {
    /// The call of this number.
    pub(crate) fn of(number: u8) -> Option<Self> {
        Self::ALL.get(number as usize).copied()
    }
}

/// A call of a rank, and where its program makes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Call {
    pub(crate) name: Name,
    pub(crate) at: &'static Location<'static>,
}

impl Call {
    #[track_caller]
    pub(crate) fn here(name: Name) -> Self {
        Call { name, at: Location::caller() }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{}", self.name.text(), self.at.file(), self.at.line())
    }
}
