//! How a table of settings is written.

/// Declares a table of settings, and a struct with what was given for each: `None` if nothing was. An entry is its meaning, as a doc comment,
/// then name, type, default unless there is none, range, and the fields of [`Facts`](crate::settings::Facts) that it has; see
/// [`settings`](mod@crate::settings) for an example.
#[doc(hidden)]
#[macro_export]
macro_rules! settings {
    ($(#[$about:meta])* $vis:vis struct $table:ident {
        $($(#[doc = $meaning:literal])+ $field:ident: $type:ty $(= $default:expr)?, $range:expr, { $($fact:ident: $value:expr),* $(,)? })*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        $vis struct $table {
            $($(#[doc = $meaning])+ $vis $field: Option<$type>,)*
        }

        #[allow(dead_code, reason = "a table may be used in part")]
        impl $table {
            $($(
                #[doc = concat!("What was given for `", stringify!($field), "`, or its default.")]
                $vis fn $field(&self) -> $type {
                    match &self.$field {
                        Some(value) => Clone::clone(value),
                        None => $default,
                    }
                }
            )?)*

            /// All settings.
            $vis fn table() -> &'static [$crate::settings::Setting] {
                use $crate::settings::{Facts, Setting, describe};
                static TABLE: std::sync::LazyLock<Vec<Setting>> = std::sync::LazyLock::new(|| vec![$({
                    #[allow(unused_mut, unused_assignments, reason = "some have no default")]
                    let mut default: Option<$type> = None;
                    $(default = Some($default);)?
                    let facts = Facts { $($fact: $value,)* ..Facts::default() };
                    describe::<$type>(stringify!($field), &[$($meaning),+], &$range, default, facts)
                }),*]);
                &TABLE
            }

            /// Reads and checks the text for one setting; `_` and `-` in its name are the same.
            ///
            /// # Errors
            /// If there is no such setting, or it cannot have this value.
            $vis fn set(&mut self, name: &str, text: &str) -> Result<(), $crate::settings::SettingError> {
                let setting = $crate::settings::find(Self::table(), name)?;
                $(if setting.key() == stringify!($field) {
                    self.$field = Some(setting.read::<$type>(text, &$range)?);
                })*
                Ok(())
            }

            /// Checks all that was given against its range, for what was given in code.
            ///
            /// # Errors
            /// At the first that lies outside.
            $vis fn check(&self) -> Result<(), $crate::settings::SettingError> {
                let mut table = Self::table().iter();
                $(if let (Some(setting), Some(value)) = (table.next(), &self.$field) {
                    setting.check::<$type>(value, &$range)?;
                })*
                Ok(())
            }

            /// What belongs into the record of a run, by the names that it has there. What was not given has its default; what has none
            /// is left out.
            $vis fn recorded(&self, parallel: bool) -> $crate::settings::Values {
                let values = [$({
                    #[allow(unused_mut, reason = "some have no default")]
                    let mut value: Option<$type> = Clone::clone(&self.$field);
                    $(value = value.or_else(|| Some($default));)?
                    value.as_ref().map($crate::settings::SettingValue::json)
                }),*];
                $crate::settings::recorded(Self::table(), values, parallel)
            }
        }
    };
}
