//! The modules of a crate, found as the compiler finds them: by following `mod` items from the
//! root. Modules of tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Attribute, Item, ItemMod, ItemUse, Meta, UseTree, Visibility};

use crate::items::item_name;

/// The names from the crate's root to a module or an item.
pub(crate) type Names = Vec<String>;

/// The text of each source file of a crate, by its path below `src`.
pub(crate) type Sources = BTreeMap<PathBuf, String>;

/// A module, either a file or inline.
pub(crate) struct Module {
    pub(crate) items: Vec<Item>,
    /// The module of the file in which this one stands.
    pub(crate) home: Names,
    /// The names that `use` items bring in.
    pub(crate) imports: BTreeMap<String, Imported>,
    /// The paths of `use path::*`, as written.
    pub(crate) globs: Vec<Names>,
    /// The items that are defined here.
    pub(crate) defined: BTreeSet<String>,
}

pub(crate) struct Imported {
    /// As written.
    pub(crate) path: Names,
    /// Whether modules outside this one may see it here.
    pub(crate) handed_on: bool,
}

/// One library or program of a crate.
#[derive(Default)]
pub(crate) struct Tree {
    pub(crate) modules: BTreeMap<Names, Module>,
    /// Where each macro of the crate is defined. Macros can be called below their module without a
    /// path.
    pub(crate) macros: BTreeMap<String, Names>,
}

/// The trees below `lib.rs` and `main.rs`. A file that belongs to neither is an error, as nothing
/// would check it.
pub(crate) fn trees(sources: &Sources) -> Result<Vec<Tree>, String> {
    let mut reached = BTreeSet::new();
    let mut trees = Vec::new();
    for root in ["lib.rs", "main.rs"].map(PathBuf::from) {
        if sources.contains_key(&root) {
            let mut reader = Reader { sources, reached: &mut reached, tree: Tree::default() };
            reader.file(
                &root,
                Place {
                    module: Vec::new(),
                    folder: PathBuf::new(),
                    home: Vec::new(),
                    is_test: false,
                },
            )?;
            trees.push(reader.tree);
        }
    }
    match sources.keys().find(|file| !reached.contains(*file)) {
        Some(file) => Err(format!("no module of the crate is {}", file.display())),
        None => Ok(trees),
    }
}

struct Reader<'a> {
    sources: &'a Sources,
    reached: &'a mut BTreeSet<PathBuf>,
    tree: Tree,
}

/// Where the reader is.
struct Place {
    module: Names,
    /// The folder in which files of the modules below this one lie.
    folder: PathBuf,
    home: Names,
    is_test: bool,
}

