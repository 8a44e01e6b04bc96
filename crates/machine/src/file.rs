//! Machines from TOML. A file has all figures but those of noise and of the domains of a node;
//! nothing is guessed.

use crate::figures::Figures;
use crate::value::{Table, Value};
use crate::{
    Costs, Level, Machine, MachineError, MailboxUnit, Noise, RegisterUnit, Time, Topology,
};

/// Stragglers may be this many times as slow.
const SLOWDOWN_MOST: f64 = 1e3;

/// Reads the machine `name` out of the text of a file.
pub(crate) fn read(name: &str, file: &str, text: &str) -> Result<Machine, MachineError> {
    let all: Table = basic_toml::from_str(text).map_err(|cause| MachineError::Syntax {
        file: file.to_owned(),
        cause: cause.to_string(),
    })?;
    let mut top = Figures::new(file, "", Some(&all));
    let about = match top.other("about") {
        Some(Value::Text(about)) => about.clone(),
        Some(other) => return Err(top.refuse("about", other, "it takes a text")),
        None => return Err(top.missing("about", "a text that says what the machine is")),
    };
    let mut tables = Vec::new();
    for name in ["node", "near", "far", "network", "costs", "noise", "registers", "mailboxes"] {
        let table = top.other(name).map(|value| {
            if let Value::Table(table) = value {
                Ok(table)
            } else {
                Err(top.refuse(name, value, "it takes a table"))
            }
        });
        tables.push(Figures::new(file, name, table.transpose()?));
    }
    top.finish()?;
    let mut tables = tables.into_iter();
    let mut next = || tables.next().expect("a table for each name");
    let Node { cores, domains, domain_latency } = read_node(next())?;
    let near = read_level(next(), false)?;
    let far = read_level(next(), true)?;
    let (topology, hop) = read_network(next())?;
    Ok(Machine {
        name: name.to_owned(),
        about,
        cores,
        domains,
        domain_latency,
        near,
        far,
        topology,
        hop,
        costs: read_costs(next())?,
        noise: read_noise(next())?,
        registers: read_registers(next())?,
        mailboxes: read_mailboxes(next())?,
    })
}

/// The cores of a node.
struct Node {
    cores: u32,
    domains: u32,
    domain_latency: Time,
}

fn read_node(mut node: Figures<'_>) -> Result<Node, MachineError> {
    let cores = node.count("cores", 1)?;
    let domains = node.count_if_any("domains", 1)?.unwrap_or(1);
    if !cores.is_multiple_of(domains) {
        let takes = format!("each has as many of the {cores} cores; it takes a divisor of that");
        return Err(node.refuse("domains", domains, &takes));
    }
    let domain_latency = node.time_if_any("domain_latency")?.unwrap_or_default();
    node.finish()?;
    Ok(Node { cores, domains, domain_latency })
}

/// A level; only messages between nodes occupy a network card.
fn read_level(mut level: Figures<'_>, far: bool) -> Result<Level, MachineError> {
    let read = Level {
        latency: level.time("latency")?,
        overhead: level.time("overhead")?,
        gap: if far { level.time("gap")? } else { Time::ZERO },
        per_byte: level.per_byte("bandwidth")?,
        copy_per_byte: level.per_byte_if_any("copy")?.unwrap_or_default(),
    };
    level.finish()?;
    Ok(read)
}

fn read_network(mut network: Figures<'_>) -> Result<(Topology, Time), MachineError> {
    let names = Topology::NAMES.join(", ");
    let takes = format!("it takes one of {names}");
    let topology = match network.other("topology") {
        None => return Err(network.missing("topology", &format!("one of {names}"))),
        Some(Value::Text(name)) if name == "flat" => Topology::Flat,
        Some(Value::Text(name)) if name == "torus" => {
            Topology::Torus { dimensions: read_dimensions(&mut network)? }
        }
        Some(Value::Text(name)) if name == "fat-tree" => {
            Topology::FatTree { radix: network.count("radix", 2)? }
        }
        Some(other) => return Err(network.refuse("topology", other, &takes)),
    };
    let hop = network.time("hop")?;
    network.finish()?;
    Ok((topology, hop))
}

fn read_dimensions(network: &mut Figures<'_>) -> Result<Vec<u32>, MachineError> {
    let takes = "it takes a list of whole numbers, 1 or more: nodes along each dimension";
    let Some(value) = network.other("dimensions") else {
        return Err(network.missing("dimensions", "nodes along each, such as [8, 8, 4]"));
    };
    let nodes = |number: &f64| {
        let is_count = number.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(number);
        is_count.then_some(*number as u32)
    };
    let list = match value {
        Value::List(list) => list.iter().map(nodes).collect::<Option<Vec<_>>>(),
        _ => None,
    };
    list.filter(|list| !list.is_empty() && list.len() <= 8)
        .ok_or_else(|| network.refuse("dimensions", value, takes))
}

fn read_costs(mut costs: Figures<'_>) -> Result<Costs, MachineError> {
    let read = Costs {
        event: costs.time("event")?,
        send: costs.time("send")?,
        receive: costs.time("receive")?,
        undo: costs.time("undo")?,
        copy: costs.time("copy")?,
        commit: costs.time("commit")?,
        gvt_step: costs.time("gvt_step")?,
        turn: costs.time("turn")?,
        remote_write: costs.time("remote_write")?,
        register_read: costs.time("register_read")?,
    };
    costs.finish()?;
    Ok(read)
}

fn read_noise(mut noise: Figures<'_>) -> Result<Noise, MachineError> {
    let every = noise.time_if_any("every")?.unwrap_or_default();
    let lasts = noise.time_if_any("lasts")?.unwrap_or_default();
    if lasts > Time::ZERO && every < lasts * 2 {
        let takes =
            "interruptions must take less than half of the time; it takes twice `lasts` or more";
        return Err(noise.refuse("every", format!("{} s", every.seconds()), takes));
    }
    let stragglers = noise.number_if_any("stragglers", "share", (0.0, 1.0))?.unwrap_or_default();
    let slowdown = noise.number_if_any("slowdown", "factor", (1.0, SLOWDOWN_MOST))?.unwrap_or(1.0);
    noise.finish()?;
    Ok(Noise { every, lasts, stragglers, slowdown })
}

/// Registers in hardware; without their table there are none.
fn read_registers(mut unit: Figures<'_>) -> Result<Option<RegisterUnit>, MachineError> {
    if !unit.is_there() {
        return Ok(None);
    }
    let cycle = unit.cycle("clock")?;
    let read = RegisterUnit {
        write: unit.cycles("write", cycle)?,
        read: unit.cycles("read", cycle)?,
        rank: unit.cycles("rank", cycle)?,
    };
    unit.finish()?;
    Ok(Some(read))
}

/// Mailboxes in hardware; without their table there are none.
fn read_mailboxes(mut unit: Figures<'_>) -> Result<Option<MailboxUnit>, MachineError> {
    if !unit.is_there() {
        return Ok(None);
    }
    let cycle = unit.cycle("clock")?;
    let read = MailboxUnit {
        slots: unit.count("slots", 1)?,
        wait: unit.cycles("wait", cycle)?,
        send: unit.cycles("send", cycle)?,
        receive: unit.cycles("receive", cycle)?,
        allocate: unit.cycles("allocate", cycle)?,
        count: unit.cycles("count", cycle)?,
    };
    unit.finish()?;
    Ok(Some(read))
}
