//! `#[derive(Parameters)]`.

use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, Ident, Lit, LitStr, Path, Type};

use crate::attributes::{Errors, check_generics, doc, read_once, ungrouped};
use crate::range::Range;

/// A field, as declared.
struct Parameter {
    field: Ident,
    /// Its name on the command line.
    name: String,
    of: Type,
    meaning: String,
    unit: String,
    default: TokenStream,
    range: TokenStream,
}

/// The implementations of `Parameters` and `Default`, or all errors at once.
pub(crate) fn expand(input: &DeriveInput, api: &Path) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut errors = Errors::default();
    errors.keep(check_generics(
        &input.generics,
        ident,
        "parameters are a plain struct, whose type says all",
    ));
    let fields = named_fields(input)?;
    let parameters: Vec<Parameter> =
        fields.into_iter().filter_map(|field| errors.keep(parameter(field))).collect();
    errors.or(implementations(ident, &parameters, api))
}

fn named_fields(input: &DeriveInput) -> syn::Result<Vec<&Field>> {
    let ident = &input.ident;
    let problem = match &input.data {
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if !fields.named.is_empty() => {
                return Ok(fields.named.iter().collect());
            }
            Fields::Unnamed(_) => "its fields need names: a parameter has that of its field",
            _ => "it has no fields; a model without parameters has `type Parameters = ()`",
        },
        Data::Enum(_) => "it is an enum; for the values of one parameter, derive `Choices`",
        Data::Union(_) => "it is a union; use a struct",
    };
    Err(Error::new_spanned(
        ident,
        format!("`{ident}` cannot be the parameters of a model: {problem}"),
    ))
}

fn parameter(declared: &Field) -> syn::Result<Parameter> {
    let field = declared.ident.clone().expect("only fields with names come here");
    let name = field.unraw().to_string().replace('_', "-");
    let mut errors = Errors::default();
    if name.starts_with('-') {
        errors.add(Error::new_spanned(
            &field,
            format!("nobody can type the name of `{field}`: let it begin with a letter"),
        ));
    }
    let meaning = doc(&declared.attrs).unwrap_or_else(|| {
        let advice = format!(
            "say what `{field}` means in a doc comment, such as `/// Number of \
                              ovens.`: help texts show it"
        );
        errors.add(Error::new_spanned(&field, advice));
        String::new()
    });
    let mut unit = None::<LitStr>;
    let mut default = None::<Expr>;
    let mut range = None::<Range>;
    for attribute in
        declared.attrs.iter().filter(|attribute| attribute.path().is_ident("parameter"))
    {
        errors.keep(attribute.parse_nested_meta(|meta| {
            match meta.path.get_ident().map(Ident::to_string).as_deref() {
                Some("unit") => read_once(&meta, &mut unit),
                Some("default") => read_once(&meta, &mut default),
                Some("range") => read_once(&meta, &mut range),
                _ => {
                    Err(meta
                        .error("a parameter has `unit`, `default` and `range`, and no other keys"))
                }
            }
        }));
    }
    if let Some(range) = &range {
        errors.keep(range.check_default(default.as_ref()));
    }
    errors.or(TokenStream::new())?;
    let of = declared.ty.clone();
    let default = default_tokens(default.as_ref(), &of);
    let range = range.map_or_else(|| quote!(::core::ops::RangeFull), |range| range.tokens(&of));
    let unit = unit.map(|unit| unit.value()).unwrap_or_default();
    Ok(Parameter { field, name, of, meaning, unit, default, range })
}

