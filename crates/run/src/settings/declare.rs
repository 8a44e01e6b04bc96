//! How a table of settings is written.

/// Declares a table of settings, and a struct of the values given, where `None` means not given. An
/// entry is its meaning, as a doc comment, then name, type, default if there is one, range, and the
/// fields of [`Facts`](crate::settings::Facts) that it has; see
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

            /// Reads and checks the text for one setting; `_` and `-` in its name are equivalent.
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

            /// Checks the values given in code against their ranges.
            ///
            /// # Errors
            /// At the first value outside its range.
            $vis fn check(&self) -> Result<(), $crate::settings::SettingError> {
                let mut table = Self::table().iter();
                $(if let (Some(setting), Some(value)) = (table.next(), &self.$field) {
                    setting.check::<$type>(value, &$range)?;
                })*
                Ok(())
            }

            /// The settings that were given, with their values as they would be typed.
            $vis fn given(&self) -> Vec<(&'static $crate::settings::Setting, String)> {
                let mut table = Self::table().iter();
                let mut given = Vec::new();
                $(if let (Some(setting), Some(value)) = (table.next(), &self.$field) {
                    given.push((setting, $crate::settings::SettingValue::text(value)));
                })*
                given
            }

            /// The settings for the record of a run, by their names there. A setting that was not
            /// given has its default; one without a default is left out.
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
