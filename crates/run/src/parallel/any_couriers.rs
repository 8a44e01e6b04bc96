//! Couriers of any events, for the threads that work for them.

use warpline_transport::{CourierCounts, Couriers, Service};

/// [`Couriers`] of any events; each function is that of the same name.
pub(crate) trait AnyCouriers: Send + Sync {
    fn len(&self) -> usize;
    fn service(&self) -> Service;
    fn work(&self, number: usize, hurries: bool) -> bool;
    fn work_for(&self, pe: usize);
    fn trouble(&self) -> Option<&str>;
    fn close(&self) -> Result<bool, String>;
    fn abandon(self: Box<Self>);
    fn counts(&self) -> CourierCounts;
}

impl<E: Send> AnyCouriers for Couriers<E> {
    fn len(&self) -> usize {
        Couriers::len(self)
    }

    fn service(&self) -> Service {
        Couriers::service(self)
    }

    fn work(&self, number: usize, hurries: bool) -> bool {
        Couriers::work(self, number, hurries)
    }

    fn work_for(&self, pe: usize) {
        Couriers::work_for(self, pe);
    }

    fn trouble(&self) -> Option<&str> {
        Couriers::trouble(self)
    }

    fn close(&self) -> Result<bool, String> {
        Couriers::close(self)
    }

    fn abandon(self: Box<Self>) {
        Couriers::abandon(*self);
    }

    fn counts(&self) -> CourierCounts {
        Couriers::counts(self)
    }
}
