use super::*;

/// The circles of a crate with these files below `src`, each as `folder: part -> part`.
fn found(files: &[(&str, &str)]) -> Vec<String> {
    let sources = files.iter().map(|(path, text)| (path.into(), (*text).to_owned())).collect();
    let circles = circles_of_crate(&sources).expect("the sources are a crate");
    let text = |circle: &Circle| {
        let way: Vec<&str> = circle.way.iter().map(|step| step.from.as_str()).collect();
        format!("{}: {}", circle.folder.join("/"), way.join(" -> "))
    };
    circles.iter().map(text).collect()
}

const NONE: [&str; 0] = [];

/// The circles of two files if `a` has this text. `b` uses `a`, so there is one if `a` uses `b`.
fn found_if_a_has(text: &str) -> Vec<String> {
    found(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", &format!("pub struct A; {text}")),
        ("b.rs", "use crate::a::A; pub struct B; pub fn new() {}"),
    ])
}

#[test]
fn one_way_is_no_circle() {
    assert_eq!(found_if_a_has(""), NONE);
    assert_eq!(
        found(&[("lib.rs", "mod a; use a::A;"), ("a.rs", "make! { pub(crate) struct A; }")]),
        NONE
    );
    assert_eq!(found_if_a_has("// crate::b::B\nconst TEXT: &str = \"crate::b::B\";"), NONE);
}

#[test]
fn a_circle_is_found_however_it_is_closed() {
    let ways = [
        "use crate::b::B;",
        "use super::b;",
        "use crate::{b::B as Other};",
        "use super::b::*;",
        "fn f(_: crate::b::B) {}",
        "fn f() { use crate::b::B; }",
        "fn f() { super::b::new() }",
        "mod inner { use super::super::b::B; }",
        "mod inner { fn f() { crate::b::new() } }",
        "impl std::fmt::Display for A { type X = Vec<crate::b::B>; }",
        "#[serde(with = \"crate::b\")] struct C;",
        "#[derive(crate::b::B)] struct C;",
    ];
    for way in ways {
        assert_eq!(found_if_a_has(way), [": a -> b"], "{way}");
    }
}

#[test]
fn a_circle_through_a_macro_is_found() {
    let ways = [
        "fn f() { format!(\"{}\", crate::b::new()); }",
        "fn f() { assert!(matches!(x, crate::b::B { .. })); }",
        "fn f() -> Vec<u8> { vec![super::b::new(); 3] }",
        "our_own! { struct C { field: crate::b::B } }",
        "our_own! { use crate::{b::B}; }",
        "macro_rules! make { ($x:expr) => { $crate::b::new($x) }; }",
        "fn f() { println!(\"{}\", { let x = Some(crate::b::new()); x.is_some() }); }",
    ];
    for way in ways {
        assert_eq!(found_if_a_has(way), [": a -> b"], "{way}");
    }
    let fields = "fn f(&self, b: u8) { format!(\"{} {} {:?}\", self.b, b, b.new()); }";
    assert_eq!(found_if_a_has(fields), NONE);
}

#[test]
fn calling_a_macro_is_using_its_module() {
    let one = [("lib.rs", "#[macro_use] mod b; mod a;"), ("a.rs", "make!(); pub struct A;")];
    let by_name = ("b.rs", "macro_rules! make { () => {}; } use crate::a::A;");
    assert_eq!(found(&[one[0], one[1], by_name]), [": a -> b"]);
    let by_path = ("a.rs", "crate::make!(); pub struct A;");
    assert_eq!(found(&[one[0], by_path, by_name]), [": a -> b"]);
}

