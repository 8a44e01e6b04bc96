//! TCP on this machine, in place of a network to others, of which nothing is known.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use warpline_machine::Sheet;

use super::sample::Sample;

/// The bytes of a short message.
const SHORT: usize = 64;
/// The bytes of a write in a long stream.
const CHUNK: usize = 1 << 16;

/// Figures of TCP, in seconds.
#[derive(Clone, Debug)]
pub(super) struct Loopback {
    one_way: Sample,
    /// The call that sends a short message.
    call: Sample,
    bytes_per_second: Sample,
}

/// Two ends of a connection.
fn connection() -> io::Result<[TcpStream; 2]> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let here = TcpStream::connect(listener.local_addr()?)?;
    let (there, _) = listener.accept()?;
    here.set_nodelay(true)?;
    there.set_nodelay(true)?;
    Ok([here, there])
}

impl Loopback {
    /// Measures it; `None` if the system does not let this program use TCP.
    pub(super) fn measured(times: usize, quick: bool) -> Option<Self> {
        let rounds = if quick { 50 } else { 300 };
        let chunks = if quick { 100 } else { 1000 };
        let trips: Vec<[f64; 2]> =
            (0..times).map(|_| round_trips(rounds)).collect::<io::Result<_>>().ok()?;
        let rates: Vec<f64> = (0..times).map(|_| stream(chunks)).collect::<io::Result<_>>().ok()?;
        Some(Loopback {
            one_way: trips.iter().map(|[trip, _]| trip / 2.0).collect(),
            call: trips.iter().map(|[_, call]| *call).collect(),
            bytes_per_second: rates.into_iter().collect(),
        })
    }

    pub(super) fn write(&self, sheet: &mut Sheet) {
        let origin = |sample: &Sample| {
            let measured = sample.origin("by TCP on this machine");
            format!("assumed: other nodes are reached as this one reaches itself; {measured}")
        };
        let Loopback { one_way, call, bytes_per_second } = self;
        let latency = (one_way.median() - 2.0 * call.median()).max(0.0);
        sheet.time("latency", latency, &origin(one_way));
        sheet.time("overhead", call.median(), &origin(call));
        sheet.time("gap", 0.0, "assumed: part of the overhead");
        sheet.bandwidth("bandwidth", bytes_per_second.median(), &origin(bytes_per_second));
    }

    /// What is written where there is no TCP.
    pub(super) fn write_assumed(sheet: &mut Sheet) {
        let origin = "assumed: 10-gigabit Ethernet, as no TCP could be used to measure anything";
        sheet.time("latency", 20e-6, origin);
        sheet.time("overhead", 5e-6, origin);
        sheet.time("gap", 0.0, "assumed: part of the overhead");
        sheet.bandwidth("bandwidth", 1.25e9, origin);
    }
}

/// Seconds for a short message and its answer, and for the call that sends it.
fn round_trips(rounds: u32) -> io::Result<[f64; 2]> {
    let [mut here, mut there] = connection()?;
    thread::scope(|scope| {
        let answers = scope.spawn(move || -> io::Result<()> {
            let mut message = [0; SHORT];
            for _ in 0..rounds {
                there.read_exact(&mut message)?;
                there.write_all(&message)?;
            }
            Ok(())
        });
        let mut message = [1; SHORT];
        let mut calls = 0.0;
        let started = Instant::now();
        for _ in 0..rounds {
            let called = Instant::now();
            here.write_all(&message)?;
            calls += called.elapsed().as_secs_f64();
            here.read_exact(&mut message)?;
        }
        let seconds = started.elapsed().as_secs_f64();
        answers.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok([seconds, calls].map(|all| all / f64::from(rounds)))
    })
}

/// Bytes per second of a long stream.
fn stream(chunks: u32) -> io::Result<f64> {
    let [mut here, mut there] = connection()?;
    let bytes = CHUNK * chunks as usize;
    thread::scope(|scope| {
        let reader = scope.spawn(move || -> io::Result<()> {
            let mut chunk = vec![0; CHUNK];
            let mut left = bytes;
            while left > 0 {
                match there.read(&mut chunk)? {
                    0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                    some => left -= some.min(left),
                }
            }
            Ok(())
        });
        let chunk = vec![1; CHUNK];
        let started = Instant::now();
        for _ in 0..chunks {
            here.write_all(&chunk)?;
        }
        reader.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok(bytes as f64 / started.elapsed().as_secs_f64())
    })
}
