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
pub(crate) fn expand(
    words: TokenStream,
    input: &ItemImpl,
    api: &Path,
    process_api: &Path,
) -> Result<TokenStream> {
    let words = Punctuated::<Ident, Token![,]>::parse_terminated.parse2(words)?;
    let abilities = if is_of(input, "Model") {
        abilities(&words, input, api)?
    } else if is_of(input, "ProcessModel") {
        wire_of_processes(&words, input, api, process_api)?
    } else {
        return Err(Error::new_spanned(
            &input.self_ty,
            "`#[model]` marks the implementation of `Model` or `ProcessModel`: `impl Model for …`",
        ));
    };
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

/// Whether it implements the trait of this name.
fn is_of(input: &ItemImpl, name: &str) -> bool {
    let path = input
        .trait_
        .as_ref()
        .and_then(|(negated, path, _)| path.segments.last().filter(|_| negated.is_none()));
    path.is_some_and(|last| last.ident == name)
}

fn abilities(
    words: &Punctuated<Ident, Token![,]>,
    input: &ItemImpl,
    api: &Path,
) -> Result<TokenStream> {
    // If the event type is missing, the compiler says so.
    let Some(event) = type_called("Event", &input.items) else { return Ok(TokenStream::new()) };
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
    let serde = serde_abilities(event);
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

/// How the events of processes leave their process of the system, which follows from the type of
/// messages.
fn wire_of_processes(
    words: &Punctuated<Ident, Token![,]>,
    input: &ItemImpl,
    api: &Path,
    process_api: &Path,
) -> Result<TokenStream> {
    if let Some(word) = words.first() {
        return Err(Error::new_spanned(
            word,
            "`model` takes no words for a `ProcessModel`: nothing undoes what processes do",
        ));
    }
    let Some(message) = type_called("Message", &input.items) else { return Ok(TokenStream::new()) };
    let serde = serde_abilities(message);
    let event = quote!(#process_api::ProcessEvent<#message>);
    Ok(quote! {
        const WIRE: Option<#api::WireFormat<#event>> = {
            #[allow(unused_imports, reason = "it is used where a type says nothing")]
            use #api::model_support::DefaultAbilities as _;
            match #api::model_support::TypeAbilities::<#event>::WIRE {
                Some(plain) => Some(plain),
                None => #api::model_support::#serde::<#event>::WIRE,
            }
        };
    })
}

/// Where to ask whether serde reads and writes a type. It reads references of one lifetime only,
/// which the compiler would notice too late, so references are never asked about.
fn serde_abilities(ty: &Type) -> TokenStream {
    if has_reference(ty.to_token_stream()) { quote!(TypeAbilities) } else { quote!(SerdeAbilities) }
}

fn type_called<'i>(name: &str, items: &'i [ImplItem]) -> Option<&'i Type> {
    items.iter().find_map(|item| match item {
        ImplItem::Type(item) if item.ident == name => Some(&item.ty),
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
        let api = parse_quote!(::warpline);
        let process_api = parse_quote!(::warpline::process);
        let code = expand(words.parse()?, &syn::parse_str(source)?, &api, &process_api)?;
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
    fn messages_of_processes_leave_as_events() {
        let source = "impl ProcessModel for Shop { type Message = Order; }";
        let code = expanded("", source).unwrap();
        for part in ["const WIRE", "process :: ProcessEvent < Order >", "SerdeAbilities"] {
            assert!(code.contains(part), "{part} in {code}");
        }
        assert_error(
            "journal",
            source,
            "`model` takes no words for a `ProcessModel`: nothing undoes what processes do",
        );
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
            "`#[model]` marks the implementation of `Model` or `ProcessModel`: `impl Model for …`",
        );
        assert_error(
            "",
            "impl Configure for Shop {}",
            "`#[model]` marks the implementation of `Model` or `ProcessModel`: `impl Model for …`",
        );
    }
}
