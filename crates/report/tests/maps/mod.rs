//! Maps: coasts, names, and closer looks.

use super::{assert_quiet, shown};
use crate::chromium::Chromium;
use crate::common::sample;
use serde_json::json;
use warpline_record::{MapNode, View};

#[test]
fn maps_zoom_by_button_and_copy_works() {
    let (mut browser, _dir) = shown(&sample());
    let drawn = "document.querySelector('.map svg').outerHTML";
    let whole = browser.eval(drawn);
    browser.eval("document.querySelector('[data-zoom=in]').click()");
    browser.wait_for(&format!("{drawn} !== {whole}"));
    browser.eval("document.querySelector('[data-zoom=all]').click()");
    browser.wait_for("echarts.getInstanceByDom(document.querySelector('.map')).getOption().dataZoom.every((zoom) \
                      => zoom.start === 0 && zoom.end === 100)");
    browser.call(
        "Browser.grantPermissions",
        json!({"permissions": ["clipboardSanitizedWrite", "clipboardReadWrite"]}),
    );
    browser.call("Page.bringToFront", json!({}));
    browser.eval("document.querySelector('[data-copy]').click()");
    browser.wait_for("document.querySelector('[data-copy]').textContent === 'Copied'");
    assert_quiet(&browser);
}

#[test]
fn maps_have_coasts_and_say_which_names_are_hidden() {
    let mut record = sample();
    let View::Map(map) = &mut record.views[0] else { panic!("the map comes first") };
    // Neighbours of Paris whose names have no room.
    let near = (0..5).map(|index| MapNode {
        name: format!("Suburb number {index}"),
        longitude: 2.36 + 0.01 * f64::from(index),
        latitude: 48.87,
    });
    map.nodes.extend(near);
    let all = map.nodes.len();
    let (mut browser, _dir) = shown(&record);
    let lines = |colour: &str| {
        format!(
            "[...document.querySelectorAll('.map svg path')].filter((path) => \
             path.getAttribute('stroke') === \
             getComputedStyle(document.documentElement).getPropertyValue('--{colour}').trim()).length"
        )
    };
    assert!(
        browser.eval(&lines("coast")).as_u64() > Some(5)
            && browser.eval(&lines("border")).as_u64() > Some(10)
    );
    let names = "[...document.querySelectorAll('.map svg text')].filter((text) => \
                 /^[A-Z][a-z]{3}/.test(text.textContent)).length";
    let status = "document.querySelector('[data-named]').textContent";
    let choose = |browser: &mut Chromium, names: &str| {
        let select = "document.querySelector('[data-names]')";
        browser.eval(&format!(
            "{select}.value = '{names}'; {select}.dispatchEvent(new Event('change'))"
        ));
    };
    let fitting = browser.eval(names).as_u64().unwrap() as usize;
    assert!(fitting > 5 && fitting < all, "{fitting} of {all}");
    assert_eq!(
        browser.eval(status),
        json!(format!("{} of {all} in sight are hidden: no room", all - fitting))
    );
    choose(&mut browser, "all");
    assert_eq!(
        (browser.eval(names), browser.eval(status)),
        (json!(all), json!(format!("all {all} in sight")))
    );
    choose(&mut browser, "none");
    assert_eq!(
        (browser.eval(names), browser.eval(status)),
        (json!(0), json!(format!("{all} hidden")))
    );
    choose(&mut browser, "fit");
    assert_eq!(browser.eval(names), json!(fitting));
    assert_quiet(&browser);
}
