use super::*;

#[test]
fn every_entry_says_all_that_there_is_to_say() {
    for Setting { name, heading, placeholder, range, meaning, hurts, .. } in Settings::table() {
        let texts = [*heading, placeholder, range, meaning, hurts];
        assert!(
            texts
                .iter()
                .all(|text| !text.is_empty() && text.trim() == *text && !text.ends_with('.')),
            "{name}: {texts:?}"
        );
        assert!(
            meaning.starts_with(char::is_uppercase) && hurts.starts_with(char::is_lowercase),
            "{name}: a sentence and its second half"
        );
    }
    let mut names: Vec<&str> =
        Settings::table().iter().map(|setting| setting.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Settings::table().len());
}

#[test]
fn defaults_are_values_of_their_settings_or_rules() {
    let without: Vec<&str> = Settings::table()
        .iter()
        .filter(|setting| setting.default.is_empty())
        .map(|setting| &*setting.name)
        .collect();
    assert_eq!(without, ["trace", "machine", "machine-scale", "virtual-cluster"]);
    let rules: Vec<&str> = Settings::table()
        .iter()
        .filter(|setting| setting.default.contains(' '))
        .map(|setting| &*setting.name)
        .collect();
    assert_eq!(rules, ["end", "follow", "sync", "threads", "batch", "window", "pes"]);
    for setting in Settings::table()
        .iter()
        .filter(|setting| !setting.default.is_empty() && !setting.default.contains(' '))
    {
        let mut typed = Settings::default();
        typed.set(&setting.name, &setting.default).unwrap();
        assert_eq!(typed.recorded(true), Settings::default().recorded(true), "{}", setting.name);
    }
}

/// A value that the setting may have, and not its default.
fn sample(setting: &Setting) -> &str {
    let number = match setting.name.as_str() {
        // Fewer bytes are no batch.
        "communication-batch" => "700",
        "memory" => "1GB",
        "machine-scale" => "event=7",
        _ => "7",
    };
    setting.words.last().copied().unwrap_or(number)
}

#[test]
fn every_setting_is_set_alone() {
    for (index, setting) in Settings::table().iter().enumerate() {
        let mut settings = Settings::default();
        settings.set(&setting.name, sample(setting)).unwrap();
        assert_ne!(settings, Settings::default(), "{}", setting.name);
        let fields = format!("{settings:?}");
        let given: Vec<usize> = fields
            .split(", ")
            .enumerate()
            .filter(|(_, field)| field.contains("Some("))
            .map(|(field, _)| field)
            .collect();
        assert_eq!(given, [index], "{fields}");
        settings.check().unwrap();
    }
}

fn read(name: &str, text: &str) -> Result<Settings, String> {
    let mut settings = Settings::default();
    settings.set(name, text).map(|()| settings).map_err(|error| error.to_string())
}

#[test]
fn values_get_their_meaning() {
    assert_eq!(read("end", "2e3").unwrap().end, Some(2000.0));
    assert_eq!(read("seed", "18446744073709551615").unwrap().seed, Some(u64::MAX));
    assert_eq!(read("undo", "reverse").unwrap().undo, Some(Undo::Reverse));
    assert_eq!(read("pending", "heap").unwrap().pending, Some(Pending::Heap));
    assert_eq!(read("sync", "optimistic").unwrap().sync, Some(Synchronisation::Optimistic));
    assert_eq!(read("gvt", "synchronous").unwrap().gvt, Some(GvtAlgorithm::Synchronous));
    assert_eq!(read("window", "2.5e-3").unwrap().window, Some(0.0025));
    assert_eq!(read("threads", "1024").unwrap().threads, Some(1024));
    assert_eq!(read("gvt_interval", "4294967295").unwrap().gvt_interval, Some(u32::MAX));
    assert_eq!(read("trace", "a b").unwrap().trace, Some("a b".into()));
    for (text, meaning) in [("yes", true), ("true", true), ("no", false), ("false", false)] {
        assert_eq!(read("use-lookahead", text).unwrap().use_lookahead, Some(meaning));
    }
}

