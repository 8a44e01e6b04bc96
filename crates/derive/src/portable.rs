use proc_macro2::{TokenStream, TokenTree};
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, GenericParam, Ident, Path, Result, Type, parse_quote};

/// The code that makes a type portable.
///
/// The bounds are those of the type parameters. That all fields are portable is checked by the method: it calls theirs.
pub(crate) fn expand(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let (arms, types) = match &input.data {
        Data::Struct(data) => (vec![arm(&quote!(Self), &data.fields, api)], field_types(&data.fields)),
        Data::Enum(data) => {
            let arm = |variant: &syn::Variant| {
                let variant_name = &variant.ident;
                arm(&quote!(Self::#variant_name), &variant.fields, api)
            };
            (data.variants.iter().map(arm).collect(), data.variants.iter().flat_map(|variant| field_types(&variant.fields)).collect())
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(name, "a union cannot be portable: nobody knows which of its fields holds a value"));
        }
    };
    let mut generics = input.generics.clone();
    for parameter in &mut generics.params {
        if let GenericParam::Type(parameter) = parameter {
            parameter.bounds.push(parse_quote!(#api::Portable));
        }
    }
    let (impl_generics, type_generics, where_clause) = generics.split_for_impl();
    let none = arms.is_empty().then(|| quote!(_ => {}));
    Ok(quote! {
        #[automatically_derived]
        // SAFETY: all fields are portable, as `payloads` demands, which passes on those of all fields.
        unsafe impl #impl_generics #api::Portable for #name #type_generics #where_clause {
            const HAS_PAYLOADS: bool = false #(|| <#types as #api::Portable>::HAS_PAYLOADS)*;

            #[inline]
            fn payloads(&mut self, visit: &mut dyn FnMut(&mut #api::Payload)) {
                match self {
                    #(#arms)*
                    #none
                }
            }
        }
    })
}

fn field_types(fields: &Fields) -> Vec<&Type> {
    fields.iter().map(|field| &field.ty).collect()
}

/// The arm of the match for a struct or a variant.
fn arm(path: &TokenStream, fields: &Fields, api: &Path) -> TokenStream {
    let members: Vec<syn::Member> = fields.members().collect();
    let bound: Vec<Ident> = (0..members.len()).map(|index| format_ident!("field_{index}")).collect();
    quote! {
        #path { #(#members: #bound),* } => { #(#api::Portable::payloads(#bound, visit);)* }
    }
}

/// The code of a function that proves that a type is portable from the proof that its only type parameter is.
pub(crate) fn expand_with(input: &DeriveInput, api: &Path) -> Result<TokenStream> {
    let name = &input.ident;
    let mut parameters = input.generics.type_params();
    let (Some(parameter), None) = (parameters.next(), parameters.next()) else {
        return Err(Error::new_spanned(name, "this is for types with one type parameter"));
    };
    let parameter = &parameter.ident;
    let types = match &input.data {
        Data::Struct(data) => field_types(&data.fields),
        Data::Enum(data) => data.variants.iter().flat_map(|variant| field_types(&variant.fields)).collect(),
        Data::Union(_) => return Err(Error::new_spanned(name, "a union cannot be portable")),
    };
    let is_parameter = |field: &Type| matches!(field, Type::Path(found) if found.path.is_ident(parameter));
    let proofs = types.into_iter().filter(|field| !is_parameter(field)).map(|field| {
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
        let input = syn::parse_str("enum Parcel<T> { Letter { weight: f64, r#type: T }, Freight(Payload, u8), Nothing }").unwrap();
        let code = expand(&input, &parse_quote!(::warpline)).unwrap().to_string();
        for part in ["weight : field_0", "r#type : field_1", "1 : field_1", "Self :: Nothing", "T : :: warpline :: Portable"] {
            assert!(code.contains(part), "{part} in {code}");
        }
        let empty = expand(&syn::parse_str("enum None {}").unwrap(), &parse_quote!(::warpline)).unwrap().to_string();
        assert!(empty.contains("_ => { }"), "{empty}");
    }

    #[test]
    fn unions_are_refused() {
        let message = "a union cannot be portable: nobody knows which of its fields holds a value";
        assert_error(expand, "union Either { one: u8, other: f32 }", message, "Either");
    }

    #[test]
    fn a_proof_is_made_of_those_of_all_fields() {
        let code = |source| expand_with(&syn::parse_str(source).unwrap(), &parse_quote!(::warpline)).map(|code| code.to_string());
        let proof = code("enum Content<E> { Event(Event<E>), Plain { payload: E, lp: LpId } }").unwrap();
        assert_eq!((proof.matches("is_portable (parameter)").count(), proof.matches(":: PROOF").count()), (1, 1), "{proof}");
        assert!(code("struct Two<A, B>(A, B);").is_err() && code("struct None(u8);").is_err());
    }
}
