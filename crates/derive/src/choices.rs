//! `#[derive(Choices)]`.

use heck::ToKebabCase;
use proc_macro2::TokenStream;
use quote::quote;
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, Ident, LitStr, Path, Variant};

use crate::attributes::{Errors, check_generics, doc, read_once};

/// A variant, as declared.
struct Choice<'a> {
    variant: &'a Ident,
    /// Its word on the command line.
    word: String,
    meaning: String,
}

/// The implementation of `ParameterValue`, or all errors at once.
pub(crate) fn expand(input: &DeriveInput, api: &Path) -> syn::Result<TokenStream> {
    let ident = &input.ident;
    let mut errors = Errors::default();
    errors.keep(check_generics(&input.generics, ident, "its choices are words"));
    let variants = match &input.data {
        Data::Enum(data) if !data.variants.is_empty() => &data.variants,
        Data::Enum(_) => {
            return Err(Error::new_spanned(
                ident,
                format!("`{ident}` leaves no choice: it has no variants"),
            ));
        }
        _ => {
            return Err(Error::new_spanned(
                ident,
                format!("`{ident}` must be an enum, whose variants are the choices"),
            ));
        }
    };
    let mut choices: Vec<Choice> = Vec::new();
    for variant in variants {
        if let Some(found) = errors.keep(choice(variant)) {
            if let Some(other) = choices.iter().find(|other| other.word == found.word) {
                let problem = format!(
                    "`{}` and `{}` have the same word, `{}`",
                    other.variant, found.variant, found.word
                );
                errors.add(Error::new_spanned(found.variant, problem));
            }
            choices.push(found);
        }
    }
    errors.or(implementation(ident, &choices, api))
}

fn choice(declared: &Variant) -> syn::Result<Choice<'_>> {
    let variant = &declared.ident;
    let mut errors = Errors::default();
    if !declared.fields.is_empty() {
        errors.add(Error::new_spanned(
            &declared.fields,
            format!("`{variant}` cannot have fields: a choice is typed as one word"),
        ));
    }
    let meaning = doc(&declared.attrs).unwrap_or_else(|| {
        let advice =
            format!("say what `{variant}` means in a doc comment, such as `/// Who came first.`");
        errors.add(Error::new_spanned(variant, advice));
        String::new()
    });
    let mut word = None::<LitStr>;
    for attribute in declared.attrs.iter().filter(|attribute| attribute.path().is_ident("choice")) {
        errors.keep(attribute.parse_nested_meta(|meta| {
            match meta.path.get_ident().map(Ident::to_string).as_deref() {
                Some("word") => read_once(&meta, &mut word),
                _ => Err(meta.error("a choice has a `word`, and no other keys")),
            }
        }));
    }
    if let Some(word) = word
        .as_ref()
        .filter(|word| word.value().is_empty() || word.value().contains(char::is_whitespace))
    {
        errors.add(Error::new_spanned(word, "a word has at least one character, and no spaces"));
    }
    errors.or(TokenStream::new())?;
    let word =
        word.map_or_else(|| variant.unraw().to_string().to_kebab_case(), |word| word.value());
    Ok(Choice { variant, word, meaning })
}

fn implementation(ident: &Ident, choices: &[Choice], api: &Path) -> TokenStream {
    let variants: Vec<_> = choices.iter().map(|choice| choice.variant).collect();
    let words: Vec<_> = choices.iter().map(|choice| &choice.word).collect();
    let meanings = choices.iter().map(|choice| &choice.meaning);
    quote! {
        #[automatically_derived]
        impl #api::ParameterValue for #ident {
            const TAKES: &'static ::core::primitive::str = "a word";

            fn parse(text: &::core::primitive::str) -> ::core::option::Option<Self> {
                match text {
                    #(#words => ::core::option::Option::Some(Self::#variants),)*
                    _ => ::core::option::Option::None,
                }
            }

            fn text(&self) -> ::std::string::String {
                ::std::string::String::from(match self {
                    #(Self::#variants => #words,)*
                })
            }

            fn json(&self) -> #api::serde_json::Value {
                #api::serde_json::Value::String(#api::ParameterValue::text(self))
            }

            fn choices() -> &'static [#api::Choice] {
                &[#(#api::Choice { word: #words, meaning: #meanings },)*]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support;

    fn assert_error(source: &str, message: &str, place: &str) {
        test_support::assert_error(expand, source, message, place);
    }

    #[test]
    fn a_variant_says_what_it_means() {
        let advice = "say what `Whole` means in a doc comment, such as `/// Who came first.`";
        assert_error("enum Cut { Whole }", advice, "Whole");
        assert_error(
            "enum Cut { /// In slices.\nSliced, #[choice(word = \"uncut\")] Whole }",
            advice,
            "Whole",
        );
    }

    #[test]
    fn a_variant_is_one_word_of_its_own() {
        let fields = "`Sliced` cannot have fields: a choice is typed as one word";
        assert_error("enum Cut { /// In slices.\nSliced(u32) }", fields, "(u32)");
        assert_error(
            "enum Cut { /// In slices.\nSliced { thick: u32 } }",
            fields,
            "{ thick: u32 }",
        );
        let word = "a word has at least one character, and no spaces";
        for text in ["\"\"", "\"in slices\""] {
            assert_error(
                &format!("enum Cut {{ /// In slices.\n#[choice(word = {text})] Sliced }}"),
                word,
                text,
            );
        }
        assert_error(
            "enum Cut { /// In slices.\n#[choice(words = \"s\")] Sliced }",
            "a choice has a `word`, and no other keys",
            "words",
        );
        let twice = "enum Cut { /// In slices.\nInSlices, /// Sliced.\n#[choice(word = \
                     \"in-slices\")] Sliced }";
        assert_error(twice, "`InSlices` and `Sliced` have the same word, `in-slices`", "Sliced");
    }

    #[test]
    fn choices_are_a_plain_enum() {
        assert_error(
            "struct Cut { slices: u32 }",
            "`Cut` must be an enum, whose variants are the choices",
            "Cut",
        );
        assert_error("enum Cut {}", "`Cut` leaves no choice: it has no variants", "Cut");
        assert_error(
            "enum Cut<T> { /// Not at all.\nWhole }",
            "`Cut` cannot be generic: its choices are words",
            "<T>",
        );
    }
}
