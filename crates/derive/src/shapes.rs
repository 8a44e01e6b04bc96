//! A common view of structs and enum variants, for the macros that derive traits of data.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, Fields, Generics, Ident, Type, TypeParamBound};

/// A struct, or a variant of an enum.
pub(crate) struct Shape<'i> {
    pub(crate) path: TokenStream,
    pub(crate) fields: &'i Fields,
    /// Names for the fields in a pattern.
    pub(crate) bound: Vec<Ident>,
}

impl<'i> Shape<'i> {
    fn new(path: TokenStream, fields: &'i Fields) -> Self {
        let bound = (0..fields.len()).map(|index| format_ident!("field_{index}")).collect();
        Shape { path, fields, bound }
    }

    pub(crate) fn pattern(&self) -> TokenStream {
        let Shape { path, fields, bound } = self;
        let members = fields.members();
        quote!(#path { #(#members: #bound),* })
    }
}

/// The shapes that a value may have; `None` for a union.
pub(crate) fn shapes(data: &Data) -> Option<Vec<Shape<'_>>> {
    match data {
        Data::Struct(data) => Some(vec![Shape::new(quote!(Self), &data.fields)]),
        Data::Enum(data) => {
            let path = |name: &Ident| quote!(Self::#name);
            Some(
                data.variants
                    .iter()
                    .map(|variant| Shape::new(path(&variant.ident), &variant.fields))
                    .collect(),
            )
        }
        Data::Union(_) => None,
    }
}

/// The generics with this bound on all type parameters.
pub(crate) fn bounded(generics: &Generics, bound: &TypeParamBound) -> Generics {
    let mut generics = generics.clone();
    generics.type_params_mut().for_each(|parameter| parameter.bounds.push(bound.clone()));
    generics
}

/// The code for the largest of these sizes, of the shapes of a type, plus that of a variant's
/// number.
pub(crate) fn largest(sizes: &[TokenStream], number: usize) -> TokenStream {
    quote! {{
        let mut most = 0usize;
        #({
            let size = #sizes;
            if size > most { most = size }
        })*
        most + #number
    }}
}

/// The types of all fields.
pub(crate) fn field_types(fields: &Fields) -> Vec<&Type> {
    fields.iter().map(|field| &field.ty).collect()
}
