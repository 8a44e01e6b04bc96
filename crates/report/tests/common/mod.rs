//! A run as a network model might leave it, in one thread and in parallel.

pub(crate) mod parallel;

use serde_json::{Map, Value, json};
use warpline_record::*;

const CITIES: [(&str, f64, f64); 12] = [
    ("Amsterdam", 4.90, 52.37),
    ("Berlin", 13.40, 52.52),
    ("Brussels", 4.35, 50.85),
    ("Frankfurt", 8.68, 50.11),
    ("Geneva", 6.14, 46.20),
    ("London", -0.13, 51.51),
    ("Madrid", -3.70, 40.42),
    ("Milan", 9.19, 45.46),
    ("Paris", 2.35, 48.86),
    ("Prague", 14.42, 50.08),
    ("Vienna", 16.37, 48.21),
    ("Warsaw", 21.01, 52.23),
];
const CABLES: [(usize, usize); 18] = [
    (0, 2),
    (0, 3),
    (0, 5),
    (1, 3),
    (1, 9),
    (1, 11),
    (2, 8),
    (3, 4),
    (3, 9),
    (4, 7),
    (4, 8),
    (5, 8),
    (6, 8),
    (6, 4),
    (7, 10),
    (9, 10),
    (10, 11),
    (5, 2),
];

/// A number between 0 and 1 that looks random and is always the same.
pub(crate) fn noise(index: usize) -> f64 {
    ((index as f64 * 12.9898).sin() * 43758.547).fract().abs()
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    let Value::Object(entries) = value else { panic!("not an object: {value}") };
    entries
}

/// The whole record.
pub(crate) fn sample() -> RunRecord {
    RunRecord {
        model: "network".into(),
        about: "Packets on a European backbone, with drop-tail queues and shortest paths.".into(),
        parameters: object(json!({
            "topology": "cost266", "packets_per_second": 125000.0, "packet_bytes": 1500, "queue_packets": 512, "link_gbit": 10,
            "jitter": true, "traffic": "gravity"
        })),
        seed: 20_260_117,
        end_time: 60.0,
        engine: object(json!({"sync": "optimistic", "gvt": "asynchronous", "workers": 8, "batch": 128, "undo": "copy", "pool": "sender"})),
        settings: vec![
            note("end", "model time", "Model time at which the run ends", "a short run tells \
                little"),
            note("seed", "", "Seed of all random numbers", "one seed is one sample"),
            note("batch", "events", "Events between two looks at messages", "too <small>, and \
                looking costs more than events do"),
            note("undo", "", "How events are undone", "copies cost most where states are large"),
        ],
        committed_events: 48_213_977,
        digest: "9f86d081884c7d65".into(),
        state_digest: None,
        lost_delays: None,
        ran_out: false,
        stuck: None,
        wall_seconds: 15.43,
        loop_seconds: 15.06,
        event_rate: 48_213_977.0 / 15.06,
        core_share: Some(0.98),
        peak_rss_bytes: Some(412_876_800),
        parallel: None,
        kinds: Vec::new(),
        results: json!({
            "packets_sent": 7_499_812, "packets_delivered": 7_481_003, "packets_dropped": 18_809, "loss": 0.002_507_9,
            "busiest_link": "Frankfurt → Geneva",
            "delay_seconds": {"mean": 0.013_421_7, "ci95": 0.000_022_1, "max": 0.094_312, "count": 7_481_003},
            "queue_packets": {"mean": 3.1187, "ci95": 0.0412, "max": 512, "count": 2_160_000},
            "hops": {"mean": 2.4417, "ci95": 0.000_81, "max": 6, "count": 7_481_003},
            "delay_percentiles": (0..100).map(|index| 0.001 * f64::from(index)).collect::<Vec<_>>()
        })
        .into(),
        result_notes: [
            ("delay_seconds", "s", "time from source to destination, with queues on the way and \
                                    the time that light takes"),
            ("loss", "", "share of packets that were dropped"),
            ("packets_sent", "packets", "packets that sources have sent"),
            ("queue_packets", "packets", "packets that wait at a link"),
        ]
        .map(|(name, unit, meaning)| (name.to_owned(), ResultNote { unit: unit.into(), meaning: meaning.into(), label: false }))
        .into(),
        headlines: ["loss", "delay_seconds", "busiest_link", "queue_packets.max"].map(str::to_owned).to_vec(),
        series: Default::default(),
        provenance: Provenance {
            command_line: ["warpline", "run", "network", "--end", "60"].map(str::to_owned).to_vec(),
            date: "2026-01-17T09:30:00Z".into(),
            version: "0.1.0".into(),
            commit: Some("0123456789ab".into()),
            processor: Some("Example 9000 16-Core Processor".into()),
            cores: Some(16),
            memory_bytes: Some(68_719_476_736),
            pes: 8,
        },
        tables: Vec::new(),
        engines: Vec::new(),
        time_unit: "s".to_owned(),
        progress: progress(),
        told: Vec::new(),
        views: vec![
            View::Map(map()),
            View::Grid(grid()),
            View::Histogram(utilisation()),
            View::Histogram(delay()),
            View::Lines(queues()),
            View::Table(links()),
        ],
        partial: None,
        replications: None,
    }
}

