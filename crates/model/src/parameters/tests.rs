//! What the derives make of structs and enums, inside this crate; the examples in the documentation
//! use them from outside.

use super::*;
use crate::prelude::*;

/// How bread is cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Choices)]
enum Cut {
    /// Not at all,
    /// as it comes.
    Whole,
    /// By hand.
    ByHand,
    /// By machine.
    #[default]
    #[choice(word = "cnc")]
    ByMachine2,
    /// As a rolled-up sheet.
    r#Type,
}

/// The default of `shelves` and the limit of `trays`.
const MOST: u32 = 3;

fn text() -> String {
    "sour".to_owned()
}

/// Every kind of parameter.
#[derive(Clone, Debug, PartialEq, Parameters)]
struct Bakery {
    /// Mean time
    /// to bake.
    ///
    /// Of a loaf.
    #[parameter(unit = "min", range = 1.0..=6e2, default = 30.0)]
    baking_time: f64,
    #[doc = "Number of shelves."]
    #[parameter(default = MOST)]
    shelves: u32,
    /** Number of trays. */
    #[parameter(default = MOST / 2)]
    #[parameter(range = 0..=MOST)]
    trays: u32,
    /// Loaves to bake.
    #[parameter(range = 0.., unit = "loaves")]
    loaves: u64,
    /// Whether it bakes on Sundays.
    sundays: bool,
    /// Its flour.
    #[parameter(default = "rye")]
    flour: String,
    /// Its dough.
    #[parameter(default = text())]
    r#dough: String,
    /// How bread is cut.
    cut: Cut,
    /// How bread for toast is cut.
    #[parameter(default = Cut::ByHand)]
    r#type: Cut,
}

#[test]
fn specs_say_what_was_declared() {
    let rows: Vec<[String; 5]> = Bakery::specs()
        .into_iter()
        .map(|spec| [spec.name, spec.unit.to_owned(), spec.default, spec.range, spec.meaning])
        .collect();
    let words = "one of whole, by-hand, cnc, type";
    let expected = [
        ["baking-time", "min", "30", "[1, 600]", "Mean time to bake. Of a loaf."],
        ["shelves", "", "3", "a whole number from 0 to 4294967295", "Number of shelves."],
        ["trays", "", "1", "[0, 3]", "Number of trays."],
        ["loaves", "loaves", "0", "[0, 18446744073709551615]", "Loaves to bake."],
        ["sundays", "", "false", "true or false", "Whether it bakes on Sundays."],
        ["flour", "", "rye", "text", "Its flour."],
        ["dough", "", "sour", "text", "Its dough."],
        ["cut", "", "cnc", words, "How bread is cut."],
        ["type", "", "by-hand", words, "How bread for toast is cut."],
    ];
    assert_eq!(rows, expected);
}

#[test]
fn choices_are_told_with_their_meanings() {
    let specs = Bakery::specs();
    let told: Vec<_> =
        specs[7].choices.iter().map(|choice| (choice.word, choice.meaning)).collect();
    let expected = [
        ("whole", "Not at all, as it comes."),
        ("by-hand", "By hand."),
        ("cnc", "By machine."),
        ("type", "As a rolled-up sheet."),
    ];
    assert_eq!(told, expected);
    assert_eq!(specs[0].choices, []);
    for Choice { word, .. } in Cut::choices() {
        assert_eq!(
            Cut::parse(word).map(|cut| (cut.text(), cut.json())),
            Some((word.to_string(), Value::from(*word)))
        );
    }
    assert_eq!((Cut::parse("by-machine2"), Cut::parse("Whole")), (None, None));
}

#[test]
fn every_parameter_is_set_by_its_own_name() {
    let mut bakery = Bakery::default();
    let given = [
        ("baking-time", "600"),
        ("shelves", "1e3"),
        ("trays", "0"),
        ("loaves", "18446744073709551615"),
        ("sundays", "true"),
        ("flour", ""),
        ("dough", "sweet"),
        ("cut", "type"),
        ("type", "whole"),
    ];
    for (name, text) in given {
        bakery.set(name, text).expect(name);
    }
    let expected = Bakery {
        baking_time: 600.0,
        shelves: 1000,
        trays: 0,
        loaves: u64::MAX,
        sundays: true,
        flour: String::new(),
        dough: "sweet".to_owned(),
        cut: Cut::r#Type,
        r#type: Cut::Whole,
    };
    assert_eq!((&bakery, bakery.check()), (&expected, Ok(())));
    let values = bakery.values();
    assert_eq!(values.keys().count(), given.len());
    assert_eq!(
        (&values["baking-time"], &values["loaves"], &values["cut"]),
        (&600.0.into(), &u64::MAX.into(), &"type".into())
    );
}

