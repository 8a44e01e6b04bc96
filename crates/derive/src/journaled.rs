use proc_macro2::{Literal, TokenStream};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, Fields, Path, Result, parse_quote};

use crate::shapes::{Shape, bounded, field_types, largest, shapes};

/// The implementation of `Journaled`, which finds parts by their addresses. For an enum without
/// fields: the implementation of `Saved`, as a number.
pub(crate) fn expand(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let Some(shapes) = shapes(&input.data) else {
        return Err(Error::new_spanned(
            name,
            "a union cannot be journaled: nobody knows which of its fields holds a value",
        ));
    };
    let whole = says(
        &input.attrs,
        "whole",
        "`journal` on a type takes `whole`: it may be changed as a whole",
    )?;
    for field in shapes.iter().flat_map(|shape| shape.fields) {
        let fixed = is_fixed(&field.attrs)?;
        if fixed && whole {
            return Err(Error::new_spanned(
                field,
                "what may be changed as a whole has no fixed fields",
            ));
        }
    }
    let is_word = matches!(&input.data, Data::Enum(data) if data.variants.iter().all(|variant| variant.fields.is_empty()));
    if is_word {
        return saved(input, &shapes, api);
    }
    let bound = if whole { parse_quote!(#api::Plain) } else { parse_quote!(#api::Journaled) };
    let generics = bounded(&input.generics, &bound);
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let gives_back = whole.then(|| {
        quote!(if change.gives_back(self) {
            return true;
        })
    });
    let parts = shapes.iter().map(|shape| {
        let pattern = pattern(shape);
        let changing = shape.fields.iter().zip(&shape.bound).filter(|(field, _)| !is_fixed(&field.attrs).unwrap_or_default());
        let bound: Vec<_> = changing.map(|(_, bound)| bound).collect();
        quote!(#pattern => false #(|| change.is_in(&*#bound) && #api::Journaled::restore(#bound, change))*)
    });
    let plain = whole.then(|| plain(input, &shapes, api));
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #api::Journaled for #name #type_generics #where_clause {
            #[inline]
            fn restore(&mut self, change: &mut #api::Change<'_>) -> bool {
                let _ = &change;
                #gives_back
                match self {
                    #(#parts,)*
                }
            }
        }

        #plain
    })
}