#[test]
fn refused_values_say_what_they_may_be() {
    let wrong = |name, text| read(name, text).unwrap_err();
    let of_end = "`end` cannot be `soon`: it takes a finite number greater than 0, as a run covers \
                  the times from 0 to the end time";
    assert_eq!(wrong("end", "soon"), of_end);
    assert!(
        wrong("seed", "-1").ends_with("it takes a whole number from 0 to 18446744073709551615")
    );
    assert!(
        wrong("undo", "revers")
            .ends_with("it takes one of copy, reverse, journal; did you mean `reverse`?")
    );
    let ways = GvtAlgorithm::ALL.iter().copied().map(GvtAlgorithm::name).collect::<Vec<_>>();
    assert!(
        wrong("gvt", "asynchron")
            .ends_with(&format!("one of {}; did you mean `asynchronous`?", ways.join(", ")))
    );
    assert_eq!(wrong("trace", ""), "`trace` cannot be ``: it takes the path of a file");
    assert_eq!(wrong("sead", "1"), "there is no setting `sead`; did you mean `seed`?");
    assert_eq!(wrong("xyz", "1"), "there is no setting `xyz`");
    for name in ["threads", "batch", "kps", "gvt-interval", "copy-interval"] {
        let most = if name == "threads" { THREADS_MOST } else { u32::MAX };
        for text in ["0", "-1", "1.5", "4294967296", "many"] {
            let expected =
                format!("`{name}` cannot be `{text}`: it takes a whole number from 1 to {most}");
            assert!(wrong(name, text).starts_with(&expected), "{}", wrong(name, text));
        }
    }
    assert!(wrong("threads", "262145").contains(
        "it takes a whole number from 1 to 262144, as each PE \
            takes memory; as many as there are cores run best"
    ));
    for (text, said) in [("0", "0"), ("-1", "-1"), ("inf", "inf"), ("nan", "NaN"), ("wide", "wide")]
    {
        assert_eq!(
            wrong("window", text),
            format!("`window` cannot be `{said}`: it takes a finite number greater than 0")
        );
    }
}

#[test]
fn what_was_set_in_code_is_checked_as_if_it_were_typed() {
    for (name, value) in [
        ("end", "-1"),
        ("threads", "0"),
        ("threads", "262145"),
        ("batch", "0"),
        ("kps", "0"),
        ("gvt-interval", "0"),
        ("copy-interval", "0"),
        ("window", "inf"),
    ] {
        let mut settings = Settings::default();
        let number: f64 = value.parse().unwrap();
        match name {
            "end" => settings.end = Some(number),
            "window" => settings.window = Some(number),
            "threads" => settings.threads = Some(number as u32),
            "batch" => settings.batch = Some(number as u32),
            "kps" => settings.kps = Some(number as u32),
            "gvt-interval" => settings.gvt_interval = Some(number as u32),
            _ => settings.copy_interval = Some(CopyInterval::Every(number as u32)),
        }
        assert_eq!(settings.check().unwrap_err().to_string(), read(name, value).unwrap_err());
    }
}

#[test]
fn ranges_have_their_ends() {
    let whole = |range: Range<u32>| [0, 1, 2, 3, 4].map(|value: u32| value.within(&range));
    assert_eq!(whole(Range::Any), [true; 5]);
    assert_eq!(whole(Range::From(2)), [false, false, true, true, true]);
    assert_eq!(whole(Range::Between(1, 3)), [false, true, true, true, false]);
    assert_eq!(whole(Range::Above(2)), [false, false, false, true, true]);
    assert_eq!(u32::takes(&Range::Above(2)), "a whole number from 3 to 4294967295");
    let times = |range: Range<f64>| {
        [-1.0, 0.0, 1.0, f64::INFINITY, f64::NAN].map(|value: f64| value.within(&range))
    };
    assert_eq!(times(Range::Any), [true; 5]);
    assert_eq!(times(Range::From(0.0)), [false, true, true, false, false]);
    assert_eq!(times(Range::Between(0.0, 1.0)), [false, true, true, false, false]);
    assert_eq!(times(Range::Above(0.0)), [false, false, true, false, false]);
}

#[test]
fn several_threads_are_a_parallel_run() {
    let engine = |sync, threads| {
        Settings { sync, threads, ..Settings::default() }
            .synchronisation()
            .map_err(|error| error.to_string())
    };
    let sequential = Some(Synchronisation::Sequential);
    let optimistic = Some(Synchronisation::Optimistic);
    for (sync, threads, expected) in [
        (None, None, "auto"),
        (None, Some(1), "sequential"),
        (Some(Synchronisation::Auto), Some(1), "auto"),
        (Some(Synchronisation::Auto), Some(2), "auto"),
        (None, Some(2), "optimistic"),
        (sequential, None, "sequential"),
        (sequential, Some(1), "sequential"),
        (optimistic, None, "optimistic"),
        (optimistic, Some(1), "optimistic"),
        (optimistic, Some(9), "optimistic"),
    ] {
        assert_eq!(
            engine(sync, threads).map(Synchronisation::name),
            Ok(expected),
            "{sync:?} {threads:?}"
        );
    }
    let refused = engine(sequential, Some(2)).unwrap_err();
    assert!(
        refused.starts_with("`sync` is `sequential`, but `threads` is `2`: ")
            && refused.contains("leave `threads` out"),
        "{refused}"
    );
}