fn default_tokens(default: Option<&Expr>, of: &Type) -> TokenStream {
    match default {
        None => quote!(<#of as ::core::default::Default>::default()),
        Some(default) => match ungrouped(default) {
            // A string literal becomes a `String`. For any other type, the compiler reports the
            // mismatch.
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if is_string(of) => {
                quote!(<#of as ::core::convert::From<&::core::primitive::str>>::from(#text))
            }
            _ => quote!(#default),
        },
    }
}

fn is_string(of: &Type) -> bool {
    matches!(of, Type::Path(of) if of.path.segments.last().is_some_and(|last| last.ident == "String"))
}

fn implementations(ident: &Ident, parameters: &[Parameter], api: &Path) -> TokenStream {
    // These names are hygienic, so that they do not shadow what a default or a range refers to.
    let [given, text, defaults] =
        ["given", "text", "defaults"].map(|name| Ident::new(name, Span::mixed_site()));
    let [mut initial, mut specs, mut set, mut check, mut values] = [const { Vec::new() }; 5];
    for Parameter { field, name, of, meaning, unit, default, range } in parameters {
        initial.push(quote!(#field: #default));
        specs.push(quote!(#api::parameter_support::spec::<#of>(#name, #unit, &#defaults.#field, &#range, #meaning)));
        set.push(quote! {
            #name => {
                self.#field = #api::parameter_support::parse::<#of>(#name, #text, &#range)?;
                ::core::result::Result::Ok(())
            }
        });
        check.push(quote!(#api::parameter_support::check::<#of>(#name, &self.#field, &#range)?;));
        values.push(quote!((#name, #api::ParameterValue::json(&self.#field))));
    }
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #ident {
            fn default() -> Self {
                Self { #(#initial,)* }
            }
        }

        #[automatically_derived]
        impl #api::Parameters for #ident {
            fn specs() -> ::std::vec::Vec<#api::ParameterSpec> {
                let #defaults = <Self as ::core::default::Default>::default();
                ::std::vec::Vec::from([#(#specs,)*])
            }

            fn set(
                &mut self,
                #given: &::core::primitive::str,
                #text: &::core::primitive::str,
            ) -> ::core::result::Result<(), #api::ParameterError> {
                match #api::parameter_support::typed(#given).as_str() {
                    #(#set)*
                    _ => ::core::result::Result::Err(#api::parameter_support::unknown::<Self>(#given)),
                }
            }

            fn check(&self) -> ::core::result::Result<(), #api::ParameterError> {
                #(#check)*
                ::core::result::Result::Ok(())
            }

            fn values(&self) -> #api::serde_json::Map<::std::string::String, #api::serde_json::Value> {
                #api::parameter_support::values([#(#values,)*])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support;

    /// Asserts what is wrong with one field, and to which part of it the error points.
    fn assert_error(field: &str, message: &str, place: &str) {
        test_support::assert_error(expand, &format!("struct Bakery {{ {field} }}"), message, place);
    }

    #[test]
    fn a_field_says_what_it_means() {
        let advice = "say what `ovens` means in a doc comment, such as `/// Number of ovens.`: \
                      help texts show it";
        for none in ["", "/// \n", "#[doc(hidden)]", "#[parameter(default = 2)]"] {
            assert_error(&format!("{none} ovens: u32"), advice, "ovens");
        }
    }

    #[test]
    fn there_are_three_keys_each_given_once() {
        let keys = "a parameter has `unit`, `default` and `range`, and no other keys";
        assert_error("/// Ovens.\n#[parameter(units = \"min\")] ovens: u32", keys, "units");
        assert_error(
            "/// Ovens.\n#[parameter(default = 2, a::unit = 3)] ovens: u32",
            keys,
            "a::unit",
        );
        assert_error(
            "/// Ovens.\n#[parameter(default = 2, default = 3)] ovens: u32",
            "`default` is given twice",
            "default",
        );
        assert_error(
            "/// Ovens.\n#[parameter(unit = \"\")] #[parameter(unit = \"\")] ovens: u32",
            "`unit` is given twice",
            "unit",
        );
        assert_error(
            "/// Ovens.\n#[parameter(unit = 5)] ovens: u32",
            "expected string literal",
            "5",
        );
        assert_error("/// Ovens.\n#[parameter(unit)] ovens: u32", "expected `=`", ")");
    }

    #[test]
    fn a_range_includes_its_limits_and_the_default() {
        let form = "a range is `low..=high`, both included, or `low..` without an upper limit; \
                    leave `range` out if any value will do";
        for range in ["1..100", "..", "..=5", "100", "(1, 100)"] {
            assert_error(
                &format!("/// Ovens.\n#[parameter(default = 2, range = {range})] ovens: u32"),
                form,
                range,
            );
        }
        let empty = "no value lies in this range: its lower limit exceeds the upper one";
        assert_error(
            "/// Ovens.\n#[parameter(default = 2, range = 100..=1)] ovens: u32",
            empty,
            "100..=1",
        );
        for (default, range) in
            [("0", "1..=100"), ("101", "1..=100"), ("-1e3", "-999.5.."), ("5_000", "-3..=-1")]
        {
            let field = format!(
                "/// Ovens.\n#[parameter(range = {range}, default = {default})] ovens: f64"
            );
            assert_error(&field, "the default lies outside the range", default);
        }
        for range in ["1..", "0.5..=2.0", "-2..=-1"] {
            let needed = "0 lies outside this range, so the parameter needs a `default = …`";
            assert_error(
                &format!("/// Ovens.\n#[parameter(range = {range})] ovens: f64"),
                needed,
                range,
            );
        }
    }

    #[test]
    fn limits_belong_to_the_range_and_constants_are_left_to_the_compiler() {
        for keys in [
            "default = 1, range = 1..=1",
            "default = MOST, range = 1..=2",
            "default = 7, range = LEAST..=MOST",
            "range = 0..",
        ] {
            let source = format!("struct Bakery {{ /// Ovens.\n#[parameter({keys})] ovens: u32 }}");
            assert_eq!(test_support::errors(expand, &source), []);
        }
    }

    #[test]
    fn a_name_can_be_typed() {
        assert_error(
            "/// Ovens.\n_ovens: u32",
            "nobody can type the name of `_ovens`: let it begin with a letter",
            "_ovens",
        );
    }

    #[test]
    fn parameters_are_a_plain_struct_with_named_fields() {
        let about = "`Bakery` cannot be the parameters of a model: ";
        let no_fields = "it has no fields; a model without parameters has `type Parameters = ()`";
        for (source, problem) in [
            ("struct Bakery(u32);", "its fields need names: a parameter has that of its field"),
            ("struct Bakery;", no_fields),
            ("struct Bakery {}", no_fields),
            (
                "enum Bakery { Rye }",
                "it is an enum; for the values of one parameter, derive `Choices`",
            ),
            ("union Bakery { ovens: u32 }", "it is a union; use a struct"),
        ] {
            test_support::assert_error(expand, source, &format!("{about}{problem}"), "Bakery");
        }
        let generic =
            "`Bakery` cannot be generic: parameters are a plain struct, whose type says all";
        for generics in ["<T>", "<'a>", "<const N: usize>"] {
            let source = format!("struct Bakery{generics} {{ /// Ovens.\novens: u32 }}");
            test_support::assert_error(expand, &source, generic, generics);
        }
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let source = "struct Bakery<T> { ovens: u32, #[parameter(units = 1)] shelves: u32, /// \
                      Fine.\nfine: u32 }";
        let places: Vec<String> =
            test_support::errors(expand, source).into_iter().map(|(_, place)| place).collect();
        assert_eq!(places, ["<T>", "ovens", "shelves", "units"]);
    }
}
