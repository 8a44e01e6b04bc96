//! Results as tables.

use super::*;
use serde_json::json;

fn page(all: &Value) -> String {
    Rows::of(&all.clone().into(), &BTreeMap::new()).html()
}

#[test]
fn leaves_become_rows() {
    let page = page(&json!({
        "packets_sent": 1234567, "loss": 0.0123456, "note": "<b>", "few": [1, 2.5], "none": {},
        "delay": {"mean": 0.5, "ci95": 0.01, "count": 10}, "queue": {"mean": 2, "ci95": null, "count": 3},
        "by_class": {"gold": {"mean": 1, "ci95": 0, "count": 1}, "total": 3}
    }));
    assert!(page.contains(
        "<th scope=\"row\">packets sent</th><td class=\"num\"><span \
         title=\"1234567\">1\u{202f}234\u{202f}567</span>"
    ));
    assert!(page.contains("<span title=\"0.0123456\">0.01235</span>"));
    assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"));
    assert!(page.contains("1, 2.5"));
    assert!(page.contains("empty"));
    assert!(page.contains("<th scope=\"row\">by class › total</th><td class=\"num\">3</td>"));
    assert_eq!(page.matches("<table").count(), 1, "all in one table");
    assert!(page.contains("<th scope=\"row\">by class › gold</th>"));
    let head = "<td></td><th scope=\"col\" class=\"num\">value or mean</th><th scope=\"col\" \
                class=\"num\">± (95 %)</th><th scope=\"col\" class=\"num\">count</th></tr>";
    assert!(page.contains(head), "{page}");
    assert_eq!(page.matches("half the width of the 95 % confidence interval").count(), 1);
}

#[test]
fn a_model_without_results_gets_a_sentence() {
    for nothing in [json!(null), json!({})] {
        assert_eq!(
            page(&nothing),
            "<p class=\"empty\">The model reports no results of its own.</p>"
        );
    }
    assert!(page(&json!(42)).contains(
        ">value</th></tr></thead><tbody><tr><th scope=\"row\">result</th><td class=\"num\">42</td>"
    ));
}

#[test]
fn rows_beyond_the_limit_are_left_to_the_record() {
    let flood: Map<String, Value> =
        (0..300).map(|index| (format!("k{index}"), json!(index))).collect();
    assert!(page(&Value::Object(flood)).contains("100 more in run.json"));
}

#[test]
fn unit_and_meaning_stand_beside_the_value() {
    let note = |unit: &str, meaning: &str| ResultNote {
        unit: unit.into(),
        meaning: meaning.into(),
        label: false,
    };
    let notes = [
        ("stay".to_owned(), note("h", "time in the <system>")),
        ("links.load".to_owned(), note("", "share")),
    ]
    .into();
    let all = json!({ "stay": { "mean": 2.5, "count": 3 }, "links": [{ "load": 0.5, "name": "a" }, { "load": 0.75, "name": "b" }] });
    let page = Rows::of(&all.into(), &notes).html();
    let stay = "<th scope=\"row\">stay<small>time in the &lt;system&gt;</small></th><td \
                class=\"unit\">h</td><td class=\"num\">2.5</td>";
    assert!(page.contains(stay), "{page}");
    assert!(
        page.contains(
            "<th scope=\"row\">links › load<small>share</small><small>of 2 entries: smallest item \
             0, largest item 1"
        ),
        "{page}"
    );
    assert!(
        !Rows::of(&json!({ "stay": 1 }).into(), &BTreeMap::new()).html().contains("unit"),
        "no unit, no column"
    );
}

#[test]
fn lists_are_summed_up() {
    let cells = |all: Value, row: usize| -> Vec<String> {
        let page = page(&all);
        let row = page
            .split("<tr>")
            .nth(2 + row)
            .unwrap_or_default()
            .replace("</span>", "")
            .replace("</small>", "|");
        let row = row.replace("</th>", "|").replace("</td>", "|");
        row.split('|')
            .map(|cell| cell.rsplit('>').next().unwrap_or_default().to_owned())
            .filter(|cell| !cell.is_empty())
            .collect()
    };
    let over = "of 9 entries: smallest item 0, largest item 8, mean over the entries";
    assert_eq!(
        cells(json!({ "load": (0..9).map(f64::from).collect::<Vec<_>>() }), 0),
        [over, "4", "0", "8", "9"]
    );
    let items = json!({ "load": [{ "mean": 1, "ci95": 9, "count": 1 }, { "mean": 4, "ci95": 9, "count": 3 }, { "mean": null, "count": 0 }] });
    let over = "of 3 entries: smallest item 0 (± 9), largest item 1 (± 9), mean over all their \
                values, 1 without a value";
    assert_eq!(
        cells(items.clone(), 0),
        [over, "3.25", "1", "4", "4"],
        "mean, smallest, largest, count"
    );
    assert_eq!(cells(items, 2), ["load › item 1", "4", "9", "3"], "each item with its interval");
    let runs = json!({ "load": { "mean": 1, "ci95": 9, "count": 1, "runs": 4 } });
    assert_eq!(cells(runs, 0), ["no observation in 3 of 4 runs", "1", "9", "1", "4"]);
    let fields = page(
        &json!({ "links": [{ "load": 1.0, "id": 7, "name": "x" }, { "load": 3.0, "id": 8, "name": "y" }] }),
    );
    assert!(
        fields.contains("2 entries, in run.json") && fields.contains("links › load<small>"),
        "{fields}"
    );
    assert!(!fields.contains("links › name") && !fields.contains("links › id"), "{fields}");
    assert!(page(&json!({ "names": vec!["a"; 9] })).contains("9 entries, in run.json"));
}

#[test]
fn an_interval_that_is_too_narrow_says_so() {
    let narrow = json!({ "mean": 2, "ci95": 0.1, "ci95_note": "too <narrow>" });
    for (all, rows) in [
        (json!({ "stay": narrow }), 1),
        (json!([narrow, narrow]), 3),
        (json!({ "links": [{ "stay": narrow }] }), 1),
    ] {
        let page = page(&all);
        assert_eq!(page.matches("class=\"caution\">!</span></td>").count(), rows, "{page}");
        assert_eq!(page.matches("The interval is too &lt;narrow&gt;.").count(), 1, "{page}");
    }
    let by_hand =
        page(&json!({ "links": [{ "load": 0.5, "ci95": 0.1, "ci95_note": "too narrow" }] }));
    assert!(
        by_hand.contains("links › ci95") && by_hand.matches("caution").count() == 2,
        "{by_hand}"
    );
    assert!(!page(&json!({ "stay": { "mean": 2, "ci95": 0.1 } })).contains("caution"));
}
