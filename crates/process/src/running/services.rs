//! What the engine does for an LP of processes, by the context of its event.

use std::any::Any;

use warpline_base::LpId;
use warpline_base::random::Random;
use warpline_model::engine::{Limits, limits_of};
use warpline_model::record::Deed;
use warpline_model::{Context, HasEvent, Observe, Text, Timer};

use crate::event::ProcessEvent;
use crate::keys::WaitKey;
use crate::running::Services;

impl<M, T> Services for Context<M>
where
    M: HasEvent<Event = ProcessEvent<T>>,
    T: Send + 'static,
{
    #[inline]
    fn random(&mut self) -> &mut Random {
        Context::random(self)
    }

    #[inline]
    fn stream(&mut self, number: u8) -> &mut Random {
        Context::stream(self, number)
    }

    #[inline]
    fn send(&mut self, to: LpId, delay: f64, priority: i8, message: &mut dyn Any) {
        match message.downcast_mut::<Option<T>>().and_then(Option::take) {
            Some(message) => {
                let event = ProcessEvent::Message(message);
                self.send_with_priority(to, delay, priority, event);
            }
            None => self.fail("a process used the `Sim` of another model to send a message"),
        }
    }

    #[inline]
    fn send_wake_up(&mut self, delay: f64, wait: WaitKey) {
        Context::send(self, self.id(), delay, ProcessEvent::Wake(wait));
    }

    #[inline]
    fn set_alarm(&mut self, delay: f64, wait: WaitKey) -> Timer {
        Context::send_later(self, delay, ProcessEvent::Wake(wait))
    }

    #[inline]
    fn cancel_alarm(&mut self, alarm: Timer) {
        Context::cancel(self, alarm);
    }

    fn act_when_settled(&mut self, act: Box<dyn Fn() + Send + Sync>) {
        Observe::when_settled(self, act);
    }

    #[inline]
    fn may_tell(&self) -> u32 {
        Context::may_tell(self)
    }

    fn tell(&mut self, who: Text, deed: Deed, what: Text) {
        Context::tell(self, who, deed, what);
    }

    fn fail(&mut self, why: String) {
        Context::fail(self, why);
    }

    #[inline]
    fn limits(&self) -> &Limits {
        limits_of(self)
    }
}
