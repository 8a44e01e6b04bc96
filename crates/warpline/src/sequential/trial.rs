//! Trying an event out before it is executed: forward, undo, compare, forward, compare, undo.

use warpline_base::LpId;
use warpline_kernel::Event;
use warpline_kernel::pending::{Entry, PendingSet};
use warpline_model::engine::Outgoing;
use warpline_model::statistics::Notes;
use warpline_model::{Context, Fault, Model};

use super::{Sequential, Step};
use crate::lp::Lp;
use crate::{Error, Mismatch, Place, Undo, VerifyError};

/// What one execution of an event did, apart from the state.
#[derive(Debug)]
#[allow(dead_code, reason = "it is compared by its Debug text")]
struct Effects<'a, E> {
    sends: &'a [Outgoing<E>],
    observations: &'a Notes,
    random_positions: Vec<(u8, u32)>,
}

/// A difference, before it is known where.
struct Difference {
    when: &'static str,
    field: String,
    expected: String,
    found: String,
}

impl<M: Model, Q: PendingSet> Sequential<'_, M, Q> {
    /// Tries out the making of all LPs: that making one twice does the same twice.
    pub(crate) fn verify_init(&mut self, undo: Undo) -> Result<(), VerifyError> {
        for id in (0..self.context.limits().lps).map(LpId) {
            let tried = self.guarded(|_| Place::Init(id), |engine| engine.try_init(id))?;
            tried.or_else(|difference| self.mismatch(Place::Init(id), undo, difference))?;
        }
        Ok(())
    }

    fn try_init(&mut self, id: LpId) -> Result<(), Difference> {
        let state = self.context.init(self.model, id);
        let (first, sent) = (format!("{state:#?}"), effects(&mut self.context));
        clear(&mut self.context);
        let again = self.context.init(self.model, id);
        let repeated = effects(&mut self.context);
        clear(&mut self.context);
        differ("made a second time", "state", &first, &format!("{again:#?}"))?;
        differ("made a second time", "", &sent, &repeated)
    }

    #[cold]
    fn mismatch(&self, place: Place, undo: Undo, difference: Difference) -> Result<(), VerifyError> {
        let Difference { when, field, expected, found } = difference;
        let (model, events) = (self.name.to_owned(), self.committed);
        Err(VerifyError::Mismatch(Box::new(Mismatch { model, undo, place, events, field, when, expected, found })))
    }

    /// Tries the next event out and then executes it.
    pub(crate) fn verify_step(&mut self, undo: Undo) -> Result<Step, VerifyError> {
        let Some(entry) = self.pending.pop_before(self.end, &super::Keys { events: &self.events, ties: &self.ties }) else {
            return Ok(Step::Finished);
        };
        (self.current, self.now) = (Some(entry.handle()), entry.time());
        let tried = self.guarded(Self::current_place, |engine| engine.try_out(entry, undo))?;
        tried.or_else(|difference| self.mismatch(self.current_place(), undo, difference))?;
        let executed: Result<_, Error> = self.guarded(Self::current_place, |engine| engine.execute(entry));
        executed?.or_else(|stop| self.explain(stop, Self::current_place)).map(|()| Step::Worked).map_err(VerifyError::Run)
    }

    fn try_out(&mut self, entry: Entry, undo: Undo) -> Result<(), Difference> {
        let event = self.events.get(entry.handle());
        let lp = &mut self.lps[event.receiver.index()];
        clear(&mut self.context);
        let outcome = Trial { model: self.model, context: &mut self.context, event, lp, undo }.run();
        clear(&mut self.context);
        outcome
    }
}

/// One event on one LP.
struct Trial<'a, M: Model> {
    model: &'a M,
    context: &'a mut Context<M>,
    event: &'a Event<M::Event>,
    lp: &'a mut Lp<M::State>,
    undo: Undo,
}

impl<M: Model> Trial<'_, M> {
    fn run(&mut self) -> Result<(), Difference> {
        let before = format!("{:#?}", self.lp.state);
        let copy = self.lp.state.clone();
        self.forward();
        if self.context.has_fault() {
            // The event fails as it would in a run; executing it will tell.
            self.lp.state = copy;
            return Ok(());
        }
        let (done, after) = (effects(self.context), format!("{:#?}", self.lp.state));
        self.backward(&copy)?;
        differ("after undoing it", "state", &before, &format!("{:#?}", self.lp.state))?;
        clear(self.context);
        self.forward();
        differ("executed a second time", "state", &after, &format!("{:#?}", self.lp.state))?;
        differ("executed a second time", "", &done, &effects(self.context))?;
        self.backward(&copy)?;
        differ("after undoing it twice", "state", &before, &format!("{:#?}", self.lp.state))
    }

    fn forward(&mut self) {
        self.context.begin(self.event.receiver, self.lp.events + 1, self.event.time, self.event.step);
        self.model.handle(&mut self.lp.state, &self.event.payload, self.context);
    }

    fn backward(&mut self, copy: &M::State) -> Result<(), Difference> {
        if self.undo == Undo::Copy {
            self.lp.state = copy.clone();
            return Ok(());
        }
        self.context.reverse(self.model, &mut self.lp.state, &self.event.payload);
        let left = self.context.saved_mut().len();
        let found = match self.context.take_fault() {
            Some(Fault::Failed(why)) => why,
            Some(fault) => fault.to_string(),
            None if left > 0 => format!("{left} more than reverse code restored"),
            None => return Ok(()),
        };
        let expected = "exactly those that the event saved".into();
        Err(Difference { when: "after undoing it", field: "saved values".into(), expected, found })
    }
}