/// Whatever engine the run chooses, it may have a use for any of them.
#[test]
fn all_settings_serve_runs_that_choose_their_engine() {
    assert!(Settings::table().iter().all(|setting| setting.serves(Synchronisation::Auto)));
}

#[test]
fn only_conservative_runs_are_told_how_to_be_conservative() {
    let engine = |sync, threads, conservative| {
        Settings { sync, threads, conservative, ..Settings::default() }.synchronisation()
    };
    use Conservative::{Auto, FreeRunning, Windows};
    for way in [Auto, FreeRunning, Windows] {
        assert_eq!(
            engine(Some(Synchronisation::Conservative), Some(2), Some(way)),
            Ok(Synchronisation::Conservative)
        );
        assert_eq!(engine(None, None, Some(way)), Ok(Synchronisation::Conservative));
        assert_eq!(engine(None, Some(2), Some(way)), Ok(Synchronisation::Conservative));
        for sync in
            [Synchronisation::Sequential, Synchronisation::Optimistic, Synchronisation::Mixed]
        {
            let refused = engine(Some(sync), None, Some(way)).unwrap_err().to_string();
            let expected =
                format!("`conservative` is `{}`, but `sync` is `{}`: ", way.name(), sync.name());
            assert!(
                refused.starts_with(&expected) && refused.contains("leave it out, or set `sync`"),
                "{refused}"
            );
        }
    }
}

#[test]
fn a_choice_of_conservative_lps_means_a_mixed_run() {
    let engine = |sync, threads| {
        let conservative_lps = Some(LpChoice::ids([7]));
        Settings { sync, threads, conservative_lps, ..Settings::default() }
            .synchronisation()
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        [engine(None, None), engine(None, Some(3))],
        [Ok(Synchronisation::Mixed), Ok(Synchronisation::Mixed)]
    );
    let mixed = engine(Some(Synchronisation::Mixed), Some(2));
    let optimistic = engine(Some(Synchronisation::Optimistic), None);
    assert_eq!(
        (mixed, optimistic),
        (Ok(Synchronisation::Mixed), Ok(Synchronisation::Optimistic)),
        "the model decides whether it can stand that"
    );
    let refused = engine(Some(Synchronisation::Conservative), None).unwrap_err();
    assert!(
        refused.starts_with("`conservative-lps` is `7`, but `sync` is `conservative`: "),
        "{refused}"
    );
}

/// A setting that an engine has no use for is never ignored.
#[test]
fn settings_of_parallel_runs_mean_one() {
    let of_parallel: Vec<_> = Settings::table()
        .iter()
        .filter(|setting| !setting.serves(Synchronisation::Sequential))
        .collect();
    let names: Vec<_> = of_parallel.iter().map(|setting| setting.name.as_str()).collect();
    let some = [
        "batch",
        "kps",
        "gvt",
        "gvt-interval",
        "window",
        "copy-interval",
        "messages",
        "use-lookahead",
        "go-ahead",
        "horizon",
        "gvt-start",
        "virtual-cluster",
    ];
    assert!(
        some.iter().all(|name| names.contains(name))
            && !names.contains(&"seed")
            && !names.contains(&"threads"),
        "{names:?}"
    );
    for setting in of_parallel {
        let mut settings = Settings::default();
        settings.set(&setting.name, sample(setting)).unwrap();
        let implied = settings.synchronisation().unwrap();
        assert!(
            implied != Synchronisation::Sequential && setting.serves(implied),
            "{}",
            setting.name
        );
        assert_eq!(
            Settings { threads: Some(1), ..settings.clone() }.synchronisation(),
            Ok(implied),
            "{}",
            setting.name
        );
        settings.sync = Some(Synchronisation::Sequential);
        let refused = settings.synchronisation().unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("`{}` is `", setting.name))
                && refused.contains("`sync` is `sequential`: "),
            "{refused}"
        );
    }
}

