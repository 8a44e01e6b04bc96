//! The macros of Warpline's model API: the attribute `model`, and derives for parameters
//! (`Parameters`, `Choices`), events (`Portable`) and states (`Journaled`). Models get them from
//! `warpline::prelude`.

mod attributes;
mod choices;
mod journaled;
mod model;
mod parameters;
mod paths;
mod portable;
mod range;
mod shapes;

use proc_macro::TokenStream;

/// Marks the implementation of `Model`, and finds out the model's abilities: what a run may do with
/// it besides executing its events.
///
/// ```
/// use warpline_model::prelude::*;
///
/// #[derive(Clone, Debug, PartialEq, Eq, Portable)]
/// enum Order { Bread { loaves: u32 }, Cake }
///
/// # struct Bakery;
/// #[model]
/// impl Model for Bakery {
///     type State = u32;
///     type Event = Order;
///     // …
/// #   fn lps(&self) -> u32 { 1 }
/// #   fn init(&self, _: &mut Init<Self>) -> u32 { 0 }
/// #   fn handle(&self, _: &mut u32, _: &Order, _: &mut Context<Self>) {}
/// }
/// assert!(Bakery::ABILITIES.wire().is_some() && Bakery::ABILITIES.comparable().is_some());
/// ```
///
/// Most abilities follow from the types and methods of the model:
///
/// | ability | for | the model has it if |
/// |---|---|---|
/// | events leave their process as they lie in memory | `--processes`, MPI | its events are [`Portable`](macro@Portable) |
/// | events leave their process as serde writes them | the same | its events are not, but have serde's `Serialize` and `Deserialize` |
/// | events are compared with what was sent before | `--cancellation lazy`, `dynamic` | its events are `Eq` and `Clone` |
/// | reverse code undoes events | `--undo reverse` | it has `fn reverse` |
///
/// Processes of one machine share plain data, with its payloads, without a copy; between machines
/// it goes as bytes. What serde writes is always copied.
///
/// Two abilities are promises that the model makes by name: `#[model(compare, journal)]`.
///
/// - **`compare`**: equal events are interchangeable, down to the last bit that `handle` looks at.
///   The events must be `PartialEq` and `Clone`. A derived `PartialEq` is right unless an event may
///   carry the number -0.0, which equals 0.0. NaN never compares equal, so an event that carries it
///   is sent again.
/// - **`journal`**, for `--undo journal`: events change states only by `Context::change`, `Queue`
///   and `Level`. The state must derive [`Journaled`](macro@Journaled). Undo then costs as much as
///   an event changes, however large the state is. `warpline verify` finds events that break the
///   promise.
///
/// ```
/// # use warpline_model::{engine::*, prelude::*};
/// #[derive(Clone, Debug, Default, PartialEq, Journaled)]
/// struct Stock { left: [u32; 30], sold: u64, waiting: Queue<f64> }
///
/// # struct Shop;
/// #[model(journal)]
/// impl Model for Shop {
///     type State = Stock;
///     type Event = usize; // what is wanted
///
///     fn handle(&self, stock: &mut Stock, wanted: &usize, lp: &mut Context<Self>) {
///         let left = &mut stock.left[*wanted];
///         if *left == 0 {
///             return stock.waiting.push_back(lp.now(), lp);
///         }
///         *lp.change(left) -= 1;
///         *lp.change(&mut stock.sold) += 1;
///     }
///     // …
/// #   fn lps(&self) -> u32 { 1 }
/// #   fn init(&self, _: &mut Init<Self>) -> Stock { Stock::default() }
/// }
/// # let mut executor = Executor::new(&Shop, 1, 9, false);
/// # let mut stock = Stock { left: [1; 30], ..Stock::default() };
/// # for sold in [1, 1] {
/// #     let before = stock.clone();
/// #     executor.begin(LpId(0), 1, 2.0f64.try_into().unwrap(), 0);
/// #     executor.begin_log(&stock);
/// #     Shop.handle(&mut stock, &7, executor.lp());
/// #     assert_eq!((stock.sold, stock.left[7], stock.left[8]), (sold, 0, 1));
/// #     let after = stock.clone();
/// #     assert!(executor.undo_logged(&mut stock) && stock == before && after != before);
/// #     stock = after;
/// # }
/// # assert_eq!(stock.waiting.len(), 1);
/// ```
///
/// Of a `ProcessModel`, it finds out whether messages leave their process of the system.
///
/// Without `#[model]`, a model runs in one process, and the engine copies its states to undo
/// events.
#[proc_macro_attribute]
pub fn model(words: TokenStream, input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::ItemImpl);
    model::expand(words.into(), &input, &paths::api(), &paths::process_api())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a plain struct the parameters of a model. Each field is a parameter; help texts, checks
