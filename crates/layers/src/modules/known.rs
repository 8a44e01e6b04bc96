//! The circles that are known. The list may only become shorter: a new circle is a breach, and so
//! is a listed one that is gone.

use std::collections::BTreeSet;

use super::circles::Circle;

/// A crate, a folder in it, and the parts of the folder that use each other in a circle.
pub(crate) type Known<'a> = (&'a str, &'a str, &'a str);

pub(crate) const KNOWN: &[Known] = &[];

/// The differences between the circles that were found and those that are known.
pub(crate) fn compare(found: &[(String, Circle)], known: &[Known]) -> Vec<String> {
    let listed = |name: &str, circle: &Circle| {
        (name.to_owned(), circle.folder.join("/"), circle.parts.clone())
    };
    let known: Vec<_> = known
        .iter()
        .map(|(name, folder, parts)| ((*name).to_owned(), (*folder).to_owned(), split(parts)))
        .collect();
    let found: Vec<_> = found.iter().map(|(name, circle)| (listed(name, circle), circle)).collect();
    let mut breaches = Vec::new();
    for (one, circle) in found.iter().filter(|(one, _)| !known.contains(one)) {
        let (name, folder, parts) = one;
        let is_rest = known
            .iter()
            .any(|(of, within, all)| of == name && within == folder && parts.is_subset(all));
        let what = if is_rest {
            "a known circle became smaller, so list what is left"
        } else {
            "parts use each other in a circle"
        };
        breaches.push(format!("{what}: ({name:?}, {folder:?}, {:?})\n  {circle}", join(parts)));
    }
    for (name, folder, parts) in
        known.iter().filter(|known| !found.iter().any(|(one, _)| one == *known))
    {
        breaches.push(format!(
            "a known circle is gone, so take it off the list: ({name:?}, {folder:?}, {:?})",
            join(parts)
        ));
    }
    breaches
}

fn split(parts: &str) -> BTreeSet<String> {
    parts.split(' ').map(str::to_owned).collect()
}

fn join(parts: &BTreeSet<String>) -> String {
    parts.iter().map(String::as_str).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(folder: &str, parts: &str) -> (String, Circle) {
        let folder = folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        (
            "kernel".into(),
            Circle { folder, parts: split(parts), way: Vec::new(), steps: Vec::new() },
        )
    }

    #[test]
    fn a_known_circle_passes_and_a_new_one_does_not() {
        let known = [("kernel", "pe", "a b")];
        assert_eq!(compare(&[circle("pe", "a b")], &known), [""; 0]);
        let wider = compare(&[circle("pe", "a b c")], &known);
        assert!(
            wider[0]
                .starts_with("parts use each other in a circle: (\"kernel\", \"pe\", \"a b c\")"),
            "{wider:?}"
        );
        assert_eq!(compare(&[circle("pe", "a b"), circle("", "a b")], &known).len(), 1);
    }

    #[test]
    fn a_circle_that_is_gone_or_smaller_leaves_the_list() {
        let known = [("kernel", "pe", "a b c")];
        let gone =
            "a known circle is gone, so take it off the list: (\"kernel\", \"pe\", \"a b c\")";
        assert_eq!(compare(&[], &known), [gone]);
        let smaller = compare(&[circle("pe", "a b")], &known);
        assert!(smaller[0].starts_with(
            "a known circle became smaller, so list what is left: (\"kernel\", \"pe\", \"a b\")"
        ));
        assert_eq!(smaller[1], gone);
    }
}
