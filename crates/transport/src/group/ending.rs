//! How the processes of a group end together, or without each other.

use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use super::{END_WITHIN, Group, LOOK_EVERY, MpiControlChannel};

impl Group {
    /// Lets the control channel send what it still has to, but not for long.
    pub(super) fn post(&mut self) {
        let since = Instant::now();
        while let Some(channel) = &mut self.channel
            && channel.work().is_ok()
            && !channel.is_done()
            && since.elapsed() < END_WITHIN
        {
            thread::sleep(LOOK_EVERY);
        }
    }

    /// Tells the others that this process has said everything, and may end at any time.
    pub fn take_leave(&mut self) {
        self.is_done = true;
        if !self.is_first() {
            // When the others have ended, the first can then tell which payloads are its own.
            self.region.unshare_payloads();
        }
        self.left[(self.number - self.near.start) as usize].store(1, Ordering::Release);
        self.channel.iter_mut().for_each(MpiControlChannel::take_leave);
    }

    /// Waits until the other processes have ended, and kills those that take too long. Where a
    /// launcher has started them, waits until all have [taken leave](Self::take_leave).
    pub fn end(&mut self) {
        if self.channel.is_some() {
            self.post();
        }
        if let Some(channel) = self.channel.take() {
            channel.finish();
        }
        self.see_off();
    }

    /// Waits until the processes that this one has started have ended. The payloads that it shared
    /// with them are then its own.
    fn see_off(&mut self) {
        self.peers.end(END_WITHIN);
        if self.is_first() {
            self.region.unshare_payloads();
        }
    }

    /// Ends without the others, as one of them is gone.
    pub fn abandon(&mut self) {
        self.channel.take().into_iter().for_each(MpiControlChannel::abandon);
    }

    /// Ends a run that somebody has ended early. A launcher that ends all processes may leave them
    /// too little time to wait for each other.
    pub fn end_early(&mut self) {
        self.post();
        if let Some(channel) = self.channel.take() {
            channel.abandon();
            if !self.is_first() {
                // The launcher ends all processes when one ends like that, and the first may still
                // be writing.
                self.peers.wait_for_first(END_WITHIN);
            }
        }
        self.see_off();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.is_first() {
            return;
        }
        if self.is_done {
            return self.end();
        }
        self.stop();
        self.exchange_counters(None);
        if let Some(mut channel) = self.channel.take() {
            let _ = channel.work();
            channel.abandon();
        }
        self.see_off();
    }
}
