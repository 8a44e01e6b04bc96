use proc_macro2::{Literal, TokenStream, TokenTree};
use quote::quote;
use syn::{Data, DeriveInput, Error, Ident, Path, Result, Type, WherePredicate, parse_quote};

use crate::shapes::{Shape, bounded, field_types, largest, shapes};

/// How variant numbers are written: in one byte if it can hold all of them.
#[derive(Clone, Copy)]
enum Numbers {
    /// A struct has no variants.
    None,
    U8,
    U32,
}

impl Numbers {
    fn of(data: &Data) -> Self {
        match data {
            Data::Enum(data) if data.variants.len() <= 256 => Numbers::U8,
            Data::Enum(_) => Numbers::U32,
            _ => Numbers::None,
        }
    }

    fn literal(self, number: u32) -> Option<Literal> {
        match self {
            Numbers::None => None,
            Numbers::U8 => Some(Literal::u8_suffixed(number as u8)),
            Numbers::U32 => Some(Literal::u32_suffixed(number)),
        }
    }
}

/// The implementation of `Portable`.
///
/// Bounds are put on the type parameters. The methods call those of all fields, so the compiler
/// checks that all fields are portable.
pub(crate) fn expand(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let Some(shapes) = shapes(&input.data) else {
        return Err(Error::new_spanned(
            name,
            "a union cannot be portable: nobody knows which of its fields holds a value",
        ));
    };
    let generics = bounded(&input.generics, &parse_quote!(#api::Portable));
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let types = shapes.iter().flat_map(|shape| field_types(shape.fields));
    let numbers = Numbers::of(&input.data);
    let most_bytes = most_bytes(numbers, &shapes, api);
    let payloads = shapes.iter().map(|shape| {
        let pattern = shape.pattern();
        let bound = &shape.bound;
        quote!(#pattern => { #(#api::Portable::payloads(#bound, visit);)* })
    });
    let put = (0..).zip(&shapes).map(|(number, shape)| {
        let pattern = shape.pattern();
        let bound = &shape.bound;
        let number =
            numbers.literal(number).map(|number| quote!(#api::Portable::put(&#number, room);));
        quote!(#pattern => { #number #(#api::Portable::put(#bound, room);)* })
    });
    let none = shapes.is_empty().then(|| quote!(_ => {}));
    let read = read(numbers, &shapes, api);
    Ok(quote! {
        #[automatically_derived]
        // SAFETY: each method calls the same method of all fields, which demands that they are
        // portable. `MOST_BYTES` is the sum over the fields of the largest variant.
        unsafe impl #impl_generics #api::Portable for #name #type_generics #where_clause {
            const HAS_PAYLOADS: bool = false #(|| <#types as #api::Portable>::HAS_PAYLOADS)*;
            const MOST_BYTES: usize = #most_bytes;

            #[inline]
            fn payloads(&mut self, visit: &mut dyn FnMut(&mut #api::Payload)) {
                match self {
                    #(#payloads)*
                    #none
                }
            }

            #[inline]
            fn put(&self, room: &mut #api::Room<'_>) {
                match self {
                    #(#put)*
                    #none
                }
            }

            #[inline]
            fn read(from: &mut &[u8]) -> ::core::option::Option<Self> {
                #read
            }
        }
    })
}

/// The number of bytes of the largest variant.
fn most_bytes(numbers: Numbers, shapes: &[Shape<'_>], api: &Path) -> TokenStream {
    let bytes = |shape: &Shape<'_>| {
        let types = field_types(shape.fields);
        quote!(0usize #(+ <#types as #api::Portable>::MOST_BYTES)*)
    };
    let number = match numbers {
        Numbers::None => 0,
        Numbers::U8 => 1,
        Numbers::U32 => 4,
    };
    largest(&shapes.iter().map(bytes).collect::<Vec<_>>(), number)
}

/// The code that reads a value.
fn read(numbers: Numbers, shapes: &[Shape<'_>], api: &Path) -> TokenStream {
    let values = shapes.iter().map(|Shape { path, fields, .. }| {
        let members = fields.members();
        let types = field_types(fields);
        quote!(::core::option::Option::Some(#path { #(#members: <#types as #api::Portable>::read(from)?),* }))
    });
    let number = match numbers {
        Numbers::None => return quote!(#(#values)*),
        Numbers::U8 => quote!(u8),
        Numbers::U32 => quote!(u32),
    };
    let patterns = (0..shapes.len() as u32).filter_map(|number| numbers.literal(number));
    quote! {
        match <::core::primitive::#number as #api::Portable>::read(from)? {
            #(#patterns => #values,)*
            _ => ::core::option::Option::None,
        }
    }
}

/// The implementation of `Shareable`. Its bounds demand that the types of all fields are shareable.
pub(crate) fn expand_shareable(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let Some(shapes) = shapes(&input.data) else {
        return Err(Error::new_spanned(
            name,
            "a union cannot be shareable: nobody knows which of its fields holds a value",
        ));
    };
    let mut generics = input.generics.clone();
    let types = shapes.iter().flat_map(|shape| field_types(shape.fields));
    let demands = &mut generics.make_where_clause().predicates;
    demands.extend(
        types.map(|field| -> WherePredicate { parse_quote!(#field: #api::engine::Shareable) }),
    );
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        // SAFETY: the bounds demand that all fields are shareable.
        unsafe impl #impl_generics #api::engine::Shareable for #name #type_generics #where_clause {}
    })
}

/// A function that proves a type portable, given the proof for its only type parameter.
pub(crate) fn expand_with(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let mut parameters = input.generics.type_params();
    let (Some(parameter), None) = (parameters.next(), parameters.next()) else {
        return Err(Error::new_spanned(name, "this is for types with one type parameter"));
    };
    let parameter = &parameter.ident;
    let Some(shapes) = shapes(&input.data) else {
        return Err(Error::new_spanned(name, "a union cannot be portable"));
    };
    let types = shapes.iter().flat_map(|shape| field_types(shape.fields));
    let is_parameter =
        |field: &Type| matches!(field, Type::Path(found) if found.path.is_ident(parameter));
    let proofs = types.filter(|field| !is_parameter(field)).map(|field| {
        if mentions(quote!(#field), parameter) {
            quote!(let _ = <#field>::is_portable(parameter);)
        } else {
            quote!(let _ = #api::IsPortable::<#field>::PROOF;)
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl<#parameter> #name<#parameter> {
            /// The proof that it is portable if what it carries is.
            pub fn is_portable(parameter: #api::IsPortable<#parameter>) -> #api::IsPortable<Self> {
                let _ = parameter;
                #(#proofs)*
                // SAFETY: all fields are portable, as the proofs above show.
                unsafe { #api::IsPortable::assume() }
            }
        }
    })
}

fn mentions(tokens: TokenStream, ident: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(found) => found == *ident,
        TokenTree::Group(group) => mentions(group.stream(), ident),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::assert_error;

    #[test]
    fn all_fields_of_all_variants_are_visited() {
        let input = syn::parse_str(
            "enum Parcel<T> { Letter { weight: f64, r#type: T }, Freight(Payload, u8), Nothing }",
        )
        .unwrap();
        let code = expand(&input, &parse_quote!(::warpline)).unwrap().to_string();
        for part in [
            "weight : field_0",
            "r#type : field_1",
            "1 : field_1",
            "Self :: Nothing",
            "T : :: warpline :: Portable",
        ] {
            assert!(code.contains(part), "{part} in {code}");
        }
        let empty = expand(&syn::parse_str("enum None {}").unwrap(), &parse_quote!(::warpline))
            .unwrap()
            .to_string();
        assert!(empty.contains("_ => { }"), "{empty}");
    }

    #[test]
    fn numbers_of_variants_have_the_size_that_they_need() {
        let code = |variants: u32| {
            let variants: String = (0..variants).map(|number| format!("V{number}(u8),")).collect();
            expand(
                &syn::parse_str(&format!("enum Many {{ {variants} }}")).unwrap(),
                &parse_quote!(::warpline),
            )
            .unwrap()
            .to_string()
        };
        assert!(code(256).contains("& 255u8 , room") && code(256).contains("most + 1usize"));
        assert!(
            code(257).contains("& 256u32 , room")
                && code(257).contains("256u32 =>")
                && code(257).contains("most + 4usize")
        );
        let plain =
            expand(&syn::parse_str("struct Plain(u8);").unwrap(), &parse_quote!(::warpline))
                .unwrap()
                .to_string();
        assert!(plain.contains("most + 0usize") && !plain.contains("0u8"), "{plain}");
    }

    #[test]
    fn a_shareable_type_has_shareable_fields() {
        let code = expand_shareable(
            &syn::parse_str("struct Words<T> { lock: SpinLock<T>, word: u64 }").unwrap(),
            &parse_quote!(::warpline),
        );
        let code = code.unwrap().to_string();
        for part in [
            "SpinLock < T > : :: warpline :: engine :: Shareable",
            "u64 : :: warpline",
            "Shareable for Words < T >",
        ] {
            assert!(code.contains(part), "{part} in {code}");
        }
        let message = "a union cannot be shareable: nobody knows which of its fields holds a value";
        assert_error(expand_shareable, "union Either { one: u8, other: f32 }", message, "Either");
    }

    #[test]
    fn unions_are_refused() {
        let message = "a union cannot be portable: nobody knows which of its fields holds a value";
        assert_error(expand, "union Either { one: u8, other: f32 }", message, "Either");
    }

    #[test]
    fn a_proof_is_made_of_those_of_all_fields() {
        let code = |source| {
            expand_with(&syn::parse_str(source).unwrap(), &parse_quote!(::warpline))
                .map(|code| code.to_string())
        };
        let proof =
            code("enum Content<E> { Event(Event<E>), Plain { payload: E, lp: LpId } }").unwrap();
        assert_eq!(
            (proof.matches("is_portable (parameter)").count(), proof.matches(":: PROOF").count()),
            (1, 1),
            "{proof}"
        );
        assert!(code("struct Two<A, B>(A, B);").is_err() && code("struct None(u8);").is_err());
    }
}
