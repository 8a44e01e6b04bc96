//! Checks that documents name only what exists: whatever stands between backticks has to be a file,
//! module, type, function, setting or target of the Makefile.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Fields, Ident, ImplItem, Item, Lit, TraitItem, Type};

use crate::files::{failed, read, rust_files};
use crate::items::item_name;

/// The documents at the root that are checked, beside every README among the sources.
const DOCUMENTS: [&str; 2] = ["ARCHITECTURE.md", "GLOSSARY.md"];
/// The name of a README beside code.
const README: &str = "README.md";

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut code = Code { makefile: read(&root.join("Makefile"))?, ..Code::default() };
    let sources = rust_files(&root.join("crates"))?;
    let mut documents = DOCUMENTS.map(PathBuf::from).to_vec();
    for readme in readmes(root, &sources) {
        code.files.push(readme.clone());
        documents.push(readme);
    }
    for file in sources {
        let relative = file.strip_prefix(root).unwrap_or(&file).to_owned();
        code.add_file(relative, &read(&file)?).map_err(|error| failed(&file, error))?;
    }
    let mut breaches = Vec::new();
    for document in documents {
        let text = read(&root.join(&document))?;
        breaches
            .extend(code.unknown(&text).map(|(line, name)| {
                format!("{}:{line}: there is no `{name}`", document.display())
            }));
    }
    Ok(breaches)
}

/// The READMEs beside sources, from the root.
fn readmes(root: &Path, sources: &[PathBuf]) -> Vec<PathBuf> {
    let folders: BTreeSet<&Path> = sources.iter().filter_map(|file| file.parent()).collect();
    let folders = folders.into_iter().filter_map(|folder| folder.strip_prefix(root).ok());
    let among_sources = folders.filter(|folder| folder.iter().any(|part| part == "src"));
    among_sources
        .map(|folder| folder.join(README))
        .filter(|readme| root.join(readme).is_file())
        .collect()
}

/// The names that the code declares.
#[derive(Default)]
struct Code {
    /// Every source file, and every README beside one, from the root.
    files: Vec<PathBuf>,
    /// Every declared name, and every string literal, such as the words of the command line.
    names: BTreeSet<String>,
    /// The members of types, traits and modules: methods, fields, variants, items.
    members: BTreeMap<String, BTreeSet<String>>,
    /// The names that macros declare. Their owners are not known.
    in_macros: BTreeSet<String>,
    makefile: String,
}

impl Code {
    fn add_file(&mut self, path: PathBuf, text: &str) -> syn::Result<()> {
        let file = syn::parse_file(text)?;
        let module = path
            .components()
            .map(|part| part.as_os_str().to_string_lossy().trim_end_matches(".rs").to_owned());
        let module: Vec<String> = module
            .filter(|part| !matches!(part.as_str(), "crates" | "src" | "lib" | "mod" | "main"))
            .collect();
        self.names.extend(module.iter().cloned());
        for item in &file.items {
            // An item is a member of its module and of those above, which may re-export it.
            if let Some(name) = item_name(item) {
                module.iter().for_each(|module| self.member(module, name));
            }
        }
        self.files.push(path);
        self.visit_file(&file);
        Ok(())
    }

    fn member(&mut self, owner: &str, member: &Ident) {
        self.names.insert(member.to_string());
        self.members.entry(owner.to_owned()).or_default().insert(member.to_string());
    }

    fn fields(&mut self, owner: &str, fields: &Fields) {
        fields
            .iter()
            .filter_map(|field| field.ident.as_ref())
            .for_each(|field| self.member(owner, field));
    }

    /// The names in a document that the code does not have, with their lines.
    fn unknown<'d>(&'d self, document: &'d str) -> impl Iterator<Item = (usize, &'d str)> {
        let mut fenced = false;
        let lines = document.lines().enumerate().filter(move |(_, line)| {
            let fence = line.starts_with("```");
            fenced ^= fence;
            !fenced && !fence
        });
        let spans = lines.flat_map(|(index, line)| {
            line.split('`').skip(1).step_by(2).map(move |name| (index + 1, name))
        });
        spans.filter(|(_, name)| !self.has(name))
    }

    fn has(&self, span: &str) -> bool {
        if let Some(target) = span.strip_prefix("make ") {
            return self
                .makefile
                .lines()
                .any(|line| line.strip_prefix(target).is_some_and(|rest| rest.starts_with(':')));
        }
        let words: Vec<&str> = span.split(' ').collect();
        words.iter().all(|word| match word.strip_prefix("--") {
            Some(flag) => self.declares(&flag.replace('-', "_")),
            // Apart from flags, several words are an example.
            None => words.len() > 1 || self.has_word(word),
        })
    }

    fn declares(&self, name: &str) -> bool {
        self.names.contains(name) || self.in_macros.contains(name)
    }

    fn has_word(&self, word: &str) -> bool {
        if word.contains('/') || word.ends_with(".rs") {
            return self.has_path(word);
        }
        // Of a call, the function's name counts. Intervals and the like are not names.
        let called = word.split('(').next().unwrap_or(word);
        let called = called.rsplit('.').next().unwrap_or(called);
        if called.is_empty()
            || !called.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | '-'))
        {
            return true;
        }
        match called.rsplit_once("::") {
            None => self.declares(called),
            Some((owner, member)) => {
                let owner = owner.rsplit("::").next().unwrap_or(owner);
                let found = self.members.get(owner).is_some_and(|members| members.contains(member));
                found || self.declares(owner) && self.in_macros.contains(member)
            }
        }
    }

    /// Whether there is a file or folder with this path, or one whose last parts it is. `{a,b}`
    /// stands for both.
    fn has_path(&self, path: &str) -> bool {
        if let Some((before, rest)) = path.split_once('{')
            && let Some((choices, after)) = rest.split_once('}')
        {
            return choices
                .split(',')
                .all(|choice| self.has_path(&format!("{before}{choice}{after}")));
        }
        let parts: Vec<_> = Path::new(path).iter().collect();
        self.files.iter().any(|file| {
            file.iter().collect::<Vec<_>>().windows(parts.len()).any(|window| window == parts)
        })
    }
}

