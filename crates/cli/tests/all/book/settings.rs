//! The chapter on settings names every setting, with its default.

use warpline::Settings;

use super::document;

#[test]
fn every_setting_is_told_with_its_default() {
    let chapter = document("docs/book/src/settings.md");
    let row =
        |name: &str| chapter.lines().find(|line| line.starts_with(&format!("| `--{name}` |")));
    for setting in Settings::table() {
        let row = row(&setting.name)
            .unwrap_or_else(|| panic!("settings.md has no row for --{}", setting.name));
        let in_bold = format!("**`{}`**", setting.default);
        let is_value = setting.default.split(' ').count() == 1 && !setting.default.is_empty();
        assert!(
            !is_value || row.contains(&in_bold),
            "--{}: the default is {in_bold}, but: {row}",
            setting.name
        );
        let untold: Vec<_> =
            setting.words.iter().filter(|word| !row.contains(&format!("`{word}`"))).collect();
        assert!(untold.is_empty(), "--{}: {untold:?} not in: {row}", setting.name);
    }
    let known = |name: &str| Settings::table().iter().any(|setting| setting.name == name);
    let named = chapter.lines().filter_map(|line| line.strip_prefix("| `--")?.split('`').next());
    assert_eq!(
        named.filter(|name| !known(name)).collect::<Vec<_>>(),
        Vec::<&str>::new(),
        "there are no such settings"
    );
}
