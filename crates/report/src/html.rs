//! Text on its way into a page: escaped, encoded, and filled into templates.

use serde::Serialize;

/// `text` for use between tags or inside a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // HTML has no way to write this character.
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// `value` as JSON for a `<script>` element: nothing in it closes the element or opens a comment.
pub(crate) fn script_json<T: Serialize>(value: &T) -> String {
    // The types passed in hold only text-keyed maps, text and numbers.
    let json = serde_json::to_string(value)
        .unwrap_or_else(|error| unreachable!("the page's data is plain JSON: {error}"));
    json.replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// A file name as a relative link: everything but letters, digits, `-`, `.`, `_` and `~` is
/// percent-encoded.
pub(crate) fn relative_link(name: &str) -> String {
    let mut out = String::from("./");
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte))
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

/// `template` with every `{{name}}` replaced by its value, in one pass: what is inserted is not
/// scanned again.
pub(crate) fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(
        template.len() + values.iter().map(|(_, value)| value.len()).sum::<usize>(),
    );
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else {
            unreachable!("the template closes what it opens")
        };
        let Some((_, value)) = values.iter().find(|(known, _)| *known == name) else {
            unreachable!("the template asks for {name}")
        };
        out.push_str(before);
        out.push_str(value);
        rest = after;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaping_leaves_no_markup() {
        assert_eq!(
            escape(r#"<script>alert('1' & "2")</script>"#),
            "&lt;script&gt;alert(&#39;1&#39; &amp; &quot;2&quot;)&lt;/script&gt;"
        );
        assert_eq!(escape("Zürich → 東京\0"), "Zürich → 東京\u{fffd}");
    }

    #[test]
    fn json_stays_inside_its_element() {
        let hostile = "</script><!-- \u{2028}\u{2029} <ScRiPt>";
        let json = script_json(&hostile);
        assert!(!json.contains(['<', '\u{2028}', '\u{2029}']), "{json}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), hostile);
        assert_eq!(script_json(&[f64::NAN, f64::INFINITY, 1.5]), "[null,null,1.5]");
    }

    #[test]
    fn links_are_relative_and_encoded() {
        assert_eq!(relative_link("packets.csv"), "./packets.csv");
        assert_eq!(relative_link("javascript:é \"<.csv"), "./javascript%3A%C3%A9%20%22%3C.csv");
    }

    #[test]
    fn filling_is_one_pass() {
        assert_eq!(fill("a {{x}} b {{y}} c", &[("x", "{{y}}"), ("y", "2")]), "a {{y}} b 2 c");
    }
}