impl<'ast> Visit<'ast> for Code {
    fn visit_item(&mut self, item: &'ast Item) {
        self.names.extend(item_name(item).map(Ident::to_string));
        match item {
            Item::Enum(item) => item.variants.iter().for_each(|variant| {
                self.member(&item.ident.to_string(), &variant.ident);
                self.fields(&variant.ident.to_string(), &variant.fields);
            }),
            Item::Struct(item) => self.fields(&item.ident.to_string(), &item.fields),
            Item::Trait(item) => item.items.iter().for_each(|member| match member {
                TraitItem::Fn(member) => self.member(&item.ident.to_string(), &member.sig.ident),
                TraitItem::Type(member) => self.member(&item.ident.to_string(), &member.ident),
                TraitItem::Const(member) => self.member(&item.ident.to_string(), &member.ident),
                _ => {}
            }),
            Item::Impl(item) => {
                let Type::Path(of) = &*item.self_ty else {
                    return visit::visit_item_impl(self, item);
                };
                let owner =
                    of.path.segments.last().map_or_else(String::new, |last| last.ident.to_string());
                item.items.iter().for_each(|member| match member {
                    ImplItem::Fn(member) => self.member(&owner, &member.sig.ident),
                    ImplItem::Const(member) => self.member(&owner, &member.ident),
                    _ => {}
                });
            }
            _ => {}
        }
        visit::visit_item(self, item);
    }

    fn visit_lit(&mut self, literal: &'ast Lit) {
        if let Lit::Str(text) = literal {
            self.names.insert(text.value());
        }
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.add_tokens(called.tokens.clone());
    }
}

impl Code {
    /// Takes the names that a macro declares, which stand after a keyword, before a colon (fields,
    /// settings) or before an equals sign (variants), and its literals.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut last = None;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.add_tokens(group.stream()),
                TokenTree::Ident(ident) => {
                    if matches!(last.as_deref(), Some("fn" | "struct" | "enum" | "const")) {
                        self.in_macros.insert(ident.to_string());
                    }
                    last = Some(ident.to_string());
                    continue;
                }
                TokenTree::Punct(punct) if matches!(punct.as_char(), ':' | '=') => {
                    self.in_macros.extend(last.take());
                }
                TokenTree::Literal(literal) => {
                    self.in_macros.insert(literal.to_string().trim_matches('"').to_owned());
                }
                TokenTree::Punct(_) => {}
            }
            last = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code() -> Code {
        let mut code = Code { makefile: "layers:\n\ttrue\n".into(), ..Code::default() };
        let text = "
            pub struct Ladder { run: u8 }
            impl Ladder { fn pop(&mut self) {} }
            trait Port { type Wire; fn send(&self); }
            enum Step { Idle }
            const MOST: u8 = 7;
            settings! {
                struct Settings { wire: Wire = Wire::Auto, { rule: \"auto\" } }
                fn table() {}
            }
        ";
        code.add_file("crates/kernel/src/pending/ladder.rs".into(), text).expect("it parses");
        code
    }

    #[test]
    fn readmes_beside_sources_are_found() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let file = |name: &str| root.join("crates/kernel").join(name);
        let found = readmes(
            &root,
            &[
                file("src/gvt/mod.rs"),
                file("src/gvt/gsu.rs"),
                file("src/lib.rs"),
                file("tests/all/main.rs"),
            ],
        );
        assert_eq!(found, [Path::new("crates/kernel/src/gvt/README.md")]);
    }

    #[test]
    fn existing_names_pass() {
        let document = "`Ladder` has `Ladder::run` and `Ladder::pop`, `ladder::Ladder`.\n\
            It is in `pending`, `pending/ladder.rs`, `crates/kernel/src`.\n\
            `Port::send`, `Port::Wire`, `Step::Idle`, `Idle`, `MOST`, `Settings::table`.\n\
            `--wire auto`, `make layers`, `pending.pop(end)`.\n\
            `[0, end)`, `crates/kernel/src/{pending}/`\n```text\n`nothing`\n```\n";
        assert_eq!(code().unknown(document).collect::<Vec<_>>(), []);
    }

    #[test]
    fn a_missing_name_is_found_with_its_line() {
        let names = "Rungs Ladder::rung Port::pop ladder::Step2 pending/heap.rs rungs popped(end) \
            heap::Ladder --wires make_all Step::run";
        for name in names.split(' ') {
            let document = format!("`Ladder`\n```text\n```\nhere is `{name}`\n");
            assert_eq!(code().unknown(&document).collect::<Vec<_>>(), [(4, name)]);
        }
        assert_eq!(code().unknown("`make layer`").count(), 1);
        assert_eq!(code().unknown("`crates/kernel/src/{pending,past}/`").count(), 1);
    }
}