/// The pattern of a shape, without its fixed fields.
fn pattern(Shape { path, fields, bound }: &Shape<'_>) -> TokenStream {
    let members =
        fields.members().zip(fields.iter()).zip(bound).map(
            |((member, field), bound)| match is_fixed(&field.attrs) {
                Ok(true) => quote!(#member: _),
                _ => quote!(#member: #bound),
            },
        );
    quote!(#path { #(#members),* })
}

fn is_fixed(attributes: &[Attribute]) -> Result<bool> {
    says(attributes, "fixed", "`journal` on a field takes `fixed`: no event changes it")
}

/// Whether `#[journal(…)]` has this word, the only one allowed.
fn says(attributes: &[Attribute], word: &str, otherwise: &str) -> Result<bool> {
    let mut found = false;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("journal")) {
        attribute.parse_nested_meta(|meta| {
            if !meta.path.is_ident(word) {
                return Err(Error::new_spanned(&meta.path, otherwise));
            }
            found = true;
            Ok(())
        })?;
    }
    Ok(found)
}

/// The implementation of `Saved` for an enum whose variants have no fields.
fn saved(input: &DeriveInput, shapes: &[Shape<'_>], api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let Some((last, others)) = shapes.split_last() else {
        return Err(Error::new_spanned(
            name,
            "an enum without variants has no values that could be journaled",
        ));
    };
    let numbers: Vec<_> = (0..shapes.len() as u64).map(Literal::u64_suffixed).collect();
    let paths = shapes.iter().map(|shape| &shape.path);
    let other_paths = others.iter().map(|shape| &shape.path);
    let last = &last.path;
    Ok(quote! {
        #[automatically_derived]
        impl #api::Saved for #name {
            #[inline]
            fn to_word(self) -> ::core::primitive::u64 {
                match self {
                    #(#paths {} => #numbers,)*
                }
            }

            #[inline]
            fn from_word(word: ::core::primitive::u64) -> Self {
                match word {
                    #(#numbers => #other_paths {},)*
                    _ => #last {},
                }
            }
        }
    })
}

/// The implementation of `Plain`, which writes a value as words and reads it back. It calls the
/// same methods of all fields, so the compiler checks that they are plain.
fn plain(input: &DeriveInput, shapes: &[Shape<'_>], api: &Path) -> TokenStream {
    let name = &input.ident;
    let generics = bounded(&input.generics, &parse_quote!(#api::Plain));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let is_enum = matches!(&input.data, Data::Enum(_));
    let words: Vec<_> = shapes.iter().map(|shape| words(shape.fields, api)).collect();
    // All variants of an enum take as many words as the largest, and one for their number.
    let all_words = largest(&words, usize::from(is_enum));
    let keep = shapes.iter().zip(&words).zip(0u64..).map(|((shape, words), number)| {
        let number = is_enum.then_some(number);
        keep(shape, words, number, api)
    });
    let take = if is_enum {
        take_variant(shapes, &words, api)
    } else {
        shapes.iter().map(|shape| take(shape, api)).collect()
    };
    quote! {
        #[automatically_derived]
        impl #impl_generics #api::Plain for #name #type_generics #where_clause {
            const WORDS: ::core::primitive::usize = #all_words;

            fn keep(&self, log: &mut ::std::vec::Vec<::core::primitive::u64>) {
                let _ = &log;
                match self {
                    #(#keep)*
                }
            }

            fn take(log: &mut ::std::vec::Vec<::core::primitive::u64>) -> Self {
                let _ = &log;
                #take
            }
        }
    }
}

/// How many words these fields take.
fn words(fields: &Fields, api: &Path) -> TokenStream {
    let types = field_types(fields);
    quote!(0usize #(+ <#types as #api::Plain>::WORDS)*)
}

/// The arm that writes a shape. A variant is filled up to the size of the largest one, and its
/// number follows.
fn keep(shape: &Shape<'_>, words: &TokenStream, number: Option<u64>, api: &Path) -> TokenStream {
    let pattern = shape.pattern();
    let bound = &shape.bound;
    let number = number.map(|number| {
        quote! {
            log.resize(log.len() + (<Self as #api::Plain>::WORDS - 1 - (#words)), 0);
            log.push(#number);
        }
    });
    quote!(#pattern => { #(#api::Plain::keep(#bound, log);)* #number })
}

/// The code that reads a shape, the last field first.
fn take(shape: &Shape<'_>, api: &Path) -> TokenStream {
    let Shape { path, fields, bound } = shape;
    let members = fields.members();
    let types = field_types(fields);
    let take = bound
        .iter()
        .zip(types)
        .rev()
        .map(|(bound, field)| quote!(let #bound = <#field as #api::Plain>::take(log);));
    quote!(#(#take)* #path { #(#members: #bound),* })
}

/// The code that reads the number of a variant, what fills it up, and the variant.
fn take_variant(shapes: &[Shape<'_>], words: &[TokenStream], api: &Path) -> TokenStream {
    let last = shapes.len() - 1;
    let arms = shapes.iter().zip(words).enumerate().map(|(number, (shape, words))| {
        let pattern = if number == last {
            quote!(_)
        } else {
            Literal::u64_suffixed(number as u64).into_token_stream()
        };
        let value = take(shape, api);
        quote! {
            #pattern => {
                log.truncate(log.len().saturating_sub(<Self as #api::Plain>::WORDS - 1 - (#words)));
                #value
            }
        }
    });
    quote!(match log.pop().unwrap_or_default() { #(#arms)* })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::assert_error;

    fn code(source: &str) -> String {
        expand(&syn::parse_str(source).unwrap(), &parse_quote!(::warpline)).unwrap().to_string()
    }

    #[test]
    fn all_fields_of_all_variants_are_looked_into_but_those_that_are_fixed() {
        let code = code(
            "enum Shop<T> { Till { takings: f64, r#type: T }, Door(#[journal(fixed)] String, u8), \
             Closed }",
        );
        for part in [
            "takings : field_0",
            "r#type : field_1",
            "0 : _ , 1 : field_1",
            "T : :: warpline :: Journaled",
        ] {
            assert!(code.contains(part), "{part} in {code}");
        }
        assert_eq!(code.matches("change . is_in").count(), 3, "{code}");
        assert!(!code.contains("Plain"), "{code}");
    }

    #[test]
    fn an_enum_without_fields_is_saved_as_a_number() {
        let code = code("enum Day { Sunday, Monday(), Tuesday {} }");
        assert!(
            code.contains("Saved for Day") && code.contains("2u64") && !code.contains("Journaled"),
            "{code}"
        );
    }

    #[test]
    fn a_whole_type_is_plain_as_well() {
        let code = code("#[journal(whole)] enum Machine { Idle, Busy { since: f64, part: u32 } }");
        for part in ["Plain for Machine", "gives_back (self)", "most + 1usize"] {
            assert!(code.contains(part), "{part} in {code}");
        }
    }

    #[test]
    fn mistakes_are_errors() {
        let of_type = "`journal` on a type takes `whole`: it may be changed as a whole";
        assert_error(expand, "#[journal(fixed)] struct Till { takings: f64 }", of_type, "fixed");
        let of_field = "`journal` on a field takes `fixed`: no event changes it";
        assert_error(expand, "struct Till { #[journal(whole)] takings: f64 }", of_field, "whole");
        let both = "what may be changed as a whole has no fixed fields";
        assert_error(
            expand,
            "#[journal(whole)] struct Till(#[journal(fixed)] u8);",
            both,
            "#[journal(fixed)] u8",
        );
        let union = "a union cannot be journaled: nobody knows which of its fields holds a value";
        assert_error(expand, "union Either { one: u8, other: f32 }", union, "Either");
        assert_error(
            expand,
            "enum None {}",
            "an enum without variants has no values that could be journaled",
            "None",
        );
    }
}
