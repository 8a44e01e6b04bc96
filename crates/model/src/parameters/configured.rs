use std::fmt;

use serde_json::{Map, Value};

use super::Parameters;
use super::configure::Configure;

/// Makes the model, each time anew.
type Make<M> = Box<dyn Fn() -> Result<M, String> + Send + Sync>;

/// A model with values for its parameters, from which it can be made as often as it is needed.
/// Programs that learn only at run time which model is wanted pass it on in this form.
///
/// ```
/// # use warpline_model::prelude::*;
/// # /// What a bakery needs.
/// # #[derive(Clone, Parameters)]
/// # pub struct BakeryParameters {
/// #     /// Number of ovens.
/// #     #[parameter(default = 2, range = 1..=100)]
/// #     pub ovens: u32,
/// # }
/// # struct Bakery { ovens: u32 }
/// # impl Configure for Bakery {
/// #     type Parameters = BakeryParameters;
/// #     const NAME: &'static str = "bakery";
/// #     const ABOUT: &'static str = "bread from several ovens";
/// #     const TIME_UNIT: &'static str = "min";
/// #     const DEFAULT_END: f64 = 480.0;
/// #     fn configure(parameters: &BakeryParameters) -> Result<Self, String> { Ok(Bakery { ovens: parameters.ovens }) }
/// # }
/// use warpline_model::Configured;
/// let bakery = Configured::<Bakery>::new(&BakeryParameters { ovens: 3 });
/// assert_eq!((bakery.name(), bakery.time_unit()), ("bakery", "min"));
/// assert_eq!(bakery.values()["ovens"], 3);
/// assert_eq!(bakery.make()?.ovens, 3);
/// let none = Configured::<Bakery>::new(&BakeryParameters { ovens: 0 });
/// assert_eq!(
///     none.make().err().unwrap(),
///     "model `bakery`: `ovens` cannot be 0: it must lie in [1, 100]"
/// );
/// # Ok::<(), String>(())
/// ```
pub struct Configured<M> {
    name: &'static str,
    about: &'static str,
    time_unit: &'static str,
    default_end: f64,
    values: Map<String, Value>,
    notes: Vec<(&'static str, String)>,
    make: Make<M>,
}

impl<M: Configure> Configured<M> {
    /// The model with these parameters.
    pub fn new(parameters: &M::Parameters) -> Self {
        // A model is asked for no remarks on what it refuses.
        let in_range = parameters.check().is_ok();
        let given = parameters.clone();
        let make = move || {
            given.check().map_err(|cause| format!("model `{}`: {cause}", M::NAME))?;
            M::configure(&given)
        };
        Configured {
            name: M::NAME,
            about: M::ABOUT,
            time_unit: M::TIME_UNIT,
            default_end: M::DEFAULT_END,
            values: parameters.values(),
            notes: if in_range { M::notes(parameters) } else { Vec::new() },
            make: Box::new(make),
        }
    }
}

impl<M> Configured<M> {
    /// The name on the command line.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One line on what is simulated.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// The unit of model time.
    pub fn time_unit(&self) -> &'static str {
        self.time_unit
    }

    /// The default end of a run, in model time.
    pub fn default_end(&self) -> f64 {
        self.default_end
    }

    /// All parameters with their values.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// What the model [remarks](Configure::notes) on its parameters.
    pub fn notes(&self) -> &[(&'static str, String)] {
        &self.notes
    }

    /// Makes the model.
    ///
    /// # Errors
    /// If a parameter is out of range, or no model can be made of the parameters.
    pub fn make(&self) -> Result<M, String> {
        (self.make)()
    }

    /// The same, made into a model of another type, such as one that stands for several.
    #[must_use]
    pub fn map<N>(self, into: fn(M) -> N) -> Configured<N>
    where
        M: 'static,
        N: 'static,
    {
        let Configured { name, about, time_unit, default_end, values, notes, make } = self;
        let make = Box::new(move || make().map(into));
        Configured { name, about, time_unit, default_end, values, notes, make }
    }
}

impl<M> fmt::Debug for Configured<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configured")
            .field("name", &self.name)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}
