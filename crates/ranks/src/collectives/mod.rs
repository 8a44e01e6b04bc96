//! Calls of all ranks of a communicator, by the algorithms that real libraries use.
//!
//! Each is made of messages between ranks, so what it costs follows from the network.

mod barrier;
mod steps;