fn note(name: &str, unit: &str, meaning: &str, hurts: &str) -> SettingNote {
    let [name, unit, meaning, hurts] = [name, unit, meaning, hurts].map(str::to_owned);
    SettingNote { name, unit, meaning, hurts }
}

fn progress() -> Vec<ProgressSample> {
    let mut events = 0.0;
    let sample = |index: usize| {
        let wall = 15.06 * index as f64 / 60.0;
        events += if index == 0 {
            0.0
        } else {
            803_566.0 * (0.85 + 0.2 * noise(index)) * (1.0 - (-(index as f64) / 3.0).exp())
        };
        ProgressSample {
            wall_seconds: wall,
            virtual_time: 60.0 * index as f64 / 60.0,
            committed_events: events as u64,
            rss_bytes: Some((9.0e7 + 3.2e8 * (1.0 - (-wall / 2.0).exp())) as u64),
            speculation: None,
        }
    };
    (0..=60).map(sample).collect()
}

/// Both directions of every cable, with how busy they were.
fn directed() -> impl Iterator<Item = (usize, usize, f64)> {
    let both = CABLES.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
    both.enumerate()
        .map(|(index, (source, target))| (source, target, 0.04 + 0.93 * noise(index + 7)))
}

fn map() -> MapView {
    let link = |(source, target, value): (usize, usize, f64)| MapLink {
        source,
        target,
        value,
        facts: vec![
            ("capacity".into(), "10 Gbit/s".into()),
            ("packets".into(), format!("{:.0}", value * 833_333.0)),
            ("longest queue".into(), format!("{:.0} packets", value * 512.0)),
        ],
    };
    MapView {
        title: "How busy the links were".into(),
        value_name: "utilisation".into(),
        unit: String::new(),
        low: 0.0,
        high: 1.0,
        nodes: CITIES
            .iter()
            .map(|(name, longitude, latitude)| MapNode {
                name: (*name).into(),
                longitude: *longitude,
                latitude: *latitude,
            })
            .collect(),
        links: directed().map(link).collect(),
    }
}

/// Cells of which the last row lacks some and one has no value.
fn grid() -> GridView {
    let value = |cell: usize| (cell != 5).then(|| noise(cell + 30));
    GridView {
        title: "Calls <b>lost, by cell".into(),
        value_name: "share lost <b>".into(),
        unit: String::new(),
        columns: 12,
        values: (0..100).map(value).collect(),
    }
}

fn utilisation() -> HistogramView {
    let bar = |index: usize| Bar {
        low: index as f64 / 20.0,
        high: (index + 1) as f64 / 20.0,
        count: directed().filter(|(_, _, value)| (value * 20.0) as usize == index).count() as u64,
    };
    HistogramView {
        title: "Utilisation of links".into(),
        quantity: "utilisation".into(),
        unit: String::new(),
        counted: "links".into(),
        bars: (0..20).map(bar).collect(),
        marks: vec![("mean".into(), 0.4713)],
    }
}

fn delay() -> HistogramView {
    let edge = |index: usize| 1e-4 * 10f64.powf(index as f64 / 12.0);
    let count = |index: usize| {
        let distance = (index as f64 - 25.0) / 4.5;
        (900_000.0 * (-distance * distance / 2.0).exp()) as u64
    };
    HistogramView {
        title: "End-to-end delay of packets".into(),
        quantity: "delay".into(),
        unit: "s".into(),
        counted: "packets".into(),
        bars: (0..40)
            .map(|index| Bar { low: edge(index), high: edge(index + 1), count: count(index) })
            .collect(),
        marks: vec![
            ("median".into(), 0.0124),
            ("p90".into(), 0.0301),
            ("p99".into(), 0.0598),
            ("p99.9".into(), 0.0871),
        ],
    }
}