/// and scenario files all follow from it.
///
/// ```
/// use warpline_model::prelude::*;
///
/// /// What a bakery needs.
/// #[derive(Clone, Debug, PartialEq, Parameters)]
/// pub struct Bakery {
///     /// Mean time to bake a loaf.
///     #[parameter(unit = "min", default = 30.0, range = 1.0..=600.0)]
///     pub baking_time: f64,
///     /// Number of ovens.
///     #[parameter(default = 2, range = 1..=100)]
///     pub ovens: u32,
///     /// File of recipes; none if empty.
///     pub recipe_book: String,
/// }
///
/// let mut bakery = Bakery::default();
/// assert_eq!(bakery, Bakery { baking_time: 30.0, ovens: 2, recipe_book: String::new() });
/// bakery.set("baking-time", "45").unwrap();
/// assert_eq!(bakery.baking_time, 45.0);
/// assert_eq!(bakery.set("ovens", "0").unwrap_err().to_string(), "`ovens` cannot be 0: it must lie in [1, 100]");
/// assert!(bakery.set("oven", "3").unwrap_err().to_string().ends_with("did you mean `ovens`?"));
/// ```
///
/// Every field needs a doc comment that says what the parameter means. `#[parameter(…)]` may give
/// the rest:
///
/// | key | value | without it |
/// |---|---|---|
/// | `unit` | text, such as `"min"` | a pure number, or no number |
/// | `default` | an expression of the field's type | the type's `Default` |
/// | `range` | `low..=high`, or `low..` without an upper limit | any value of the type |
///
/// A field's type is `f64`, `u32`, `u64`, `bool`, `String`, or an enum with
/// [`Choices`](macro@Choices). On the command line and in scenario files, `baking_time` is typed
/// `baking-time`.
///
/// The macro also implements `Default`, with the defaults given here, so the struct must not derive
/// it. The struct must be `Clone`, `Send` and `Sync`. A model without parameters needs no struct:
/// its parameters are `()`.
///
/// A default must have the field's type,
/// ```compile_fail,E0308
/// # use warpline_model::prelude::*;
/// #[derive(Clone, Parameters)]
/// struct Bakery {
///     /// Number of ovens.
///     #[parameter(default = "two")] // error: mismatched types
///     ovens: u32,
/// }
/// ```
///
/// and so must its range:
/// ```compile_fail,E0308
/// # use warpline_model::prelude::*;
/// #[derive(Clone, Parameters)]
/// struct Bakery {
///     /// Mean time to bake a loaf.
///     #[parameter(default = 30.0, range = 1..)] // error: mismatched types; use a float literal: `1.0`
///     baking_time: f64,
/// }
/// ```
#[proc_macro_derive(Parameters, attributes(parameter))]
pub fn derive_parameters(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    parameters::expand(&input, &paths::api()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes an enum the type of a parameter. Its variants are the words that can be typed.
///
/// ```
/// use warpline_model::{ParameterValue, prelude::*};
///
/// /// How bread is cut.
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Choices)]
/// pub enum Cut {
///     /// Not at all.
///     #[default]
///     Whole,
///     /// In slices.
///     Sliced,
///     /// In slices as thin as they get.
///     #[choice(word = "paper-thin")]
///     Thinnest,
/// }
///
/// assert_eq!(Cut::parse("sliced"), Some(Cut::Sliced));
/// assert_eq!(Cut::Thinnest.text(), "paper-thin");
/// assert_eq!((Cut::choices()[0].word, Cut::choices()[0].meaning), ("whole", "Not at all."));
/// ```
///
/// A variant's word is its name in lower case, with `-` between words: `OnOff` is typed `on-off`.
/// `#[choice(word = "…")]` sets another word. Every variant needs a doc comment that says what it
/// means, and has no fields. The enum must be `Clone`. It must also have a `Default` (a derived one
/// needs a variant marked `#[default]`), unless every parameter of this type names its own default.
#[proc_macro_derive(Choices, attributes(choice))]
pub fn derive_choices(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    choices::expand(&input, &paths::api()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum plain data whose values can leave their process, as they lie in memory
/// or written as bytes. It may contain payloads.
///
/// ```
/// use warpline_model::prelude::*;
///
/// #[derive(Debug, Portable)]
/// enum Parcel {
///     Letter { weight: f64, stamps: [u8; 4] },
///     Freight(Payload, Option<LpId>),
///     Nothing,
/// }
///
/// let mut bytes = Vec::new();
/// Parcel::Letter { weight: 0.5, stamps: [1, 2, 3, 4] }.write(&mut bytes);
/// assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 0, 0xE0, 0x3F, 1, 2, 3, 4]);
/// assert!(matches!(Parcel::read(&mut &bytes[..]), Some(Parcel::Letter { stamps: [1, 2, 3, 4], .. })));
/// ```
///
/// All fields must be `Portable` themselves: numbers, arrays, tuples, options, payloads, LP ids,
/// and types that derive it. A type that holds an address, such as a `String`, is not portable:
/// ```compile_fail,E0277
/// # use warpline_model::prelude::*;
/// #[derive(Debug, Portable)]
/// struct Parcel {
///     name: String, // error: the trait bound `String: Portable` is not satisfied
/// }
/// ```
///
/// A generic type is portable where its type parameters are.
#[proc_macro_derive(Portable)]
pub fn derive_portable(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    portable::expand(&input, &paths::api()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or an enum a state, or a part of one, whose changes a journal can undo.
///
/// ```
/// use warpline_model::prelude::*;
///
/// #[derive(Clone, Debug, Default, PartialEq, Journaled)]
/// struct Till {
///     takings: f64,
///     served: [u32; 2],
///     waiting: Queue<f64>,
///     clerk: Clerk,
///     #[journal(fixed)] // no event changes it
///     name: String,
/// }
///
/// #[derive(Clone, Copy, Debug, Default, PartialEq, Journaled)]
/// #[journal(whole)] // events may change it as a whole
/// enum Clerk {
///     #[default]
///     Idle,
///     Busy { since: f64 },
/// }
/// ```
///
/// All fields must be `Journaled` themselves, except those marked `fixed`. A type marked `whole`,
/// and any enum without fields, can be changed as a whole and must be `Copy`. A generic type is
/// journaled where its type parameters are.
#[proc_macro_derive(Journaled, attributes(journal))]
pub fn derive_journaled(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    journaled::expand(&input, &paths::api()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// For the engine's types that processes share: a type may lie in shared memory if all its fields
/// may.
#[doc(hidden)]
#[proc_macro_derive(Shareable)]
pub fn derive_shareable(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    portable::expand_shareable(&input, &paths::api())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// For the engine's types that carry events. Generates a function `is_portable` that proves the
/// type portable, given a proof for its type parameter where no bound says so.
#[doc(hidden)]
#[proc_macro_derive(PortableWith)]
pub fn derive_portable_with(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    portable::expand_with(&input, &paths::api())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// What the tests of the macros share.
#[cfg(test)]
mod test_support {
    use proc_macro2::TokenStream;
    use syn::{DeriveInput, Error, Path};

    /// The errors of `expand` for `source`: what each says, and the text to which it points.
    pub(crate) fn errors(
        expand: fn(&DeriveInput, &Path) -> Result<TokenStream, Error>,
        source: &str,
    ) -> Vec<(String, String)> {
        let result =
            syn::parse_str(source).and_then(|input| expand(&input, &syn::parse_quote!(::warpline)));
        let pair =
            |error: Error| (error.to_string(), error.span().source_text().unwrap_or_default());
        result.err().into_iter().flatten().map(pair).collect()
    }

    /// Asserts that `source` has exactly the error that begins with `message` and points to
    /// `place`.
    pub(crate) fn assert_error(
        expand: fn(&DeriveInput, &Path) -> Result<TokenStream, Error>,
        source: &str,
        message: &str,
        place: &str,
    ) {
        let errors = errors(expand, source);
        let [(text, at)] = &errors[..] else {
            panic!("one error expected for {source}: {errors:?}")
        };
        assert_eq!((text.as_str(), at.as_str()), (message, place), "for {source}");
    }
}
