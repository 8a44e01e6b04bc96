//! What processes do, each act by its number. Each comes to a number that says how it ended.

use std::future::Future;
use std::pin::Pin;

use warpline::base::random::fold64;
use warpline::process::prelude::*;

use super::parameters::ProcessMistake;
use super::yard::{Message, Yard};

/// How many kinds of acts there are.
const KINDS: u32 = 20;

/// A process that acts while its energy lasts. Its type is hidden, as such processes start others.
pub(super) fn worker(yard: Yard, mut energy: u32) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        let mut sum = 0;
        while energy > 0 {
            energy -= 1;
            let act = yard.below(KINDS);
            let word = yard.act(act, &mut energy).await;
            yard.note(act, word);
            sum = fold64(sum, word);
        }
        sum
    })
}

/// The number that says how a wait ended.
fn word(waited: Result<u64, u64>) -> u64 {
    match waited {
        Ok(word) => fold64(word, 0),
        Err(why) => fold64(why, 1),
    }
}

impl Yard {
    /// Does something.
    pub(super) async fn act(&self, act: u32, energy: &mut u32) -> u64 {
        self.make_mistake().await;
        let sim = self.sim;
        match act {
            0..=2 => word(self.wait(sim.sleep(self.pause())).await.map(|()| 0)),
            3 => self.receive(energy).await,
            4 | 5 => self.hold_till().await,
            6 | 7 => self.hold_crew().await,
            8 => self.bring().await,
            9 => self.get().await,
            10 => self.draw_off().await,
            11 => word(self.wait(self.gate.wait()).await.map(|()| 0)),
            12 => self.move_gate(),
            13 | 14 => self.start_another(energy).await,
            15 => self.meddle(),
            16 => self.send(energy),
            17 => self.wait_for_several().await,
            18 => self.wait_for_others().await,
            _ => self.change_capacities(),
        }
    }

    /// A part of the energy.
    fn share(&self, energy: &mut u32) -> u32 {
        let share = self.below(*energy + 1);
        *energy -= share;
        share
    }

    async fn receive(&self, energy: &mut u32) -> u64 {
        let receive = if self.chance(0.5) {
            self.sim.receive()
        } else {
            self.sim.receive_matching(|message| message.word.is_multiple_of(2))
        };
        let waited = self.wait(receive).await.map(|message| {
            *energy += message.energy;
            message.word
        });
        word(waited)
    }

    fn send(&self, energy: &mut u32) -> u64 {
        let parameters = &self.parameters;
        let to = LpId(self.below(parameters.lps));
        let least = if to == self.sim.id() { 0.0 } else { parameters.lookahead };
        let delay = least + self.delay();
        let word = self.draw(|random| random.next_u64());
        let message = Message { word, energy: self.share(energy) };
        if parameters.priorities {
            let level = [-128, -1, 0, 0, 1, 127][self.below(6) as usize];
            self.sim.send_with_priority(to, delay, level, message);
        } else {
            self.sim.send(to, delay, message);
        }
        word
    }

    /// Holds the till for a while, or until it is taken away.
    async fn hold_till(&self) -> u64 {
        let priority = self.below(5) as i32 - 2;
        let request = match self.below(4) {
            0 => self.till.request(),
            1 => self.till.request_with_priority(priority),
            _ => self.till.request_preempting(priority),
        };
        match self.wait(request).await {
            Ok(held) => {
                let waited = word(self.wait(self.sim.sleep(self.pause())).await.map(|()| 0));
                fold64(waited, u64::from(held.is_preempted()))
            }
            Err(why) => word(Err(why)),
        }
    }

    /// Holds some of the crew for a while, or lets another process do so.
    async fn hold_crew(&self) -> u64 {
        if self.chance(0.2) {
            return u64::from(self.crew.try_request().is_some());
        }
        let amount = 1 + self.below(3);
        let request = self.crew.request_many(amount, self.below(3) as i32);
        let held = match self.wait(request).await {
            Ok(held) => held,
            Err(why) => return word(Err(why)),
        };
        if self.chance(0.7) {
            return word(self.wait(self.sim.sleep(self.pause())).await.map(|()| 0));
        }
        let yard = self.clone();
        let other = self.start(async move {
            held.take_over();
            let waited = word(yard.wait(yard.sim.sleep(yard.pause())).await.map(|()| 0));
            fold64(waited, u64::from(held.is_preempted()))
        });
        word(self.wait(self.sim.join(other)).await.map(|value| value.unwrap_or(9)))
    }

    async fn bring(&self) -> u64 {
        let item = u64::from(self.below(100));
        let store = if self.chance(0.5) { self.shelf } else { self.heap };
        if self.chance(0.3) {
            return u64::from(store.try_put(item).is_ok());
        }
        word(self.wait(store.put(item)).await.map(|()| item))
    }

    async fn get(&self) -> u64 {
        let store = if self.chance(0.5) { self.shelf } else { self.heap };
        match self.below(4) {
            0 => store.try_get().map_or(0, |item| item + 1),
            1 => word(self.wait(store.get_matching(|item| item.is_multiple_of(2))).await),
            _ => word(self.wait(store.get()).await),
        }
    }