/// What an execution did, as text.
fn effects<M: Model>(context: &mut Context<M>) -> String {
    let random_positions = context.streams().positions();
    let observations = context.notes_mut().clone();
    let sends = context.outbox_mut();
    format!("{:#?}", Effects { sends, observations: &observations, random_positions })
}

/// Leaves nothing of a trial behind.
fn clear<M: Model>(context: &mut Context<M>) {
    context.outbox_mut().clear();
    context.notes_mut().clear();
    context.saved_mut().clear();
    context.take_fault();
}

/// Compares two texts that `{:#?}` wrote, and names the first field that differs.
fn differ(when: &'static str, root: &str, expected: &str, found: &str) -> Result<(), Difference> {
    let mut path = Path::new(root);
    let (mut left, mut right) = (expected.lines(), found.lines());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) if a == b => path.follow(a),
            (a, b) => {
                path.follow(a.or(b).unwrap_or_default());
                let [expected, found] = [a, b].map(|line| line.map_or_else(|| "absent".into(), value));
                return Err(Difference { when, field: path.to_string(), expected, found });
            }
        }
    }
}

/// Follows the nesting of `{:#?}` output, which indents by four spaces.
struct Path {
    root: String,
    /// For each level of nesting: the label of the line at hand, and how many lines there were.
    levels: Vec<(String, usize)>,
}

impl Path {
    fn new(root: &str) -> Self {
        Path { root: root.into(), levels: Vec::new() }
    }

    fn follow(&mut self, line: &str) {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 4;
        if text.starts_with(['}', ']', ')']) {
            return;
        }
        self.levels.truncate(depth + 1);
        let index = self.levels.get(depth).map_or(0, |(_, count)| *count);
        let label = match text.split_once(": ") {
            Some((name, _)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => format!(".{name}"),
            _ => format!("[{index}]"),
        };
        self.levels.resize(depth, (String::new(), 0));
        self.levels.push((label, index + 1));
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let fields: String = self.levels.iter().skip(1).map(|(label, _)| label.as_str()).collect();
        let path = format!("{}{fields}", self.root);
        f.write_str(path.trim_start_matches('.'))
    }
}

/// The value in a line of `{:#?}` output.
fn value(line: &str) -> String {
    let text = line.trim().trim_end_matches(',');
    text.split_once(": ").map_or(text, |(_, value)| value).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Clone)]
    #[allow(dead_code, reason = "it is compared by its Debug text")]
    struct State {
        name: &'static str,
        queue: Vec<(u32, f64)>,
        inner: Option<Box<State>>,
    }

    fn field(a: &State, b: &State) -> String {
        match differ("now", "state", &format!("{a:#?}"), &format!("{b:#?}")) {
            Ok(()) => "none".into(),
            Err(Difference { field, expected, found, .. }) => format!("{field}: {expected} -> {found}"),
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let inner = State { name: "inner", queue: vec![(1, 1.0), (2, 2.5)], inner: None };
        let state = State { name: "outer", queue: vec![], inner: Some(Box::new(inner.clone())) };
        assert_eq!(field(&state, &state), "none");
        assert_eq!(field(&state, &State { name: "other", ..state.clone() }), "state.name: \"outer\" -> \"other\"");
        let changed = State { queue: vec![(1, 1.0), (2, 2.75)], ..inner.clone() };
        assert_eq!(field(&inner, &changed), "state.queue[1][1]: 2.5 -> 2.75");
        let deep = State { inner: Some(Box::new(changed)), ..state.clone() };
        assert_eq!(field(&state, &deep), "state.inner[0].queue[1][1]: 2.5 -> 2.75");
    }

    #[test]
    fn a_longer_list_differs_where_the_shorter_ends() {
        let longer = State { name: "", queue: vec![(1, 1.0)], inner: None };
        let shorter = State { queue: vec![], ..longer.clone() };
        assert_eq!(field(&shorter, &longer), "state.queue: [] -> [");
    }

    #[test]
    fn plain_states_have_a_path_too() {
        let difference = differ("now", "state", "5", "6").unwrap_err();
        assert_eq!((difference.field.as_str(), difference.expected.as_str()), ("state", "5"));
    }
}
