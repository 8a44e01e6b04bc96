//! Trying an event out before it is executed: forward, undo, compare, forward, compare, undo.

use warpline_base::LpId;
use warpline_kernel::pending::PendingSet;
use warpline_kernel::{Attempt, Step};
use warpline_model::engine::Outgoing;
use warpline_model::statistics::Notes;
use warpline_model::{Context, Fault, Model};

use super::Engine;
use crate::{Mismatch, Place, Undo, VerifyError};

/// What one execution of an event did, apart from changing the state.
#[derive(Debug)]
#[allow(dead_code, reason = "it is compared by its Debug text")]
struct Effects<'a, E> {
    sends: &'a [Outgoing<E>],
    observations: &'a Notes,
    random_positions: Vec<(u8, u32)>,
}

/// A difference whose place is not known yet.
struct Difference {
    when: &'static str,
    field: String,
    expected: String,
    found: String,
}

impl<M: Model, Q: PendingSet> Engine<'_, M, Q> {
    /// Tries out the initialisation of all LPs: done twice, it must do the same.
    pub(super) fn verify_init(&mut self, undo: Undo) -> Result<(), VerifyError> {
        for id in (0..self.engine.context().limits().lps).map(LpId) {
            let tried = self.engine.try_model(|model, context| try_init(model, context, id));
            let tried = tried.map_err(|stop| self.error(stop, Place::Init(id)))?;
            tried.map_err(|difference| self.mismatch(Place::Init(id), undo, difference))?;
        }
        Ok(())
    }

    #[cold]
    fn mismatch(&self, place: Place, undo: Undo, difference: Difference) -> VerifyError {
        let Difference { when, field, expected, found } = difference;
        let (model, events) = (self.name.to_owned(), self.engine.committed());
        VerifyError::Mismatch(Box::new(Mismatch { model, undo, place, events, field, when, expected, found }))
    }

    /// Tries out the next event and then executes it.
    pub(super) fn verify_step(&mut self, undo: Undo) -> Result<Step, VerifyError> {
        let tried = self.engine.step_after(|attempt| try_out(attempt, undo));
        match tried.map_err(|stop| self.error(stop, self.current_place()))? {
            Some(Ok(())) => Ok(Step::Worked),
            Some(Err(difference)) => Err(self.mismatch(self.current_place(), undo, difference)),
            None => Ok(Step::Finished),
        }
    }
}

fn try_init<M: Model>(model: &M, context: &mut Context<M>, id: LpId) -> Result<(), Difference> {
    let state = context.init(model, id);
    let (first, sent) = (format!("{state:#?}"), effects(context));
    clear(context);
    let again = context.init(model, id);
    let repeated = effects(context);
    clear(context);
    differ("made a second time", "state", &first, &format!("{again:#?}"))?;
    differ("made a second time", "", &sent, &repeated)
}

fn try_out<M: Model>(attempt: Attempt<'_, M>, undo: Undo) -> Result<(), Difference> {
    clear(attempt.context);
    let mut trial = Trial { undo, attempt };
    let outcome = trial.run();
    clear(trial.attempt.context);
    outcome
}

/// One event on one LP.
struct Trial<'a, M: Model> {
    attempt: Attempt<'a, M>,
    undo: Undo,
}

impl<M: Model> Trial<'_, M> {
    fn run(&mut self) -> Result<(), Difference> {
        let before = format!("{:#?}", self.attempt.lp.state);
        let copy = self.attempt.lp.state.clone();
        self.forward();
        if self.attempt.context.take_fault().is_some() {
            // The event fails as it would in a run; executing it will report that. Of the ways to undo it, only a journal is the model's.
            let undone = if self.undo == Undo::Journal { self.backward(&copy) } else { Ok(()) };
            let compared = undone.and_then(|()| self.compare_undone(&before));
            self.attempt.lp.state = copy;
            return compared;
        }
        let (done, after) = (effects(self.attempt.context), format!("{:#?}", self.attempt.lp.state));
        self.backward(&copy)?;
        differ("after undoing it", "state", &before, &format!("{:#?}", self.attempt.lp.state))?;
        clear(self.attempt.context);
        self.forward();
        differ("executed a second time", "state", &after, &format!("{:#?}", self.attempt.lp.state))?;
        differ("executed a second time", "", &done, &effects(self.attempt.context))?;
        self.backward(&copy)?;
        differ("after undoing it twice", "state", &before, &format!("{:#?}", self.attempt.lp.state))
    }

    /// Compares the state of an event that failed, and was undone by a journal, with that before it.
    fn compare_undone(&self, before: &str) -> Result<(), Difference> {
        if self.undo != Undo::Journal {
            return Ok(());
        }
        differ("after undoing it", "state", before, &format!("{:#?}", self.attempt.lp.state))
    }

    fn forward(&mut self) {
        let Attempt { model, event, lp, context } = &mut self.attempt;
        context.begin(event.receiver, lp.events + 1, event.time, event.step);
        if self.undo == Undo::Journal {
            context.begin_log(&lp.state);
        }
        model.handle(&mut lp.state, &event.payload, context);
        context.end_log();
        context.copy_forwards(&event.payload);
    }

    fn backward(&mut self, copy: &M::State) -> Result<(), Difference> {
        match self.undo {
            Undo::Copy => {
                self.attempt.lp.state = copy.clone();
                Ok(())
            }
            Undo::Reverse => self.reverse(),
            Undo::Journal => self.undo_logged(),
        }
    }

    fn undo_logged(&mut self) -> Result<(), Difference> {
        let Attempt { lp, context, .. } = &mut self.attempt;
        if context.undo_logged(&mut lp.state) {
            return Ok(());
        }
        let (expected, found) = ("where the event changed it".to_owned(), "somewhere else".to_owned());
        Err(Difference { when: "after undoing it", field: "what the journal has to restore".into(), expected, found })
    }

    fn reverse(&mut self) -> Result<(), Difference> {
        let Attempt { model, event, lp, context } = &mut self.attempt;
        context.reverse(*model, &mut lp.state, &event.payload);
        let left = context.saved_mut().len();
        let found = match context.take_fault() {
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

/// Clears everything that a trial left in the context.
fn clear<M: Model>(context: &mut Context<M>) {
    context.forget();
}

/// Compares two texts formatted by `{:#?}`, and names the first field that differs.
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
    /// For each level of nesting: the label of the current line, and how many lines came before.
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
