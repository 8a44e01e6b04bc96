//! The outputs of a run of the network: results for programs, views for the report.

use warpline::record::{Bar, HistogramView, MapLink, MapNode, MapView, TableView, View};
use warpline::serde_json::{Value, json};
use warpline::statistics::HistogramTally;
use warpline::{Declarations, Outcome, Results};

use super::statistics::{DELAY, DROPS, LOST, OFFERED, PACKETS, UNDER_WAY, UTILISATION};
use super::structure::Network;
use super::topology::{Link, Node};

/// The most demands that the report lists.
const MOST_ROWS: usize = 1000;

/// What one link did.
struct LinkOutcome {
    utilisation: f64,
    ci95: Option<f64>,
    /// A remark on the interval.
    ci95_note: Option<&'static str>,
    expected: f64,
    packets: u64,
    drops: u64,
}

impl LinkOutcome {
    fn new(network: &Network, outcome: &Outcome, link: u32) -> Self {
        let statistics = outcome.statistics;
        let estimate = statistics.time_mean(UTILISATION.at(link));
        LinkOutcome {
            utilisation: estimate.mean.unwrap_or(0.0),
            ci95: estimate.ci95,
            ci95_note: estimate.ci95_note(),
            expected: network.expected[link as usize],
            packets: statistics.counter(PACKETS.at(link)),
            drops: statistics.counter(DROPS.at(link)),
        }
    }

    fn all(network: &Network, outcome: &Outcome) -> Vec<Self> {
        (0..network.expected.len() as u32)
            .map(|link| LinkOutcome::new(network, outcome, link))
            .collect()
    }

