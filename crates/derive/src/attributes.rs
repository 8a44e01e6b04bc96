//! Reads attributes and doc comments, and collects errors, for several macros.

use std::fmt::Display;

use proc_macro2::TokenStream;
use syn::meta::ParseNestedMeta;
use syn::parse::Parse;
use syn::{Attribute, Error, Expr, ExprLit, Generics, Lit, Meta, MetaNameValue};

/// The text of a doc comment, on one line; `None` if there is none.
pub(crate) fn doc(attributes: &[Attribute]) -> Option<String> {
    let mut lines = Vec::new();
    for attribute in attributes {
        if let Meta::NameValue(MetaNameValue { path, value, .. }) = &attribute.meta
            && path.is_ident("doc")
            && let Some(text) = literal_text(value)
        {
            lines.extend(
                text.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()),
            );
        }
    }
    if lines.is_empty() { None } else { Some(lines.join(" ")) }
}

fn literal_text(value: &Expr) -> Option<String> {
    match ungrouped(value) {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// The expression without the invisible brackets that another macro puts around it.
pub(crate) fn ungrouped(expression: &Expr) -> &Expr {
    match expression {
        Expr::Group(group) => ungrouped(&group.expr),
        expression => expression,
    }
}

/// Reads the value of a key into `slot`; the key may occur only once.
pub(crate) fn read_once<T: Parse>(meta: &ParseNestedMeta, slot: &mut Option<T>) -> syn::Result<()> {
    let value = meta.value()?.parse()?;
    if slot.replace(value).is_some() {
        let key = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
        return Err(Error::new_spanned(&meta.path, format!("`{key}` is given twice")));
    }
    Ok(())
}

/// Collects errors, so that all of them are reported at once.
#[derive(Default)]
pub(crate) struct Errors(Option<Error>);

impl Errors {
    /// Returns the value, or keeps the error.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.add(error)).ok()
    }

    pub(crate) fn add(&mut self, error: Error) {
        match &mut self.0 {
            Some(errors) => errors.combine(error),
            none => *none = Some(error),
        }
    }

    /// `tokens`, unless there were errors.
    pub(crate) fn or(self, tokens: TokenStream) -> syn::Result<TokenStream> {
        self.0.map_or(Ok(tokens), Err)
    }
}

/// Refuses type parameters and lifetimes.
pub(crate) fn check_generics(
    generics: &Generics,
    name: &impl Display,
    instead: &str,
) -> syn::Result<()> {
    if generics.params.is_empty() {
        return Ok(());
    }
    Err(Error::new_spanned(generics, format!("`{name}` cannot be generic: {instead}")))
}
