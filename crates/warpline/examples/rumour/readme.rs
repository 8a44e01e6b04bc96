use warpline::prelude::*;

#[derive(Clone, Parameters)]
struct Rumour {
    /// How many people there are.
    #[parameter(default = 10_000, range = 1..)]
    people: u32,
}

const HEARD: Counter = Counter::slot(0);
const WHEN: Histogram = Histogram::slot(1);

impl Model for Rumour {
    type State = bool; // has this person heard it?
    type Event = ();
    fn lps(&self) -> u32 { self.people }
    fn declare(&self, declare: &mut Declarations) {
        declare.counter(HEARD, "heard", "people", "people who heard the rumour");
        declare.histogram(WHEN, "when", "h", "time at which they heard it");
    }
    fn init(&self, lp: &mut Init<Self>) -> bool {
        if lp.id() == LpId(0) { lp.send(0, 0.0, ()); }
        false
    }
    fn handle(&self, heard: &mut bool, _: &(), lp: &mut Context<Self>) {
        if std::mem::replace(heard, true) { return; }
        lp.count(HEARD, 1);
        lp.sample(WHEN, lp.now());
        for _ in 0..3 { let (to, delay) = (lp.random().below(self.people), lp.random().exponential(1.0)); lp.send(to, delay, ()); }
    }
}
impl Configure for Rumour {
    type Parameters = Self;
    const NAME: &'static str = "rumour";
    const ABOUT: &'static str = "a rumour: whoever hears it for the first time tells three others";
    const TIME_UNIT: &'static str = "h";
    const DEFAULT_END: f64 = 100.0;
    fn configure(rumour: &Self) -> Result<Self, String> { Ok(rumour.clone()) }
}
fn main() -> std::process::ExitCode { warpline::command::<Rumour>() }