    /// The share of packets dropped, of those that reached the link; `None` if none did.
    fn drop_ratio(&self) -> Option<f64> {
        let reached = self.packets + self.drops;
        (reached > 0).then(|| self.drops as f64 / reached as f64)
    }
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// The delays of all packets.
fn delays(network: &Network, outcome: &Outcome) -> HistogramTally {
    let mut all = HistogramTally::default();
    (0..network.ends.len() as u32)
        .for_each(|demand| all.merge(outcome.statistics.histogram(DELAY.at(demand))));
    all
}

/// Mean and percentiles of delays, in s.
fn delay_json(tally: &HistogramTally) -> Value {
    let [p50, p90, p95, p99] = tally.quantiles([0.5, 0.9, 0.95, 0.99]);
    json!({ "count": tally.count(), "mean": tally.mean(), "min": tally.min(), "p50": p50, "p90": p90, "p95": p95, "p99": p99, "max": tally.max() })
}

/// Declares the results that are not plain statistics.
pub(super) fn declare(declare: &mut Declarations) {
    let results = [
        (
            "packet_hops",
            "packets",
            "packets accepted by links, each counted at every link on its way",
        ),
        ("packets_offered", "packets", "packets sent by all sources"),
        ("packets_delivered", "packets", "packets that arrived where they were going"),
        ("packets_dropped", "packets", "packets dropped for want of room in a buffer"),
        ("packets_under_way", "packets", "packets that were on their way at the end"),
        ("max_utilisation", "", "utilisation of the busiest link"),
        ("hops_mean", "links", "mean number of links that a delivered packet passed"),
        ("links", "", "every link, in the order of the topology"),
        ("links.utilisation", "", "share of time that the link transmits"),
        ("links.ci95", "", "half the width of the 95 % confidence interval of the utilisation"),
        ("links.expected", "", "utilisation if nothing were dropped"),
        ("links.packets", "packets", "packets accepted by the link"),
        ("links.drops", "packets", "packets dropped at the link"),
        ("links.drop_ratio", "", "packets dropped, as a share of those that reached the link"),
        ("links.length_km", "km", "length of the link"),
        ("links.lines", "", "lines of the topology that the link stands for"),
        ("demand_directions", "", "how the demands of the file were read, and why"),
        ("demands", "", "traffic between every pair of nodes"),
        ("demands.hops", "links", "links on the way"),
        ("demands.offered", "packets", "packets sent"),
        ("demands.delivered", "packets", "packets that arrived"),
        ("demands.dropped", "packets", "packets dropped on the way"),
        ("demands.under_way", "packets", "packets that were on their way at the end"),
        ("demands.delay", "s", "delay of packets from source to destination"),
    ];
    results.iter().for_each(|(name, unit, meaning)| declare.result(name, unit, meaning));
    let labels = [
        ("links.source", "where the link begins, as the file has it"),
        ("links.target", "where it ends"),
        ("links.source_name", "name of the node where it begins"),
        ("links.target_name", "name of the node where it ends"),
        ("demands.source", "where packets come from, as the file has it"),
        ("demands.target", "where they go"),
    ];
    labels.iter().for_each(|(name, meaning)| declare.label(name, meaning));
}

/// All results as JSON: times in s, lengths in km, utilisation from 0 to 1.
pub(super) fn results(network: &Network, outcome: &Outcome) -> Results<Network> {
    let statistics = outcome.statistics;
    let links = LinkOutcome::all(network, outcome);
    let mut offered = 0;
    let mut dropped = 0;
    let mut delivered = 0;
    let mut under_way = 0;
    let mut hops = 0;
    for (demand, &links) in (0u32..).zip(network.routing.hops()) {
        let arrived = statistics.histogram(DELAY.at(demand)).count();
        offered += statistics.counter(OFFERED.at(demand));
        dropped += statistics.counter(LOST.at(demand));
        under_way += statistics.counter(UNDER_WAY.at(demand));
        delivered += arrived;
        hops += arrived * u64::from(links);
    }
    let mut short = json!({
        "packet_hops": links.iter().map(|link| link.packets).sum::<u64>(),
        "packets_offered": offered,
        "packets_delivered": delivered,
        "packets_dropped": dropped,
        "packets_under_way": under_way,
        "delay": delay_json(&delays(network, outcome)),
        "max_utilisation": most(links.iter().map(|link| link.utilisation)),
        "hops_mean": (delivered > 0).then(|| hops as f64 / delivered as f64),
    });
    if let Some(reading) = network.reading {
        short["demand_directions"] = reading.words().into();
    }
    Results::from(short)
        .list("links", links.len(), |network, outcome, link| {
            link_json(network, outcome, link as u32)
        })
        .list("demands", network.ends.len(), |network, outcome, demand| {
            demand_json(network, outcome, demand as u32)
        })
}

/// What a link did.
fn link_json(network: &Network, outcome: &Outcome, number: u32) -> Value {
    let nodes = &network.topology.nodes;
    let link = &network.topology.links[number as usize];
    let is = LinkOutcome::new(network, outcome, number);
    let source = &nodes[link.source as usize];
    let target = &nodes[link.target as usize];
    let mut all = json!({
        "source": source.id, "target": target.id, "source_name": source.name, "target_name": target.name,
        "utilisation": is.utilisation, "ci95": is.ci95, "expected": is.expected,
        "packets": is.packets, "drops": is.drops, "drop_ratio": is.drop_ratio(), "length_km": link.length, "lines": link.lines,
    });
    if let Some(note) = is.ci95_note {
        all["ci95_note"] = note.into();
    }
    all
}

/// What became of a demand's packets.
fn demand_json(network: &Network, outcome: &Outcome, demand: u32) -> Value {
    let statistics = outcome.statistics;
    let delay = statistics.histogram(DELAY.at(demand));
    let [sent, lost, left] =
        [OFFERED, LOST, UNDER_WAY].map(|counter| statistics.counter(counter.at(demand)));
    let (source, target) = network.ends[demand as usize];
    let [source, target] = [source, target].map(|node| &network.topology.nodes[node as usize].id);
    json!({
        "source": source, "target": target, "hops": network.routing.hops()[demand as usize],
        "offered": sent, "delivered": delay.count(), "dropped": lost, "under_way": left, "delay": delay_json(delay),
    })
}

/// The map, the distributions of utilisation and delay, and the tables of links and demands.
pub(super) fn views(network: &Network, outcome: &Outcome) -> Vec<View> {
    let links = LinkOutcome::all(network, outcome);
    vec![
        View::Map(map(network, &links)),
        View::Histogram(utilisation_view(&links)),
        View::Histogram(delay_view(network, outcome)),
        View::Table(link_table(network, &links)),
        View::Table(demand_table(network, outcome)),
    ]
}

fn map(network: &Network, links: &[LinkOutcome]) -> MapView {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let joined = network.topology.links.iter().zip(links);
    let links: Vec<MapLink> = joined
        .map(|(link, is)| MapLink {
            source: link.source as usize,
            target: link.target as usize,
            value: is.utilisation,
            facts: vec![
                fact(
                    "95 % interval",
                    is.ci95.map_or_else(|| "unknown".to_owned(), |half| format!("± {half:.4}")),
                ),
                fact("expected", format!("{:.4}", is.expected)),
                fact("packets", is.packets.to_string()),
                fact("dropped", is.drops.to_string()),
                fact("length", format!("{:.1} km", link.length)),
            ],
        })
        .collect();
    let high = most(links.iter().map(|link| link.value)).max(1.0);
    let known = network.topology.nodes.iter().all(|node| node.position.is_some());
    let title = if known {
        "Utilisation of links"
    } else {
        "Utilisation of links (the file lacks places: nodes on a circle)"
    };
    let [title, value_name, unit] = [title, "utilisation", ""].map(str::to_owned);
    MapView { title, value_name, unit, low: 0.0, high, nodes: map_nodes(network, known), links }
}

/// The nodes at their coordinates, or all on a circle if some coordinates are not `known`.
fn map_nodes(network: &Network, known: bool) -> Vec<MapNode> {
    const RADIUS_DEGREES: f64 = 10.0;
    let nodes = &network.topology.nodes;
    let place = |i: usize, node: &Node| match node.position.filter(|_| known) {
        Some(position) => (position.longitude, position.latitude),
        None => {
            let (sine, cosine) = (std::f64::consts::TAU * i as f64 / nodes.len() as f64).sin_cos();
            (RADIUS_DEGREES * sine, RADIUS_DEGREES * cosine)
        }
    };
    let placed = nodes.iter().enumerate().map(|(i, node)| (node.name.clone(), place(i, node)));
    placed.map(|(name, (longitude, latitude))| MapNode { name, longitude, latitude }).collect()
}

fn utilisation_view(links: &[LinkOutcome]) -> HistogramView {
    const BARS_PER_UNIT: f64 = 20.0;
    let high = most(links.iter().map(|link| link.utilisation)).max(1.0);
    let bars = (high * BARS_PER_UNIT).ceil() as usize;
    let edge = |bar: usize| bar as f64 / BARS_PER_UNIT;
    let mut bars: Vec<Bar> =
        (0..bars).map(|bar| Bar { low: edge(bar), high: edge(bar + 1), count: 0 }).collect();
    let last = bars.len() - 1;
    for link in links {
        bars[((link.utilisation * BARS_PER_UNIT) as usize).min(last)].count += 1;
    }
    let mean = links.iter().map(|link| link.utilisation).sum::<f64>() / links.len().max(1) as f64;
    let [title, quantity, unit, counted] =
        ["Utilisation of links", "utilisation", "", "links"].map(str::to_owned);
    HistogramView { title, quantity, unit, counted, bars, marks: vec![("mean".to_owned(), mean)] }
}

fn delay_view(network: &Network, outcome: &Outcome) -> HistogramView {
    const MS: f64 = 1e3;
    let mut view = delays(network, outcome).view("Delay of packets", "delay", "ms");
    for bar in &mut view.bars {
        bar.low *= MS;
        bar.high *= MS;
    }
    view.marks.iter_mut().for_each(|(_, value)| *value *= MS);
    "packets".clone_into(&mut view.counted);
    view
}

fn columns(columns: &[(&str, &str)]) -> Vec<(String, String)> {
    columns.iter().map(|(name, unit)| ((*name).to_owned(), (*unit).to_owned())).collect()
}

fn link_table(network: &Network, links: &[LinkOutcome]) -> TableView {
    let name = |node: u32| &network.topology.nodes[node as usize].name;
    let row = |(link, is): (&Link, &LinkOutcome)| {
        let (source, target) = (name(link.source), name(link.target));
        let facts = [
            json!(is.utilisation),
            json!(is.ci95),
            json!(is.expected),
            json!(is.packets),
            json!(is.drops),
            json!(is.drop_ratio()),
        ];
        [json!(source), json!(target)]
            .into_iter()
            .chain(facts)
            .chain([json!(link.length)])
            .collect()
    };
    TableView {
        title: "Links".into(),
        columns: columns(&[
            ("from", ""),
            ("to", ""),
            ("utilisation", ""),
            ("95 % interval, ±", ""),
            ("expected", ""),
            ("packets", ""),
            ("dropped", ""),
            ("share dropped", ""),
            ("length", "km"),
        ]),
        rows: network.topology.links.iter().zip(links).map(row).collect(),
    }
}

/// The demands, or those of them with the largest mean delay.
fn demand_table(network: &Network, outcome: &Outcome) -> TableView {
    let statistics = outcome.statistics;
    let mean = |demand: u32| statistics.histogram(DELAY.at(demand)).mean();
    let all = network.ends.len();
    let title = if all <= MOST_ROWS {
        "Demands".into()
    } else {
        format!("The {MOST_ROWS} of {all} demands with the longest mean delay")
    };
    let mut demands: Vec<(u32, Option<f64>)> = Vec::new();
    let keep_longest = |demands: &mut Vec<(u32, Option<f64>)>| {
        demands.sort_by(|a, b| b.1.unwrap_or(0.0).total_cmp(&a.1.unwrap_or(0.0)));
        demands.truncate(MOST_ROWS);
    };
    for demand in 0..all as u32 {
        demands.push((demand, mean(demand)));
        if demands.len() == 2 * MOST_ROWS {
            keep_longest(&mut demands);
        }
    }
    if all > MOST_ROWS {
        keep_longest(&mut demands);
    }
    let name = |node: u32| &network.topology.nodes[node as usize].name;
    let row = |(demand, mean): (u32, Option<f64>)| {
        let (source, target) = network.ends[demand as usize];
        let delay = statistics.histogram(DELAY.at(demand));
        let [sent, lost, left] =
            [OFFERED, LOST, UNDER_WAY].map(|counter| statistics.counter(counter.at(demand)));
        let counts = [sent, delay.count(), lost, left];
        let [p50, p95, p99] = delay.quantiles([0.5, 0.95, 0.99]);
        let times = [mean, p50, p95, p99].map(|time| json!(time.map(|s| s * 1e3)));
        let ends = [
            json!(name(source)),
            json!(name(target)),
            json!(network.routing.hops()[demand as usize]),
        ];
        ends.into_iter().chain(counts.map(|count| json!(count))).chain(times).collect()
    };
    TableView {
        title,
        columns: columns(&[
            ("from", ""),
            ("to", ""),
            ("links", ""),
            ("offered", "packets"),
            ("delivered", "packets"),
            ("dropped", "packets"),
            ("under way", "packets"),
            ("mean delay", "ms"),
            ("median", "ms"),
            ("p95", "ms"),
            ("p99", "ms"),
        ]),
        rows: demands.into_iter().map(row).collect(),
    }
}
