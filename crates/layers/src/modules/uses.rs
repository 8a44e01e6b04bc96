//! Which file of a crate uses which: through `use`, through paths in code, and through names among
//! the tokens of macros and attributes.
//!
//! A name that is imported from a module that only re-exports it counts as imported from the module
//! that defines it. Methods are not seen, as their types are not known here. But a caller of a
//! method has mostly named its type, too.

use std::collections::BTreeMap;

use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, ImplItem, ItemUse, Meta, TraitItem};

use super::tree::{Imported, Module, Names, Tree, hands_on, imports, is_for_tests};

/// For each file and each file that it uses: one of the names that it uses.
pub(crate) type Uses = BTreeMap<(Names, Names), String>;

/// How many times a name may be re-exported before it counts as not found. Imports can refer to
/// each other in circles.
const DEPTH: usize = 16;

pub(crate) fn uses(tree: &Tree) -> Uses {
    let mut uses = Uses::new();
    for (path, module) in &tree.modules {
        let mut found = Collector { tree, path, module, used: Vec::new() };
        module.items.iter().for_each(|item| found.visit_item(item));
        for (target, name) in found.used {
            let home = &tree.modules[&target].home;
            if *home != module.home {
                uses.entry((module.home.clone(), home.clone())).or_insert(name);
            }
        }
    }
    uses
}

impl Tree {
    /// The module that defines what a path names, as the path is written in the module `within`.
    /// `None` if that is not of this crate.
    fn find(&self, within: &[String], path: &[String]) -> Option<Names> {
        self.define(&self.absolute(within, path, DEPTH)?, DEPTH)
    }

    /// The same path from the crate's root.
    fn absolute(&self, within: &[String], path: &[String], depth: usize) -> Option<Names> {
        let (first, rest) = path.split_first()?;
        let depth = depth.checked_sub(1)?;
        let below = |start: &[String], rest: &[String]| Some([start, rest].concat());
        match first.as_str() {
            "crate" => return Some(rest.to_vec()),
            "self" => return below(within, rest),
            "super" => {
                let ups = path.iter().take_while(|part| *part == "super").count();
                return below(&within[..within.len().checked_sub(ups)?], &path[ups..]);
            }
            _ => {}
        }
        let module = self.modules.get(within)?;
        let own = [within, std::slice::from_ref(first)].concat();
        if module.defined.contains(first) || self.modules.contains_key(&own) {
            return below(within, path);
        }
        if let Some(import) = module.imports.get(first) {
            // A name that is imported from a crate of the same name is that crate.
            if import.path.first() == Some(first) {
                return None;
            }
            return below(&self.absolute(within, &import.path, depth)?, rest);
        }
        module.globs.iter().find_map(|glob| {
            let from = self.absolute(within, glob, depth)?;
            self.hands_out(&from, first, within, depth).then(|| below(&from, path))?
        })
    }

    /// Whether `use module::*` in the module `to` brings in a name, which may be defined in
    /// `module` or re-exported by it.
    fn hands_out(&self, module: &[String], name: &String, to: &[String], depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return false };
        let own = [module, std::slice::from_ref(name)].concat();
        if self.modules.contains_key(&own) {
            return true;
        }
        let Some(found) = self.modules.get(module) else { return false };
        let is_seen = |import: &Imported| import.handed_on || to.starts_with(module);
        if found.defined.contains(name) || found.imports.get(name).is_some_and(is_seen) {
            return true;
        }
        let mut globs = found.globs.iter().filter_map(|glob| self.absolute(module, glob, depth));
        globs.any(|from| self.hands_out(&from, name, module, depth))
    }

    /// The module that defines what a path from the root names.
    fn define(&self, path: &[String], depth: usize) -> Option<Names> {
        let length =
            (0..=path.len()).rev().find(|&length| self.modules.contains_key(&path[..length]))?;
        let (module, rest) = path.split_at(length);
        let Some(name) = rest.first() else { return Some(module.to_vec()) };
        let found = &self.modules[module];
        if found.defined.contains(name) {
            return Some(module.to_vec());
        }
        let next = if found.imports.contains_key(name) {
            self.absolute(module, rest, depth)
        } else {
            let from = found.globs.iter().filter_map(|glob| self.absolute(module, glob, depth));
            from.into_iter()
                .find(|from| self.hands_out(from, name, module, depth))
                .map(|from| [from.as_slice(), rest].concat())
        };
        let defined = next.and_then(|next| self.define(&next, depth.checked_sub(1)?));
        // A name that a module re-exports from another crate, or that a macro defines, counts as
        // the module's own.
        defined
            .or_else(|| self.macros.get(name).filter(|_| module.is_empty()).cloned())
            .or_else(|| Some(module.to_vec()))
    }
}