#[test]
fn a_conservative_run_refuses_what_only_undoing_needs() {
    let settings = [
        ("kps", "7"),
        ("window", "7"),
        ("copy-interval", "7"),
        ("cancellation", "lazy"),
        ("go-ahead", "always"),
        ("undo", "reverse"),
        ("sub-pool", "7"),
        ("fossil-collection", "on-the-fly"),
    ];
    for (name, value) in settings {
        let mut settings = Settings::default();
        settings.set(name, value).unwrap();
        assert_eq!(settings.synchronisation(), Ok(Synchronisation::Optimistic), "{name}");
        settings.sync = Some(Synchronisation::Conservative);
        let refused = settings.synchronisation().unwrap_err().to_string();
        let expected = format!(
            "`{name}` is `{value}`, but `sync` is `conservative`: a conservative run undoes nothing"
        );
        assert!(refused.starts_with(&expected), "{refused}");
    }
}

#[test]
fn only_partitioned_pools_have_sub_pools() {
    let of = |pool, size| {
        Settings { pool, sub_pool: Some(size), ..Settings::default() }
            .synchronisation()
            .map_err(|error| error.to_string())
    };
    let refused = of(Some(BufferPool::Sender), SubPool::Fixed(3)).unwrap_err();
    assert!(
        refused.starts_with(
            "`sub-pool` is `3`, but `pool` is `sender`: only partitioned pools have sub-pools"
        ),
        "{refused}"
    );
    assert!(
        of(Some(BufferPool::Receiver), SubPool::Adaptive(3)).unwrap_err().contains("`adaptive-3`")
    );
    assert_eq!(
        of(Some(BufferPool::Partitioned), SubPool::Fixed(3)),
        Ok(Synchronisation::Optimistic)
    );
    assert_eq!(of(None, SubPool::Fixed(3)), Ok(Synchronisation::Optimistic));
}

#[test]
fn mailboxes_are_those_of_threads() {
    let of = |mailbox, processes, virtual_cluster| {
        let settings =
            Settings { mailbox: Some(mailbox), processes, virtual_cluster, ..Settings::default() };
        settings.synchronisation().map_err(|error| error.to_string())
    };
    for mailbox in [Mailbox::Shared, Mailbox::Cas, Mailbox::PerSender] {
        assert_eq!(of(mailbox, None, None), Ok(Synchronisation::Optimistic));
        let refused = of(mailbox, None, Some(3)).unwrap_err();
        assert!(
            refused.starts_with(&format!(
                "`mailbox` is `{}`, but `virtual-cluster` is `3`: ",
                mailbox.name()
            )),
            "{refused}"
        );
        let several = of(mailbox, Some(2), None);
        assert_eq!(several.is_ok(), mailbox == Mailbox::PerSender, "{several:?}");
    }
    assert!(
        of(Mailbox::Cas, Some(2), None).unwrap_err().contains("lies in the memory of one process")
    );
    assert_eq!(of(Mailbox::Auto, Some(2), None), Ok(Synchronisation::Optimistic));
}

#[test]
fn records_have_what_concerns_them() {
    let names =
        |parallel| Settings::default().recorded(parallel).keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(false), ["memory", "pending", "warmup", "zero_delay_hops"]);
    let of_parallel = [
        "barrier",
        "cancellation",
        "carrier",
        "communication",
        "communication_batch",
        "communication_delay",
        "communication_ring",
        "communication_threads",
        "conservative",
        "conservative_lps",
        "copy_interval",
        "fossil_collection",
        "go_ahead",
        "gvt",
        "gvt_groups",
        "gvt_interval",
        "gvt_interval_control",
        "gvt_start",
        "horizon",
        "jump_start",
        "kps",
        "mailbox",
        "memory",
        "messages",
        "move_pes",
        "pending",
        "pool",
        "pool_order",
        "processes",
        "sub_pool",
        "undo",
        "use_lookahead",
        "warmup",
        "zero_copy",
        "zero_delay_hops",
    ];
    assert_eq!(names(true), of_parallel);
    let given = Settings {
        threads: Some(3),
        window: Some(0.5),
        use_lookahead: Some(false),
        ..Settings::default()
    }
    .recorded(true);
    assert_eq!(
        (&given["threads"], &given["window"], &given["use_lookahead"]),
        (&3.into(), &0.5.into(), &false.into())
    );
}