impl Reader<'_> {
    fn file(&mut self, file: &Path, place: Place) -> Result<(), String> {
        let parsed = syn::parse_file(&self.sources[file])
            .map_err(|error| format!("{}: {error}", file.display()))?;
        self.reached.insert(file.to_owned());
        let is_test = place.is_test || is_for_tests(&parsed.attrs);
        self.module(file, parsed.items, Place { is_test, ..place })
    }

    fn module(&mut self, file: &Path, items: Vec<Item>, place: Place) -> Result<(), String> {
        let mut module = Module {
            items: Vec::new(),
            home: place.home.clone(),
            imports: BTreeMap::new(),
            globs: Vec::new(),
            defined: BTreeSet::new(),
        };
        for item in items {
            let is_test = place.is_test || is_for_tests(attributes(&item));
            match item {
                Item::Mod(item) => self.child(file, item, &place, is_test)?,
                _ if is_test => {}
                item => {
                    self.note_names(&mut module, &item, &place.module);
                    module.items.push(item);
                }
            }
        }
        if !place.is_test {
            self.tree.modules.insert(place.module, module);
        }
        Ok(())
    }

    fn child(
        &mut self,
        file: &Path,
        item: ItemMod,
        place: &Place,
        is_test: bool,
    ) -> Result<(), String> {
        let name = item.ident.to_string();
        let module = [place.module.clone(), vec![name.clone()]].concat();
        let folder = place.folder.join(&name);
        if let Some((_, items)) = item.content {
            return self.module(
                file,
                items,
                Place { module, folder, home: place.home.clone(), is_test },
            );
        }
        let mut candidates = vec![folder.with_extension("rs"), folder.join("mod.rs")];
        candidates.extend(
            other_path(&item.attrs).map(|path| file.parent().unwrap_or(Path::new("")).join(path)),
        );
        let found = candidates.iter().rev().find(|candidate| self.sources.contains_key(*candidate));
        let found = found
            .ok_or_else(|| format!("{}: there is no file for `mod {name}`", file.display()))?;
        self.file(found, Place { home: module.clone(), module, folder, is_test })
    }

    fn note_names(&mut self, module: &mut Module, item: &Item, path: &[String]) {
        match item {
            Item::Use(item) => {
                let handed_on = hands_on(item);
                for Import { name, path } in imports(item) {
                    match name {
                        Some(name) => {
                            drop(module.imports.insert(name, Imported { path, handed_on }))
                        }
                        None => module.globs.push(path),
                    }
                }
            }
            Item::Macro(item) => {
                if let Some(name) = &item.ident {
                    self.tree.macros.insert(name.to_string(), path.to_vec());
                    module.defined.insert(name.to_string());
                }
            }
            item => module.defined.extend(item_name(item).map(ToString::to_string)),
        }
    }
}

/// One name that a `use` item brings in, or all of a module.
pub(crate) struct Import {
    /// Its name where it is imported. `None` for `*`.
    pub(crate) name: Option<String>,
    pub(crate) path: Names,
}

pub(crate) fn imports(item: &ItemUse) -> Vec<Import> {
    // `use ::name` begins at another crate.
    if item.leading_colon.is_some() { Vec::new() } else { flatten(&item.tree, &[]) }
}

fn flatten(tree: &UseTree, before: &[String]) -> Vec<Import> {
    let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &with(&path.ident)),
        UseTree::Group(group) => {
            group.items.iter().flat_map(|tree| flatten(tree, before)).collect()
        }
        UseTree::Name(name) if name.ident == "self" => {
            vec![Import { name: before.last().cloned(), path: before.to_vec() }]
        }
        UseTree::Name(name) => {
            vec![Import { name: Some(name.ident.to_string()), path: with(&name.ident) }]
        }
        UseTree::Rename(rename) if rename.ident == "self" => {
            vec![Import { name: Some(rename.rename.to_string()), path: before.to_vec() }]
        }
        UseTree::Rename(rename) => {
            vec![Import { name: Some(rename.rename.to_string()), path: with(&rename.ident) }]
        }
        UseTree::Glob(_) => vec![Import { name: None, path: before.to_vec() }],
    }
}

/// Whether a `use` item re-exports its names.
pub(crate) fn hands_on(item: &ItemUse) -> bool {
    !matches!(item.vis, Visibility::Inherited)
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute such as `#[cfg(test)]` keeps something out of the product.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => asks_for_test(list.tokens.clone()),
        _ => false,
    })
}

fn asks_for_test(condition: TokenStream) -> bool {
    let mut negated = false;
    for token in condition {
        match token {
            TokenTree::Ident(ident) if ident == "test" => return true,
            TokenTree::Group(group) if !negated && asks_for_test(group.stream()) => return true,
            token => negated = matches!(token, TokenTree::Ident(ident) if ident == "not"),
        }
    }
    false
}

/// The file that `#[path = "…"]` names.
fn other_path(attributes: &[Attribute]) -> Option<String> {
    let attribute = attributes.iter().find(|attribute| attribute.path().is_ident("path"))?;
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(path), .. }) = &pair.value else {
        return None;
    };
    Some(path.value())
}
