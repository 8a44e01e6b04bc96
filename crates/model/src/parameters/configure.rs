use super::Parameters;
use crate::Model;

/// A model that can be made from named parameters: what the command and scenario files need.
///
/// ```
/// use warpline_model::prelude::*;
///
/// /// What a bakery needs.
/// #[derive(Clone, Parameters)]
/// pub struct BakeryParameters {
///     /// Number of ovens.
///     #[parameter(default = 2, range = 1..=100)]
///     pub ovens: u32,
/// }
///
/// struct Bakery { ovens: u32 }
/// # impl Model for Bakery {
/// #     type State = (); type Event = ();
/// #     fn lps(&self) -> u32 { self.ovens }
/// #     fn init(&self, _: &mut Init<Self>) {}
/// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
/// # }
/// impl Configure for Bakery {
///     type Parameters = BakeryParameters;
///     const NAME: &'static str = "bakery";
///     const ABOUT: &'static str = "bread from several ovens";
///     const TIME_UNIT: &'static str = "min";
///     const DEFAULT_END: f64 = 480.0;
///     fn configure(parameters: &BakeryParameters) -> Result<Self, String> {
///         Ok(Bakery { ovens: parameters.ovens })
///     }
/// }
/// assert_eq!(Bakery::configure(&BakeryParameters::default())?.ovens, 2);
/// # Ok::<(), String>(())
/// ```
pub trait Configure: Model {
    /// Its parameters, made by [`#[derive(Parameters)]`](macro@crate::Parameters), or `()` if it
    /// has none.
    type Parameters: Parameters;

    /// The name on the command line.
    const NAME: &'static str;

    /// One line on what is simulated.
    const ABOUT: &'static str;

    /// The unit of model time, such as `s`; empty where time is a pure number.
    const TIME_UNIT: &'static str;

    /// The end of a run that names none, in model time.
    const DEFAULT_END: f64;

    /// Makes the model. The values lie in their ranges; what remains to check is whether they go
    /// together.
    ///
    /// # Errors
    /// A message for the user: which parameters do not go together, or which file is at fault, and
    /// what to do.
    fn configure(parameters: &Self::Parameters) -> Result<Self, String>;

    /// What to point out about these parameters: pairs of a parameter, as it is typed, and the rest
    /// of a sentence about it, for instance that it has no effect beside the others. The command
    /// shows those about parameters that were given. By default there are none.
    ///
    /// ```
    /// # use warpline_model::prelude::*;
    /// /// What a bakery needs.
    /// #[derive(Clone, Parameters)]
    /// pub struct BakeryParameters {
    ///     /// Number of ovens.
    ///     #[parameter(default = 2, range = 0..=100)]
    ///     pub ovens: u32,
    ///     /// Mean time to bake a loaf.
    ///     #[parameter(unit = "min", default = 30.0, range = 1.0..=600.0)]
    ///     pub baking_time: f64,
    /// }
    /// # struct Bakery;
    /// # impl Model for Bakery {
    /// #     type State = (); type Event = ();
    /// #     fn lps(&self) -> u32 { 1 }
    /// #     fn init(&self, _: &mut Init<Self>) {}
    /// #     fn handle(&self, _: &mut (), _: &(), _: &mut Context<Self>) {}
    /// # }
    /// # impl Configure for Bakery {
    /// #     type Parameters = BakeryParameters;
    /// #     const NAME: &'static str = "bakery";
    /// #     const ABOUT: &'static str = "bread from several ovens";
    /// #     const TIME_UNIT: &'static str = "min";
    /// #     const DEFAULT_END: f64 = 480.0;
    /// #     fn configure(parameters: &BakeryParameters) -> Result<Self, String> { Ok(Bakery) }
    /// fn notes(parameters: &BakeryParameters) -> Vec<(&'static str, String)> {
    ///     if parameters.ovens > 0 { return Vec::new() }
    ///     vec![("baking-time", "has no effect: there are no ovens".to_owned())]
    /// }
    /// # }
    /// // note: `baking-time` has no effect: there are no ovens
    /// # assert_eq!(Bakery::notes(&BakeryParameters { ovens: 0, ..Default::default() })[0].0, "baking-time");
    /// ```
    fn notes(parameters: &Self::Parameters) -> Vec<(&'static str, String)> {
        let _ = parameters;
        Vec::new()
    }

    /// Parameters under one name, for `--preset`. By default there are none.
    ///
    /// ```
    /// # use warpline_model::Preset;
    /// fn presets() -> &'static [Preset] {
    ///     &[Preset { name: "village", about: "one oven, brown bread", values: &[("ovens", "1"), ("baking-time", "45")] }]
    /// }
    /// # assert_eq!(presets()[0].values.len(), 2);
    /// ```
    fn presets() -> &'static [Preset] {
        &[]
    }
}

/// Several values under one name, such as the parameters of an experiment in the literature; see
/// [`Configure::presets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name, as it is typed.
    pub name: &'static str,
    /// One line on what it stands for, with its source.
    pub about: &'static str,
    /// Names and values, as they are typed.
    pub values: &'static [(&'static str, &'static str)],
}
