//! The first field in which two values differ, by their `Debug` text.

/// A difference between two values, wherever in the model it is.
pub(super) struct Difference {
    pub(super) when: &'static str,
    pub(super) field: String,
    pub(super) expected: String,
    pub(super) found: String,
}

/// Compares two texts formatted by `{:#?}`, and names the first field that differs.
pub(super) fn differ(
    when: &'static str,
    root: &str,
    expected: &str,
    found: &str,
) -> Result<(), Difference> {
    differ_from(when, Path::new(root), expected, found)
}

/// The same for texts that go on where `path` has come to.
pub(super) fn differ_from(
    when: &'static str,
    mut path: Path,
    expected: &str,
    found: &str,
) -> Result<(), Difference> {
    let mut left = expected.lines();
    let mut right = found.lines();
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ok(()),
            (Some(a), Some(b)) if a == b => path.follow(a),
            (a, b) => {
                path.follow(a.or(b).unwrap_or_default());
                let [expected, found] =
                    [a, b].map(|line| line.map_or_else(|| "absent".into(), value));
                return Err(Difference { when, field: path.to_string(), expected, found });
            }
        }
    }
}

/// Follows the nesting of `{:#?}` output, which indents by four spaces.
pub(super) struct Path {
    root: String,
    /// For each level of nesting: the label of the current line, and how many lines came before.
    levels: Vec<(String, usize)>,
}

impl Path {
    pub(super) fn new(root: &str) -> Self {
        Path { root: root.into(), levels: Vec::new() }
    }

    pub(super) fn follow(&mut self, line: &str) {
        let text = line.trim_start();
        let depth = (line.len() - text.len()) / 4;
        if text.starts_with(['}', ']', ')']) {
            return;
        }
        self.levels.truncate(depth + 1);
        let index = self.levels.get(depth).map_or(0, |(_, count)| *count);
        let label = match text.split_once(": ") {
            Some((name, _)) if name.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                format!(".{name}")
            }
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
            Err(Difference { field, expected, found, .. }) => {
                format!("{field}: {expected} -> {found}")
            }
        }
    }

    #[test]
    fn the_first_difference_is_named() {
        let inner = State { name: "inner", queue: vec![(1, 1.0), (2, 2.5)], inner: None };
        let state = State { name: "outer", queue: vec![], inner: Some(Box::new(inner.clone())) };
        assert_eq!(field(&state, &state), "none");
        assert_eq!(
            field(&state, &State { name: "other", ..state.clone() }),
            "state.name: \"outer\" -> \"other\""
        );
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
