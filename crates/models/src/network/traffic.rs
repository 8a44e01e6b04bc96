//! How sources space and size their packets.

use std::num::NonZeroU32;

use super::parameters::{NetworkParameters, Sizes, Sources};

/// When the sources send.
#[derive(Clone, Copy, Debug)]
pub(super) enum Pattern {
    Poisson,
    /// Mean on and off times, s.
    OnOff {
        on: f64,
        off: f64,
    },
    /// Mean on and off times, and when all sources have started, s.
    Udp {
        on: f64,
        off: f64,
        start: f64,
    },
}

/// What all sources have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Traffic {
    pub(super) pattern: Pattern,
    /// The share of time in which they send.
    pub(super) duty: f64,
    /// The mean size of packets.
    pub(super) mean_bits: NonZeroU32,
    pub(super) exponential_sizes: bool,
}

impl Traffic {
    /// # Errors
    /// If no packet fits into a buffer.
    pub(super) fn new(
        parameters: &NetworkParameters,
        in_star_clique: bool,
    ) -> Result<Self, String> {
        let NetworkParameters { on, off, udp_start: start, packet_size, udp_size, .. } =
            *parameters;
        let sources = sources(parameters, in_star_clique);
        let (pattern, duty) = match sources {
            Sources::Auto | Sources::Poisson => (Pattern::Poisson, 1.0),
            Sources::OnOff => (Pattern::OnOff { on, off }, on / (on + off)),
            Sources::Udp => (Pattern::Udp { on, off, start }, on / (on + off)),
        };
        let (name, size, exponential_sizes) = match sources {
            Sources::Udp => ("udp-size", udp_size, false),
            _ => ("packet-size", packet_size, parameters.sizes == Sizes::Exponential),
        };
        if !exponential_sizes && parameters.buffer < u64::from(size) {
            return Err(format!(
                "`buffer` ({} bytes) is smaller than a packet (`{name}`, {size} bytes), so every packet would be dropped",
                parameters.buffer
            ));
        }
        let mean_bits = NonZeroU32::new(size.saturating_mul(8)).unwrap_or(NonZeroU32::MIN);
        Ok(Traffic { pattern, duty, mean_bits, exponential_sizes })
    }

    /// The share of a link's rate that traffic of this weight takes; the weights on the most loaded
    /// link sum to `most`.
    pub(super) fn share(&self, parameters: &NetworkParameters, weight: f64, most: f64) -> f64 {
        match self.pattern {
            Pattern::Udp { .. } => weight * parameters.udp_share * self.duty,
            Pattern::Poisson | Pattern::OnOff { .. } => weight / most * parameters.load,
        }
    }

    /// Whether all demands send alike, whatever their weights.
    pub(super) fn ignores_weights(&self) -> bool {
        matches!(self.pattern, Pattern::Udp { .. })
    }
}

/// The kind of sources in this topology, with `auto` resolved.
fn sources(parameters: &NetworkParameters, in_star_clique: bool) -> Sources {
    match parameters.sources {
        Sources::Auto if in_star_clique => Sources::Udp,
        Sources::Auto => Sources::Poisson,
        given => given,
    }
}

/// Which parameters have no effect, and why.
pub(super) fn notes(
    parameters: &NetworkParameters,
    in_star_clique: bool,
) -> Vec<(&'static str, String)> {
    let idle = |names: &[&'static str], why: &str| -> Vec<_> {
        names.iter().map(|name| (*name, format!("has no effect: sources are {why}"))).collect()
    };
    let no_udp =
        || idle(&["udp-share", "udp-size", "udp-start"], "not UDP; set `sources` to `udp`");
    match sources(parameters, in_star_clique) {
        Sources::Udp => idle(
            &["load", "packet-size", "sizes"],
            "UDP, for which `udp-share` and `udp-size` count",
        ),
        Sources::OnOff => no_udp(),
        Sources::Auto | Sources::Poisson => {
            let mut notes = idle(&["on", "off"], "not on-off; set `sources` to `onoff`");
            notes.extend(no_udp());
            notes
        }
    }
}
