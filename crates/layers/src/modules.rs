//! Modules of a crate must not use each other in a circle.
//!
//! A `lib.rs` or `mod.rs` that only re-exports is a facade, not a module: a name imported through it counts as imported from the module
//! that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use syn::visit::{self, Visit};
use syn::{Item, ItemUse, UseTree, Visibility};

use crate::rust_files;

/// Crates that are checked: all but the API, where a model and its context refer to each other, and the tools.
const CRATES: [&str; 10] = ["base", "derive", "memory", "mpi", "rivals", "kernel", "warpline", "models", "report", "cli"];

type Modules = BTreeMap<Vec<String>, syn::File>;
type Graph = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

pub(crate) fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut breaches = Vec::new();
    for name in CRATES {
        let modules = read(&root.join("crates").join(name).join("src"))?;
        let graph = graph(&modules);
        breaches.extend(circle(&graph).map(|circle| format!("modules of crate {name} use each other in a circle: {circle}")));
    }
    Ok(breaches)
}

fn read(source: &Path) -> Result<Modules, String> {
    let mut modules = Modules::new();
    for file in rust_files(source).map_err(|error| format!("{}: {error}", source.display()))? {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let parsed = syn::parse_file(&text).map_err(|error| format!("{}: {error}", file.display()))?;
        let relative = file.strip_prefix(source).unwrap_or(&file).with_extension("");
        let mut path: Vec<String> = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
        if path.last().is_some_and(|last| last == "mod" || last == "lib") {
            path.pop();
        }
        modules.insert(path, parsed);
    }
    Ok(modules)
}

/// Which module uses which.
fn graph(modules: &Modules) -> Graph {
    let mut graph = Graph::new();
    for (path, file) in modules {
        let mut found = UseCollector { module: path, paths: Vec::new() };
        found.visit_file(file);
        let targets = found.paths.iter().filter_map(|used| resolve(modules, used)).filter(|target| target != path);
        // A facade is above its own modules.
        let targets = targets.filter(|target| !target.starts_with(path));
        graph.insert(path.clone(), targets.collect());
    }
    graph
}

/// The module that defines what a path from the crate's root names.
fn resolve(modules: &Modules, path: &[String]) -> Option<Vec<String>> {
    let depth = (0..=path.len()).rev().find(|&depth| modules.contains_key(&path[..depth]))?;
    let module = path[..depth].to_vec();
    let Some(name) = path.get(depth) else { return Some(module) };
    for item in &modules[&module].items {
        if let Item::Use(ItemUse { vis: Visibility::Public(_) | Visibility::Restricted(_), tree, .. }) = item {
            for handed in flatten(tree) {
                if handed.last() == Some(name) {
                    let from: Vec<String> = module.iter().cloned().chain(handed).collect();
                    return resolve(modules, &from);
                }
            }
        }
    }
    Some(module)
}

/// The paths used in one file, from the crate's root.
struct UseCollector<'a> {
    module: &'a [String],
    paths: Vec<Vec<String>>,
}

impl UseCollector<'_> {
    fn add(&mut self, path: &[String]) {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let root = match path.first().map(String::as_str) {
            Some("crate") => return self.paths.push(path[1..].to_vec()),
            Some("super") if ups <= self.module.len() => &self.module[..self.module.len() - ups],
            _ => return,
        };
        self.paths.push(root.iter().chain(&path[ups..]).cloned().collect());
    }
}

impl<'ast> Visit<'ast> for UseCollector<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        flatten(&item.tree).iter().for_each(|path| self.add(path));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        self.add(&parts);
        visit::visit_path(self, path);
    }

    /// Tests may use anything.
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }
}

fn flatten(tree: &UseTree) -> Vec<Vec<String>> {
    match tree {
        UseTree::Path(path) => flatten(&path.tree).into_iter().map(|rest| [vec![path.ident.to_string()], rest].concat()).collect(),
        UseTree::Group(group) => group.items.iter().flat_map(flatten).collect(),
        UseTree::Name(name) => vec![vec![name.ident.to_string()]],
        UseTree::Rename(rename) => vec![vec![rename.ident.to_string()]],
        UseTree::Glob(_) => vec![vec![]],
    }
}

/// A circle in the graph, in words.
fn circle(graph: &Graph) -> Option<String> {
    let mut done = BTreeSet::new();
    graph.keys().find_map(|start| search(graph, start, &mut Vec::new(), &mut done))
}

fn search<'a>(
    graph: &'a Graph,
    at: &'a Vec<String>,
    trail: &mut Vec<&'a Vec<String>>,
    done: &mut BTreeSet<&'a Vec<String>>,
) -> Option<String> {
    if let Some(from) = trail.iter().position(|seen| *seen == at) {
        let names = trail[from..].iter().chain([&at]).map(|module| if module.is_empty() { "lib".into() } else { module.join("::") });
        return Some(names.collect::<Vec<String>>().join(" -> "));
    }
    if !done.contains(at) {
        trail.push(at);
        for next in graph.get(at).into_iter().flatten() {
            if let Some(circle) = search(graph, next, trail, done) {
                return Some(circle);
            }
        }
        trail.pop();
        done.insert(at);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Option<String> {
        let path = |name: &str| name.split("::").filter(|part| !part.is_empty()).map(str::to_owned).collect();
        let modules = files.iter().map(|(name, text)| (path(name), syn::parse_file(text).unwrap())).collect();
        circle(&graph(&modules))
    }

    #[test]
    fn circles_are_found_through_facades() {
        let one_way = [("", "mod a; mod b; pub use a::A; pub use b::B;"), ("a", "use crate::B;"), ("b", "pub struct B;")];
        assert_eq!(found(&one_way), None);
        let circle =
            [("", "mod a; mod b; pub use a::A; pub use b::B;"), ("a", "use crate::B; pub struct A;"), ("b", "fn f(_: crate::A) {}")];
        assert_eq!(found(&circle).unwrap(), "a -> b -> a");
        let tests = [("", "mod a; mod b;"), ("a", "use crate::b::B;"), ("b", "mod tests { use crate::a::A; }")];
        assert_eq!(found(&tests), None);
        let siblings = [("", "mod p;"), ("p", "mod x; mod y;"), ("p::x", "use super::y::Y;"), ("p::y", "use super::x::X;")];
        assert!(found(&siblings).is_some());
    }
}