/// Collects what one module uses.
struct Collector<'a> {
    tree: &'a Tree,
    path: &'a Names,
    module: &'a Module,
    used: Vec<(Names, String)>,
}

impl Collector<'_> {
    fn add(&mut self, path: &[String]) {
        if let [name] = path {
            let own = [self.path.as_slice(), path].concat();
            // A single name that is also that of a module is a variable: a module is never used
            // alone. `crate` alone is part of a visibility.
            if name == "crate"
                || self.tree.modules.contains_key(&own)
                || self.module.imports.get(name).is_some_and(|import| self.is_module(&import.path))
            {
                return;
            }
        }
        if let Some(target) = self.tree.find(self.path, path) {
            self.used.push((target, path.join("::")));
        }
    }

    fn is_module(&self, path: &[String]) -> bool {
        self.tree
            .absolute(self.path, path, DEPTH)
            .is_some_and(|path| self.tree.modules.contains_key(&path))
    }

    /// Takes all paths among tokens. What follows a dot is a field or a method.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Names = Vec::new();
        let mut colons = 0;
        let mut is_member = false;
        // It ends the last path.
        let end = TokenTree::Punct(Punct::new(';', Spacing::Alone));
        for token in tokens.into_iter().chain([end]) {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons += 1;
                    continue;
                }
                // `$crate` is `crate`.
                TokenTree::Punct(punct) if punct.as_char() == '$' && path.is_empty() => continue,
                TokenTree::Ident(ident) if is_member => drop(ident),
                TokenTree::Ident(ident) => {
                    if colons != 2 {
                        self.add(&std::mem::take(&mut path));
                        path.push(ident.to_string());
                    } else if !path.is_empty() {
                        path.push(ident.to_string());
                    }
                    colons = 0;
                    continue;
                }
                TokenTree::Group(group) => {
                    let mut before = std::mem::take(&mut path);
                    if colons == 2 && !before.is_empty() {
                        self.add_group(&before, group.stream());
                        before.clear();
                    }
                    self.add(&before);
                    self.add_tokens(group.stream());
                }
                TokenTree::Punct(punct) => {
                    self.add(&std::mem::take(&mut path));
                    is_member = punct.as_char() == '.';
                    colons = 0;
                    continue;
                }
                TokenTree::Literal(_) => self.add(&std::mem::take(&mut path)),
            }
            colons = 0;
            is_member = false;
        }
    }

    /// Takes `before::{a, b::c}`, as a `use` among tokens has it.
    fn add_group(&mut self, before: &[String], group: TokenStream) {
        let mut rest: Names = Vec::new();
        for token in group {
            match token {
                TokenTree::Ident(ident) => rest.push(ident.to_string()),
                TokenTree::Punct(punct) if punct.as_char() == ',' => {
                    self.add(&[before, &std::mem::take(&mut rest)].concat());
                }
                TokenTree::Group(group) => {
                    self.add_group(&[before, &rest].concat(), group.stream())
                }
                _ => {}
            }
        }
        self.add(&[before, &rest].concat());
    }

    /// Takes paths in the strings of an attribute, as in those of serde.
    fn add_strings(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.add_strings(group.stream()),
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    if let Ok(tokens) = text.trim_matches('"').parse::<TokenStream>()
                        && text.contains("::")
                    {
                        self.add_tokens(tokens);
                    }
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        for import in imports(item) {
            let Some(target) = self.tree.find(self.path, &import.path) else { continue };
            // Re-exporting a name from a module below is not a use of that module.
            if !(hands_on(item) && target.starts_with(self.path)) {
                self.used.push((target, import.path.join("::")));
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        if path.leading_colon.is_none() {
            let parts: Names =
                path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.add(&parts);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        let name =
            called.path.segments.iter().map(|segment| segment.ident.to_string()).collect::<Names>();
        match (name.as_slice(), name.first().and_then(|name| self.tree.macros.get(name))) {
            ([name], Some(module)) if !self.module.defined.contains(name) => {
                self.used.push((module.clone(), format!("{name}!")))
            }
            _ => self.add(&name),
        }
        self.add_tokens(called.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let Meta::List(list) = &attribute.meta {
            self.add_tokens(list.tokens.clone());
            self.add_strings(list.tokens.clone());
        }
    }

    /// A visibility is not a use.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        let attributes = match item {
            ImplItem::Const(item) => &item.attrs,
            ImplItem::Fn(item) => &item.attrs,
            _ => return visit::visit_impl_item(self, item),
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if !matches!(item, TraitItem::Fn(item) if is_for_tests(&item.attrs)) {
            visit::visit_trait_item(self, item);
        }
    }
}