#[test]
fn what_is_refused_changes_nothing() {
    let mut bakery = Bakery::default();
    for (name, text, message) in [
        ("baking_time", "0.5", "`baking-time` cannot be 0.5: it must lie in [1, 600]"),
        ("baking-time", "nan", "`baking-time` cannot be `nan`: it takes a finite number"),
        ("trays", "4", "`trays` cannot be 4: it must lie in [0, 3]"),
        (
            "trays",
            "4294967296",
            "`trays` cannot be `4294967296`: it takes a whole number from 0 to 3",
        ),
        (
            "shelves",
            "4294967296",
            "`shelves` cannot be `4294967296`: it takes a whole number from 0 to 4294967295",
        ),
        (
            "loaves",
            "-1",
            "`loaves` cannot be `-1`: it takes a whole number from 0 to 18446744073709551615",
        ),
        (
            "type",
            "by-hnd",
            "`type` cannot be `by-hnd`: it takes one of whole, by-hand, cnc, type; did you mean \
             `by-hand`?",
        ),
        ("floor", "rye", "there is no parameter `floor`; did you mean `flour`?"),
    ] {
        assert_eq!(
            bakery.set(name, text).map_err(|error| error.to_string()),
            Err(message.to_owned())
        );
    }
    assert_eq!(bakery, Bakery::default());
}

#[test]
fn values_set_in_code_are_checked() {
    let message = |bakery: Bakery| bakery.check().map_err(|error| error.to_string());
    assert_eq!(message(Bakery::default()), Ok(()));
    let late = Bakery { trays: 9, ..Bakery::default() };
    assert_eq!(message(late), Err("`trays` cannot be 9: it must lie in [0, 3]".to_owned()));
    let endless = Bakery { baking_time: f64::INFINITY, ..Bakery::default() };
    assert_eq!(
        message(endless),
        Err("`baking-time` cannot be `inf`: it takes a finite number".to_owned())
    );
}

/// Derived code names nothing that its surroundings can hide.
#[allow(dead_code, reason = "only its derive is looked at")]
mod surroundings {
    use crate::{Choices, Parameters};

    struct String;
    struct Vec;
    struct Option;
    struct Result;
    struct Default;
    struct Map;
    struct Value;
    #[allow(non_camel_case_types)]
    struct str;

    /// What it needs.
    #[derive(Clone, Parameters)]
    pub(super) struct Hidden {
        /// Some text.
        #[parameter(default = "x")]
        pub(super) given: std::string::String,
        /// A word.
        #[parameter(default = Word::Some)]
        pub(super) text: Word,
    }

    /// Words that stand for other things too.
    #[derive(Clone, Debug, PartialEq, Choices)]
    pub(super) enum Word {
        /// As in `Option`.
        Some,
        /// As in `Result`.
        Ok,
    }
}

#[test]
fn surroundings_are_not_in_the_way() {
    let mut hidden = surroundings::Hidden::default();
    assert_eq!((hidden.given.as_str(), &hidden.text), ("x", &surroundings::Word::Some));
    hidden.set("text", "ok").expect("a word");
    assert_eq!(hidden.text, surroundings::Word::Ok);
}

/// A model without parameters.
struct Silence;

impl Model for Silence {
    type State = ();
    type Event = ();

    fn lps(&self) -> u32 {
        1
    }

    fn init(&self, _: &mut Init<Self>) {}

    fn handle(&self, (): &mut (), (): &(), _: &mut Context<Self>) {}
}

impl Configure for Silence {
    type Parameters = ();

    const NAME: &'static str = "silence";
    const ABOUT: &'static str = "nothing happens";
    const TIME_UNIT: &'static str = "";
    const DEFAULT_END: f64 = 1.0;

    fn configure((): &()) -> Result<Self, String> {
        Ok(Silence)
    }
}

/// What a program does with any model that it knows by its traits alone.
fn read<M: Model + Configure>(given: &[(&str, &str)]) -> Result<Map<String, Value>, String> {
    let mut parameters = M::Parameters::default();
    for (name, value) in given {
        parameters.set(name, value).map_err(|error| error.to_string())?;
    }
    parameters.check().map_err(|error| error.to_string())?;
    M::configure(&parameters).map(|_| parameters.values())
}

#[test]
fn a_model_may_have_no_parameters() {
    assert_eq!(<<Silence as Configure>::Parameters>::specs(), []);
    assert_eq!(read::<Silence>(&[]), Ok(Map::new()));
    assert_eq!(
        read::<Silence>(&[("lou_der", "5")]),
        Err("there is no parameter `lou-der`".to_owned())
    );
}