fn queues() -> LinesView {
    let line = |(row, name): (usize, &str)| {
        let point = |index: usize| {
            let time = index as f64 * 0.5;
            (
                time,
                20.0 * (row + 1) as f64 * (1.0 + (time / 7.0 + row as f64).sin())
                    + 12.0 * noise(index + 500 * row),
            )
        };
        (name.to_owned(), (0..120).map(point).collect())
    };
    LinesView {
        title: "Queues of the busiest links".into(),
        x: "model time (s)".into(),
        y: "queue (packets)".into(),
        lines: ["Frankfurt → Geneva", "London → Paris", "Milan → Vienna"]
            .into_iter()
            .enumerate()
            .map(line)
            .collect(),
    }
}

fn links() -> TableView {
    let row = |(source, target, value): (usize, usize, f64)| {
        vec![
            json!(format!("{} → {}", CITIES[source].0, CITIES[target].0)),
            json!(value),
            json!(value * 833_333.25),
            json!((value * 49_999_995.0) as u64),
            json!(if value > 0.9 { (value * 1000.0) as u64 } else { 0 }),
            json!(0.0001 / (1.0 - value)),
        ]
    };
    let column = |(name, unit): (&str, &str)| (name.to_owned(), unit.to_owned());
    TableView {
        title: "Every link".into(),
        columns: [
            ("link", ""),
            ("utilisation", ""),
            ("rate", "packets/s"),
            ("packets", ""),
            ("dropped", ""),
            ("mean wait", "s"),
        ]
        .map(column)
        .into(),
        rows: directed().take(30).map(row).collect(),
    }
}

/// A comparison, with markup wherever text can stand.
pub(crate) fn study() -> StudyRecord {
    let names = ["sequential", "conservative, 2 threads", "optimistic, 2 threads <b>"]
        .map(str::to_owned)
        .to_vec();
    let rates = vec![
        vec![Some(1.0e6), Some(1.1e6), Some(0.9e6)],
        vec![Some(1.9e6), None, Some(2.1e6)],
        vec![Some(1.4e6), Some(1.7e6)],
    ];
    let columns = [("engine", ""), ("median rate", "events/s"), ("digest <b>", "")]
        .map(|(name, unit)| (name.to_owned(), unit.to_owned()));
    let fact = |name: &str, value: &str, remark: &str| Fact {
        name: name.into(),
        value: value.into(),
        remark: remark.into(),
    };
    let series = [("any engine <b>", [1.99, 7.2, 13.5, 14.0]), ("in order", [1.2, 3.5, 6.0, 0.5])];
    StudyRecord {
        study: "comparison".into(),
        model: "clock <b>".into(),
        about: "A clock, on three eng<b>ines.".into(),
        warning: Some("WRONG ANSWER: runs of `clock <b>` differ\n  two lines".into()),
        facts: vec![
            fact("Same answer", "NO", "runs <b> differ"),
            fact("Best speed-up <b>", "2 ×", "conservative, against sequential"),
        ],
        digest: Some("00000000000000aa<b>".into()),
        advice: vec!["PE 0 has <b> most work.".into()],
        parameters: object(json!({"period <b>": "<b>"})),
        settings: object(json!({"seed": 7})),
        views: vec![
            View::Bars(BarsView {
                title: "Event rate <b>".into(),
                quantity: "event rate <b>".into(),
                unit: "events/s".into(),
                remark: "Medians <b>.".into(),
                logarithmic: false,
                groups: names.clone(),
                series: vec![("event rate <b>".into(), rates)],
            }),
            View::Bars(BarsView {
                title: "Speed-up".into(),
                quantity: "speed-up".into(),
                logarithmic: true,
                groups: ["2 cores", "8 cores", "64 cores", "1000 cores"]
                    .map(str::to_owned)
                    .to_vec(),
                series: series
                    .map(|(name, values)| {
                        (name.to_owned(), values.map(|value| vec![Some(value)]).to_vec())
                    })
                    .to_vec(),
                ..BarsView::default()
            }),
            View::Table(TableView {
                title: "Engines".into(),
                columns: columns.to_vec(),
                rows: names
                    .iter()
                    .map(|name| vec![json!(name), json!(1e6), json!("<b>")])
                    .collect(),
            }),
        ],
        ..StudyRecord::default()
    }
}
