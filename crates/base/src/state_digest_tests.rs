use std::collections::{BTreeMap, HashMap};

use super::*;

fn of(state: &impl Debug) -> StateDigest {
    let mut digest = StateDigest::default();
    digest.add(LpId(7), state).unwrap();
    digest
}

fn content(text: &str) -> u64 {
    of(&format_args!("{text}")).content
}

/// Digests are the same on every platform and in every release, so that runs can be compared
/// across them.
#[test]
fn known_digests() {
    let digest = of(&(BTreeMap::from([(1, "one"), (2, "two")]), [0.5, -0.0], Some('x')));
    assert_eq!(
        (digest.text().as_str(), digest.content().as_str()),
        ("2aa8fc9806681ebb", "3b643420897afb7a")
    );
}

#[test]
fn pieces_do_not_count() {
    let whole = text_hash(&format_args!("{}", "a long text, in one piece"));
    let one = "a lo";
    let other = "ng text, in one piece";
    assert_eq!(text_hash(&format_args!("{one}{other}")), whole);
    assert_ne!(text_hash(&format_args!("{other}{one}")), whole);
    assert_ne!(text_hash(&format_args!("a")), text_hash(&format_args!("\0a")));
}

#[test]
fn every_difference_counts() {
    let all = [
        "",
        "0",
        "00",
        "-0",
        "0.0",
        "1",
        "[1, 2]",
        "[2, 1]",
        "[1, 2, 3]",
        "[12]",
        "(1, 2)",
        "{1, 2}",
        "{1: 2}",
        "{2: 1}",
        "[[1], 2]",
        "[[1, 2]]",
        "[]",
        "[[]]",
        "{}",
        "S { a: 1, b: 2 }",
        "S { a: 2, b: 1 }",
        "T { a: 1, b: 2 }",
        "\"a, b\"",
        "\"b, a\"",
        "0x",
        "0xz",
    ];
    for (index, one) in all.iter().enumerate() {
        for other in &all[index + 1..] {
            assert_ne!(
                of(&format_args!("{one}")).text,
                of(&format_args!("{other}")).text,
                "{one} and {other}"
            );
            assert_ne!(content(one), content(other), "{one} and {other}");
        }
    }
}

#[test]
fn order_within_braces_and_addresses_do_not_change_the_content() {
    let equal = [
        ("{1: [2, 3], 4: {5, 6}}", "{4: {6, 5}, 1: [2, 3]}"),
        ("[0x7ffd10, 1]", "[0x55ab9c, 1]"),
        ("{\"a, }\": 1, \"\\\"{\": 2}", "{\"\\\"{\": 2, \"a, }\": 1}"),
    ];
    for (one, other) in equal {
        assert_eq!(content(one), content(other), "{one}");
        assert_ne!(of(&format_args!("{one}")).text, of(&format_args!("{other}")).text, "{one}");
    }
    assert_ne!(content("{1: [2, 3]}"), content("{1: [3, 2]}"));
    assert_ne!(content("{1: 2, 3: 4}"), content("{1: 4, 3: 2}"));
}

#[test]
fn hash_maps_of_equal_entries_have_equal_content() {
    let map = |keys: &mut dyn Iterator<Item = u32>| {
        keys.map(|key| (key, format!("value {key}"))).collect::<HashMap<_, _>>()
    };
    assert_eq!(of(&map(&mut (0..100))).content, of(&map(&mut (0..100).rev())).content);
    assert_ne!(of(&map(&mut (0..100))).content, of(&map(&mut (1..101))).content);
}

#[test]
fn pretty_text_has_the_content_of_the_short_one() {
    let state = (vec![(1, Some("a")), (2, None)], "end");
    assert_eq!(content(&format!("{state:?}")), content(&format!("{state:#?}")));
}

#[test]
fn text_with_a_stray_closing_bracket_is_read_to_its_end() {
    assert_ne!(content("a) b } c"), content("a) b } d"));
    assert_ne!(content("((a"), content("((b"));
}

#[test]
fn parts_of_a_run_merge_to_the_whole() {
    let mut whole = StateDigest::default();
    let mut first = StateDigest::default();
    let mut second = StateDigest::default();
    [(3, "c"), (0, "a"), (1, "b")]
        .iter()
        .for_each(|(lp, state)| whole.add(LpId(*lp), state).unwrap());
    second.add(LpId(3), &"c").unwrap();
    [(0, "a"), (1, "b")].iter().for_each(|(lp, state)| first.add(LpId(*lp), state).unwrap());
    second.merge(first);
    assert_eq!(whole, second);
    let mut swapped = StateDigest::default();
    [(3, "c"), (1, "a"), (0, "b")]
        .iter()
        .for_each(|(lp, state)| swapped.add(LpId(*lp), state).unwrap());
    assert_ne!(whole.text, swapped.text);
}