    async fn draw_off(&self) -> u64 {
        let amount = f64::from(1 + self.below(2));
        let waited = match self.below(6) {
            0 => return u64::from(self.tank.try_get(amount)),
            1 => return u64::from(self.tank.try_put(amount)),
            2 | 3 => self.wait(self.tank.get(amount)).await,
            _ => self.wait(self.tank.put(amount)).await,
        };
        word(waited.map(|()| self.tank.level().to_bits()))
    }

    fn move_gate(&self) -> u64 {
        match self.below(4) {
            0 => self.gate.open(),
            1 => self.gate.close(),
            2 => self.gate.broadcast(),
            _ => return u64::from(self.gate.admit()),
        }
        self.gate.waiting() as u64
    }

    /// Starts a process, and perhaps waits for its end.
    async fn start_another(&self, energy: &mut u32) -> u64 {
        let child = self.start(worker(self.clone(), self.share(energy)));
        if self.chance(0.5) {
            return 0;
        }
        word(self.wait(self.sim.join(child)).await.map(|value| value.unwrap_or(9)))
    }

    /// Cancels or interrupts a process.
    fn meddle(&self) -> u64 {
        if self.chance(0.5) {
            self.somebody().map_or(2, |process| u64::from(self.sim.cancel(process)))
        } else {
            self.another().map_or(3, |process| u64::from(self.sim.interrupt(process, "meddling")))
        }
    }

    /// Waits for any, all or some of several things.
    async fn wait_for_several(&self) -> u64 {
        let sim = self.sim;
        let [first, second, third] = [0; 3].map(|_| self.pause());
        match self.below(5) {
            0 => {
                let waited = self.wait(any_of(self.shelf.get(), sim.sleep(first))).await;
                word(waited.map(|either| match either {
                    Either::First(item) => item,
                    Either::Second(()) => 1000,
                }))
            }
            1 => {
                let both = all_of(sim.timeout(first, self.till.request()), sim.sleep(second));
                word(self.wait(both).await.map(|(held, ())| u64::from(held.is_some())))
            }
            2 => {
                let sleeps = [first, second, third].map(|pause| sim.sleep(pause));
                let waited = self.wait(some_in(2, sleeps)).await;
                let place = |over: Vec<Option<()>>| over.iter().position(Option::is_none);
                word(waited.map(|over| place(over).map_or(3, |place| place as u64)))
            }
            3 => {
                let requests = [self.till, self.crew].map(|resource| resource.request());
                word(self.wait(any_in(requests)).await.map(|(place, _)| place as u64))
            }
            _ => {
                let got = [self.heap, self.heap].map(|store| store.get());
                let waited = self.wait(all_in(got)).await;
                word(waited.map(|items| items.into_iter().fold(0, fold64)))
            }
        }
    }

    /// Waits for what others do, or does what they wait for.
    async fn wait_for_others(&self) -> u64 {
        match self.below(4) {
            0 => {
                let yard = self.clone();
                let until = self.diary().acts + u64::from(self.below(6));
                let reached = self.sim.wait_until(move || yard.diary().acts >= until);
                word(self.wait(reached).await.map(|()| until))
            }
            1 => {
                let wait = self.signal.with(|signal| signal.wait());
                word(self.wait(wait).await)
            }
            2 => {
                let value = u64::from(self.below(10));
                let next = Signal::new(self.sim, "signal");
                u64::from(self.signal.set(next).try_trigger(value).is_ok())
            }
            _ => match self.another() {
                Some(process) => {
                    let ended = self.wait(self.sim.join(process)).await;
                    word(ended.map(|value| value.unwrap_or(9)))
                }
                None => 4,
            },
        }
    }

    fn change_capacities(&self) -> u64 {
        let capacity = self.below(self.parameters.capacity + 2);
        let resource = if self.chance(0.5) { self.till } else { self.crew };
        resource.set_capacity(capacity);
        fold64(u64::from(resource.in_use()), resource.waiting() as u64)
    }

    /// Makes the mistake that was asked for, if it is time.
    async fn make_mistake(&self) {
        let sim = self.sim;
        match self.mistake() {
            ProcessMistake::None => {}
            ProcessMistake::Panic => panic!("{} has had enough", sim.id()),
            ProcessMistake::Fail => sim.fail(format!("{} gives up", sim.id())),
            ProcessMistake::Nan => sim.sleep(f64::NAN).await,
            ProcessMistake::Negative => sim.sleep(-0.5).await,
            ProcessMistake::Stranger => {
                let parameters = &self.parameters;
                let nobody = LpId(parameters.lps);
                sim.send(nobody, parameters.lookahead, Message { word: 0, energy: 0 });
            }
            ProcessMistake::Loop => loop {
                sim.sleep(0.0).await;
            },
            ProcessMistake::Join => {
                let _ = sim.join(sim.this_process()).await;
            }
            ProcessMistake::Foreign => std::future::pending().await,
            ProcessMistake::Twice => {
                let signal = Signal::new(sim, "once");
                signal.trigger(1);
                signal.trigger(2);
            }
        }
    }
}
