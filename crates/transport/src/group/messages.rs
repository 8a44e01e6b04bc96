//! Control messages between the first process and the others.

use std::thread;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::control_messages::Post;
use super::{Group, LOOK_EVERY, Lost, PATIENCE};

impl Group {
    /// Sends a control message: from the first process to all others, from another one to the
    /// first. It waits while there is no room for it.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn send(&mut self, message: &impl Serialize) -> Result<(), Lost> {
        let bytes = message_bytes(message);
        let mut others = if self.is_first() { 1..self.processes } else { 0..1 };
        others.try_for_each(|number| self.send_bytes(number, &bytes))
    }

    /// Sends a control message from the first process to one of the others. It waits while there is
    /// no room for it.
    ///
    /// # Errors
    /// If a process is gone.
    pub fn send_to(&mut self, number: u32, message: &impl Serialize) -> Result<(), Lost> {
        self.send_bytes(number, &message_bytes(message))
    }

    fn send_bytes(&mut self, number: u32, bytes: &[u8]) -> Result<(), Lost> {
        if self.by_channel {
            let Some(channel) = &mut self.channel else { return Ok(()) };
            channel.send_message(number, bytes);
            return self.check();
        }
        let mut post = Post::new(bytes);
        while !self.ends.send(number, &mut post) {
            self.check()?;
            thread::sleep(LOOK_EVERY);
        }
        Ok(())
    }

    /// The next control message that has arrived from a process, if there is one. Processes other
    /// than the first get control messages only from the first.
    ///
    /// # Panics
    /// If it is not of this type.
    pub fn next_message<T: DeserializeOwned>(&mut self, from: u32) -> Option<T> {
        let bytes = match &mut self.channel {
            Some(channel) if self.by_channel => channel.next_message(from)?,
            _ => self.ends.receive(from)?,
        };
        Some(postcard::from_bytes(&bytes).unwrap_or_else(|error| {
            panic!("a control message from process {from} cannot be read: {error}")
        }))
    }

    /// Waits for a control message from a process.
    ///
    /// # Errors
    /// If a process is gone, or this one does not answer within ten minutes.
    ///
    /// # Panics
    /// If it is not of this type.
    pub fn receive_from<T: DeserializeOwned>(&mut self, from: u32) -> Result<T, Lost> {
        let since = Instant::now();
        loop {
            if let Some(message) = self.next_message(from) {
                return Ok(message);
            }
            self.check()?;
            if since.elapsed() > PATIENCE {
                let why = format!("does not answer after {} s", PATIENCE.as_secs());
                return Err(Lost { number: from, of: self.processes, why });
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}

fn message_bytes(message: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(message)
        .unwrap_or_else(|error| panic!("a control message cannot be written: {error}"))
}