#[test]
fn a_circle_through_what_is_handed_on_is_found() {
    let b = ("b.rs", "use crate::a::A; pub struct B;");
    for root in [
        "mod a; mod b; pub use b::B;",
        "mod a; mod b; pub use crate::b::B;",
        "mod a; mod b; pub use b::*;",
        "mod a; mod b; use b::B;",
    ] {
        let circles = found(&[("lib.rs", root), ("a.rs", "use crate::B; pub struct A;"), b]);
        assert!(circles.contains(&": a -> b".to_owned()), "{root} {circles:?}");
    }
    let renamed = [
        ("lib.rs", "mod a; mod b; pub use b::B as Other;"),
        ("a.rs", "fn f(_: crate::Other) {} pub struct A;"),
        b,
    ];
    assert_eq!(found(&renamed), [": a -> b"]);
    let twice = [
        ("lib.rs", "mod a; mod b; mod c; pub use c::B;"),
        ("c.rs", "pub use crate::b::*;"),
        ("a.rs", "use super::B; struct A;"),
        b,
    ];
    assert_eq!(found(&twice), [": a -> b"]);
}

#[test]
fn a_facade_is_no_circle() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("a.rs", "use crate::B;"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(found(&files), NONE);
}

#[test]
fn a_folder_and_its_own_file_may_use_each_other_one_way_only() {
    let parent = ("p/mod.rs", "mod x; pub struct P; pub use x::X; fn f(_: X) {}");
    assert_eq!(found(&[("lib.rs", "mod p;"), parent, ("p/x.rs", "pub struct X;")]), NONE);
    assert_eq!(
        found(&[("lib.rs", "mod p;"), parent, ("p/x.rs", "pub struct X; use super::P;")]),
        ["p: mod -> x"]
    );
}

#[test]
fn a_circle_through_nested_folders_is_found() {
    let root = ("lib.rs", "mod p; mod q;");
    let p = ("p/mod.rs", "mod x; mod y;");
    let q = ("q.rs", "mod z;");
    // No file is in a circle, but the folders are.
    let files = [
        root,
        p,
        q,
        ("p/x.rs", "use crate::q::z::Z;"),
        ("p/y.rs", "pub struct Y;"),
        ("q/z.rs", "use crate::p::y::Y; pub struct Z;"),
    ];
    assert_eq!(found(&files), [": p -> q"]);
    let inside = [
        root,
        p,
        q,
        ("p/x.rs", "use super::y::Y; struct X;"),
        ("p/y.rs", "pub struct Y; fn f(_: super::x::X) {}"),
        ("q/z.rs", ""),
    ];
    assert_eq!(found(&inside), ["p: x -> y"]);
}

#[test]
fn all_circles_of_a_crate_are_found() {
    let files = [
        ("lib.rs", "mod a; mod b; mod c; mod d;"),
        ("a.rs", "use crate::b::B; pub struct A;"),
        ("b.rs", "use crate::a::A; use crate::c::C;"),
        ("c.rs", "use crate::d::D; pub struct C;"),
        ("d.rs", "use crate::c::C;"),
    ];
    assert_eq!(found(&files), [": a -> b", ": c -> d"]);
}

#[test]
fn tests_may_use_anything() {
    for text in [
        "#[cfg(test)] mod checks { use crate::b::B; }",
        "#[cfg(all(test, not(loom)))] use crate::b::B;",
    ] {
        assert_eq!(found_if_a_has(text), NONE, "{text}");
    }
    assert_eq!(found_if_a_has("#[cfg(not(test))] use crate::b::B;"), [": a -> b"]);
    let in_a_file = [
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "#[cfg(test)] mod checks;"),
        ("a/checks.rs", "use crate::b::B;"),
        ("b.rs", "use crate::a::A;"),
    ];
    assert_eq!(found(&in_a_file), NONE);
}

#[test]
fn a_file_that_no_module_declares_is_an_error() {
    let sources = [("lib.rs", "mod a;"), ("a.rs", ""), ("b.rs", "")]
        .map(|(path, text)| (path.into(), text.to_owned()));
    assert_eq!(circles_of_crate(&sources.into()).unwrap_err(), "no module of the crate is b.rs");
}

#[test]
fn a_library_and_a_program_of_one_crate_are_apart() {
    let files = [
        ("lib.rs", "mod a; pub struct L;"),
        ("main.rs", "mod m; fn main() { m::run() }"),
        ("a.rs", "use crate::L;"),
        ("m.rs", ""),
    ];
    assert_eq!(found(&files), NONE);
}
