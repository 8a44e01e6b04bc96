//! Experiments from the literature.

use tempfile::tempdir;

use crate::support::{warpline, warpline_in};

#[test]
fn studies_are_listed_with_the_time_that_they_take() {
    let listed = warpline("study");
    assert!(
        listed.stdout.contains("usik/rcphold") && listed.stdout.contains("takes about"),
        "{}",
        listed.stdout
    );
    let json = warpline("study --json").json();
    let first = &json["studies"][0];
    assert_eq!((&first["name"], &first["model"]), (&"usik/rcphold".into(), &"phold".into()));
    assert!(
        first["seconds"].as_f64().unwrap() > 1.0
            && first["claim"].as_str().unwrap().contains("1.5 times"),
        "{first}"
    );
    let names: Vec<&str> = json["studies"]
        .as_array()
        .unwrap()
        .iter()
        .map(|study| study["name"].as_str().unwrap())
        .collect();
    let expected = "usik/rcphold usik/lookahead usik/216000 usik/figure-14 usik/figure-15 \
                    usik/figure-16 usik/figure-17 usik/figure-18 usik/figure-19 usik/figure-20 \
                    usik/figure-21 usik/strong-scaling usik/noise usik/gvt mupi/barrier mupi/ping \
                    gsu/message-size gsu/lps gsu/network gsu/hardware gsu/simplesim \
                    ross-mt/processes-and-threads ross-mt/optimisations ross-mt/breakdown \
                    ross-mt/message-size ross-mt/speed-up gtw/send-time gtw/rate gtw/neighbours \
                    gtw/memory gtw/hypercube gtw/pcs knl/variants knl/cas \
                    knl/threads-per-communicator knl/gvt-interval defaults";
    assert_eq!(names.join(" "), expected);
    warpline("study usik/rcpold")
        .is_wrong_use(&["there is no study `usik/rcpold`; did you mean `usik/rcphold`?"]);
    warpline("study usik/rcphold --threads 1").is_wrong_use(&["--threads"]);
}

/// All structures, synchronisations, lookaheads and GVT algorithms are run, and give one answer under
/// each condition.
#[test]
fn a_study_measures_all_cases() {
    let place = tempdir().unwrap();
    let done = warpline_in(
        place.path(),
        &[
            "study",
            "usik/rcphold",
            "--quick",
            "--threads",
            "3",
            "--json",
            "--quiet",
            "--report",
            "out",
        ],
    );
    assert_eq!((done.code, done.stderr.as_str()), (0, ""));
    let json = done.json();
    let cases = json["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 2 * 2 * 4 * 4);
    for four in cases.chunks(4) {
        let variants: Vec<_> = four.iter().map(|case| case["variant"].as_str().unwrap()).collect();
        assert_eq!(variants, ["usik-2s", "usik-2a", "usik-1a", "gsu"]);
        assert!(
            four.iter().all(|case| case["digest"] == four[0]["digest"]
                && case["condition"] == four[0]["condition"]),
            "{four:?}"
        );
        assert!(four.iter().all(|case| case["speedup"].as_f64().unwrap() > 0.0), "{four:?}");
        assert!(
            four.iter().all(|case| case["event_rate"].as_f64().unwrap() > 0.0
                && case["gvt_epochs"].as_f64().unwrap() > 0.0),
            "{four:?}"
        );
    }
    assert_eq!(
        (&json["pes"], &json["quick"], json["measured"].as_array().unwrap().len()),
        (&3.into(), &true.into(), 3)
    );
    let page = std::fs::read_to_string(place.path().join("out/report.html")).unwrap();
    assert!(
        page.contains("Claim and measurement") && page.contains("one-sided"),
        "the report lacks something"
    );
}
