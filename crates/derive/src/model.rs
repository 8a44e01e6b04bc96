//! `#[model]`.

use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, ImplItem, ItemImpl, Path, Result, Token, Type};

/// Abilities that a model names, because its types do not show them.
const COMPARE: &str = "compare";
const JOURNAL: &str = "journal";

/// The unchanged implementation, plus the abilities that follow from its types, its methods and
/// `words`.
pub(crate) fn expand(words: TokenStream, input: &ItemImpl, api: &Path) -> Result<TokenStream> {
    let words = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(words)?;
    if !is_model(input) {
        return Err(Error::new_spanned(
            &input.self_ty,
            "`#[model]` marks the implementation of `Model`: `impl Model for …`",
        ));
    }
    let abilities = abilities(&words, input, api)?;
    let ItemImpl { attrs, defaultness, unsafety, generics, trait_, self_ty, items, .. } = input;
    let (impl_generics, _, where_clause) = generics.split_for_impl();
    let path = trait_.as_ref().map(|(_, path, _)| path);
    Ok(quote! {
        #(#attrs)*
        #defaultness #unsafety impl #impl_generics #path for #self_ty #where_clause {
            #abilities
            #(#items)*
        }
    })
}

fn is_model(input: &ItemImpl) -> bool {
    let path = input
        .trait_
        .as_ref()
        .and_then(|(negated, path, _)| path.segments.last().filter(|_| negated.is_none()));
    path.is_some_and(|last| last.ident == "Model")
}

fn abilities(
    words: &Punctuated<Ident, Token![,]>,
    input: &ItemImpl,
    api: &Path,
) -> Result<TokenStream> {
    // If the event type is missing, the compiler says so.
    let Some(event) = event_type(&input.items) else { return Ok(TokenStream::new()) };
    let said = words.iter().map(|word| match word.to_string().as_str() {
        COMPARE => Ok(quote_spanned!(word.span()=> .with_comparable(#api::Comparable::new()))),
        JOURNAL => Ok(quote_spanned!(word.span()=> .with_journal(#api::Journal::new()))),
        _ => Err(Error::new_spanned(
            word,
            "`model` takes `compare` and `journal`; types and methods say the rest",
        )),
    });
    let said = said.collect::<Result<Vec<_>>>()?;
    let reverse = input
        .items
        .iter()
        .any(|item| matches!(item, ImplItem::Fn(function) if function.sig.ident == "reverse"));
    let reverse = reverse.then(|| quote!(.with_reverse()));
    // serde reads references of one lifetime only. The compiler would notice that too late, so
    // references are never asked about.
    let serde = if has_reference(event.to_token_stream()) {
        quote!(TypeAbilities)
    } else {
        quote!(SerdeAbilities)
    };
    Ok(quote! {
        const ABILITIES: #api::Abilities<Self::State, Self::Event> = {
            #[allow(unused_imports, reason = "it is used where a type says nothing")]
            use #api::model_support::DefaultAbilities as _;
            #api::Abilities::of_events(
                #api::model_support::TypeAbilities::<#event>::WIRE,
                #api::model_support::#serde::<#event>::WIRE,
                #api::model_support::TypeAbilities::<#event>::COMPARABLE,
            )
            #(#said)*
            #reverse
        };
    })
}

fn event_type(items: &[ImplItem]) -> Option<&Type> {
    items.iter().find_map(|item| match item {
        ImplItem::Type(item) if item.ident == "Event" => Some(&item.ty),
        _ => None,
    })
}

fn has_reference(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => has_reference(group.stream()),
        TokenTree::Punct(mark) => mark.as_char() == '&',
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    fn expanded(words: &str, source: &str) -> Result<String> {
        let code = expand(words.parse()?, &syn::parse_str(source)?, &parse_quote!(::warpline))?;
        Ok(code.to_string())
    }

    fn assert_error(words: &str, source: &str, message: &str) {
        assert_eq!(
            expanded(words, source).unwrap_err().to_string(),
            message,
            "for #[model({words})] {source}"
        );
    }

    #[test]
    fn reverse_code_is_an_ability_where_it_is_written() {
        let without = expanded("", "impl Model for Shop { type Event = (); }").unwrap();
        assert!(
            without.contains("TypeAbilities :: < () >") && !without.contains("with_reverse"),
            "{without}"
        );
        let with =
            expanded("", "impl Model for Shop { type Event = (); fn reverse(&self) {} }").unwrap();
        assert!(with.contains("with_reverse"), "{with}");
    }

    #[test]
    fn the_rest_is_named() {
        let code = expanded(
            "compare, journal",
            "impl<T: Text> Model for Shop<T> where T: Send { type Event = T; }",
        )
        .unwrap();
        for part in [
            "with_comparable",
            "with_journal",
            "impl < T : Text > Model for Shop < T > where T : Send",
            "type Event = T",
        ] {
            assert!(code.contains(part), "{part} in {code}");
        }
    }

    #[test]
    fn serde_does_not_read_references() {
        for (event, asked) in
            [("String", true), ("&'static str", false), ("(u8, Option<&'static str>)", false)]
        {
            let code =
                expanded("", &format!("impl Model for Shop {{ type Event = {event}; }}")).unwrap();
            assert_eq!(code.contains("SerdeAbilities"), asked, "{code}");
        }
    }

    #[test]
    fn mistakes_are_told() {
        let model = "impl Model for Shop { type Event = (); }";
        assert_error(
            "wire",
            model,
            "`model` takes `compare` and `journal`; types and methods say the rest",
        );
        assert_error(
            "",
            "impl Shop {}",
            "`#[model]` marks the implementation of `Model`: `impl Model for …`",
        );
        assert_error(
            "",
            "impl Configure for Shop {}",
            "`#[model]` marks the implementation of `Model`: `impl Model for …`",
        );
    }
}
