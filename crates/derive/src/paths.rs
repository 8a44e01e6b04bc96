//! Where generated code finds the model API.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::Span;
use syn::{Ident, Path, parse_quote};

/// The crates that export the API, first the one that models usually depend on.
const CRATES: [&str; 2] = ["warpline", "warpline-model"];

/// The path of the API in the crate being compiled, under whatever name its manifest gives to the
/// dependency.
pub(crate) fn api() -> Path {
    let found = CRATES.iter().find_map(|name| {
        Some(match crate_name(name).ok()? {
            // Inside these crates `extern crate self` makes their own names paths, as in their
            // tests and examples.
            FoundCrate::Itself => name.replace('-', "_"),
            FoundCrate::Name(name) => name,
        })
    });
    // Without a manifest that names them, the compiler says what is missing.
    let name = Ident::new(found.as_deref().unwrap_or("warpline"), Span::call_site());
    parse_quote!(::#name)
}

/// The crates that export the API of processes, and where in them it is.
const PROCESS_CRATES: [(&str, Option<&str>); 2] =
    [("warpline", Some("process")), ("warpline-process", None)];

/// The path of the API of processes in the crate being compiled.
pub(crate) fn process_api() -> Path {
    let found = PROCESS_CRATES.iter().find_map(|(name, module)| {
        let krate = match crate_name(name).ok()? {
            FoundCrate::Itself => name.replace('-', "_"),
            FoundCrate::Name(name) => name,
        };
        let krate = Ident::new(&krate, Span::call_site());
        let module = module.map(|module| Ident::new(module, Span::call_site()));
        Some(match module {
            Some(module) => parse_quote!(::#krate::#module),
            None => parse_quote!(::#krate),
        })
    });
    found.unwrap_or_else(|| parse_quote!(::warpline::process))
}
