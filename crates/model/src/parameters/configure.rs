use super::Parameters;

/// A model that can be made from named parameters, for the command line and scenario files.
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
pub trait Configure: Sized + Send + Sync + 'static {
    /// Its parameters, made by [`#[derive(Parameters)]`](macro@crate::Parameters), or `()` if it
    /// has none.
    type Parameters: Parameters;

    /// The name on the command line.
    const NAME: &'static str;

    /// One line on what is simulated.
    const ABOUT: &'static str;

    /// The unit of model time, such as `s`; empty where time is a pure number.
    const TIME_UNIT: &'static str;

    /// The default end of a run, in model time.
    const DEFAULT_END: f64;

    /// Makes the model. Each value lies in its range. Check here whether the values fit together.
    ///
    /// # Errors
    /// A message for the user: which parameters do not fit together, or which file is wrong, and
    /// what to do.
    fn configure(parameters: &Self::Parameters) -> Result<Self, String>;

    /// Remarks on these parameters: pairs of a parameter name, as typed, and the rest of a sentence
    /// about it, for instance that it has no effect together with the others. The command shows the
    /// remarks on parameters that were given. Default: none.
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

    /// Named sets of parameters, for `--preset`. Default: none.
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

/// A named set of values, such as the parameters of an experiment in the literature; see
/// [`Configure::presets`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name, as it is typed.
    pub name: &'static str,
    /// One line on its meaning, with its source.
    pub about: &'static str,
    /// Names and values, as they are typed.
    pub values: &'static [(&'static str, &'static str)],
}
