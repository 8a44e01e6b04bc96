//! Settings as they are typed.

use super::*;

fn read(name: &str, text: &str) -> Result<Settings, String> {
    let given =
        GivenSetting { name: name.into(), text: text.into(), place: Some("a.toml:3".into()) };
    Settings::read(&[given]).map_err(|failure| failure.message)
}

#[test]
fn values_get_their_meaning() {
    assert_eq!(read("end", "2e3").unwrap().simulation.end, Some(2000.0));
    assert_eq!(read("runs", "4294967295").unwrap().command.runs, Some(u32::MAX));
    assert_eq!(read("report", "out").unwrap().command.report, Some("out".into()));
    assert_eq!((Settings::default().command.runs(), Settings::default().command.report), (3, None));
}

#[test]
fn several_threads_mean_an_optimistic_run_unless_told_otherwise() {
    let chosen = |pairs: &[(&str, &str)]| {
        Settings::typed(pairs).simulation.synchronisation().map(|sync| sync.name())
    };
    assert_eq!(chosen(&[]), Ok("auto"));
    assert_eq!(chosen(&[("threads", "1")]), Ok("sequential"));
    assert_eq!(chosen(&[("threads", "1"), ("batch", "4")]), Ok("optimistic"));
    assert_eq!(chosen(&[("threads", "2")]), Ok("optimistic"));
    assert_eq!(chosen(&[("threads", "1"), ("sync", "sequential")]), Ok("sequential"));
    assert_eq!(chosen(&[("sync", "optimistic"), ("threads", "1")]), Ok("optimistic"));
    let refused = chosen(&[("threads", "2"), ("sync", "sequential")]).unwrap_err().to_string();
    assert!(
        refused.starts_with(
            "`sync` is `sequential`, but `threads` is `2`: a sequential run has one thread"
        ),
        "{refused}"
    );
}

#[test]
fn a_comparison_has_the_settings_of_a_run_but_for_its_output() {
    let names = |settings: &[Setting]| {
        settings.iter().map(|setting| setting.name.clone()).collect::<Vec<_>>()
    };
    let mut expected = of_run();
    expected.retain(|setting| {
        (setting.heading != "Output" || setting.name == REPORT)
            && ![REPLICATIONS, SCALING, SENSITIVITY].contains(&&*setting.name)
    });
    assert_eq!(
        names(&of_compare()),
        [&[RUNS.to_owned(), WITH.to_owned()], &names(&expected)[..]].concat()
    );
    let outputs: Vec<_> = of_run().into_iter().filter(is_output).collect();
    assert_eq!(
        names(&outputs),
        ["trace", "trace-limit", "state-digest", "follow", "follow-limit", "report"]
    );
}

#[test]
fn no_name_is_taken_twice() {
    let mut names: Vec<String> = of_run()
        .into_iter()
        .chain(of_compare())
        .chain(of_explain())
        .chain(of_verify())
        .chain(of_torture())
        .map(|setting| setting.name)
        .collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), warpline_run::Settings::table().len() + CommandSettings::table().len());
}

#[test]
fn refused_values_say_where_and_what_they_may_be() {
    assert!(
        read("end", "soon")
            .unwrap_err()
            .starts_with("a.toml:3: `end` cannot be `soon`: it takes a finite number")
    );
    assert!(
        read("undo", "revers")
            .unwrap_err()
            .ends_with("it takes one of copy, reverse, journal; did you mean `reverse`?")
    );
    assert!(read("report", "").unwrap_err().contains("the path of a directory"));
    assert!(read("trace", "").unwrap_err().contains("the path of a file"));
    for name in ["threads", "batch", "kps", "gvt-interval", "copy-interval", "runs", "replications"]
    {
        let most = if name == "threads" { "262144, as each PE" } else { "4294967295" };
        for text in ["0", "-1", "1.5", "4294967296", "many"] {
            let expected = format!(
                "a.toml:3: `{name}` cannot be `{text}`: it takes a whole number from 1 to {most}"
            );
            assert!(read(name, text).unwrap_err().starts_with(&expected));
        }
    }
}

#[test]
fn every_setting_is_read() {
    for setting in of_run()
        .iter()
        .chain(&of_verify())
        .chain(&of_compare())
        .chain(&of_explain())
        .chain(&of_torture())
    {
        let typed = match setting.name.as_str() {
            WITH => "optimistic",
            "communication-batch" => "512",
            "memory" => "50%",
            MACHINE_SCALE => "event=7",
            _ => "7",
        };
        let text = setting.words.first().unwrap_or(&typed);
        assert!(read(&setting.name, text).is_ok(), "{}", setting.name);
    }
}

#[test]
fn engines_are_a_list_of_words() {
    let read = |text: &str| read("with", text).map(|settings| settings.command.with.unwrap());
    let engines = |text: &str| read(text).map(|with| with.engines);
    let sequential = Synchronisation::Sequential;
    let optimistic = Synchronisation::Optimistic;
    assert_eq!(engines("optimistic"), Ok(vec![optimistic]));
    assert_eq!(engines("optimistic, sequential,optimistic"), Ok(vec![optimistic, sequential]));
    let with = read("mpi,optimistic,threads,mpi,mpi-copies,processes").unwrap();
    assert_eq!(
        (&with.engines, &with.ways),
        (&vec![optimistic], &vec![Way::Mpi, Way::Threads, Way::MpiCopies, Way::Processes])
    );
    assert_eq!(with.text(), "optimistic,mpi,threads,mpi-copies,processes");
    let takes = "it takes engines separated by commas, of auto, sequential, conservative, \
                 optimistic, mixed, and ways to run them, of threads, processes, mpi, mpi-copies";
    let wrong = |text: &str| engines(text).unwrap_err();
    assert_eq!(
        wrong("sequential,optimist"),
        format!(
            "a.toml:3: `with` cannot be `sequential,optimist`: {takes}; did you mean `optimistic`?"
        )
    );
    assert!(wrong("mpi,processs").ends_with("; did you mean `processes`?"));
    assert_eq!(wrong("xyz"), format!("a.toml:3: `with` cannot be `xyz`: {takes}"));
    assert!(["", "optimistic,", ","].iter().all(|text| wrong(text).contains(takes)));
}
