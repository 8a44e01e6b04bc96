//! Experiments from the literature, for `warpline study`.

mod defaults;
mod figures;
mod gsu;
mod gsu_hardware;
mod gtw;
mod knl;
mod mupi;
mod ross_mt;
mod usik;

use warpline::command::Study;

/// All studies.
pub const STUDIES: &[Study] = &[
    usik::RCPHOLD,
    usik::LOOKAHEAD,
    usik::ALL_CORES,
    usik::FIGURE_14,
    usik::FIGURE_15,
    usik::FIGURE_16,
    usik::FIGURE_17,
    usik::FIGURE_18,
    usik::FIGURE_19,
    usik::FIGURE_20,
    usik::FIGURE_21,
    usik::STRONG_SCALING,
    usik::NOISE,
    usik::GVT,
    mupi::BARRIER,
    mupi::PING,
    gsu::MESSAGE_SIZE,
    gsu::LPS,
    gsu::NETWORK,
    gsu_hardware::HARDWARE,
    gsu_hardware::SIMPLESIM,
    ross_mt::PROCESSES_AND_THREADS,
    ross_mt::OPTIMISATIONS,
    ross_mt::BREAKDOWN,
    ross_mt::MESSAGE_SIZE,
    ross_mt::SPEED_UP,
    gtw::SEND_TIME,
    gtw::RATE,
    gtw::NEIGHBOURS,
    gtw::MEMORY,
    gtw::HYPERCUBE,
    gtw::PCS,
    knl::VARIANTS,
    knl::CAS,
    knl::THREADS_PER_COMMUNICATOR,
    knl::GVT_INTERVAL,
    defaults::DEFAULTS,
];

#[cfg(test)]
mod tests {
    use warpline::command::Measured;

    use super::figures::*;
    use super::*;

    fn measured(conditions: &[&str], rates: &[[f64; 2]]) -> Measured {
        let some = |of: fn(f64) -> f64| {
            rates.iter().map(|rates| rates.iter().map(|rate| Some(of(*rate))).collect()).collect()
        };
        let conditions = conditions.iter().map(|&name| name.to_owned()).collect();
        let gains = rates
            .iter()
            .map(|rates| rates.iter().map(|rate| Some(rate / rates[0])).collect())
            .collect();
        Measured {
            conditions,
            rates: some(|rate| rate),
            gains,
            seconds: some(|rate| 1.0 / rate),
            gvt_epochs: some(|rate| rate),
            rollbacks: some(|rate| rate),
            gvt_shares: Vec::new(),
            phases: Vec::new(),
        }
    }

    #[test]
    fn gains_are_those_of_the_conditions_meant() {
        let measured = measured(
            &["8 bytes, a", "8 bytes, b", "500 bytes"],
            &[[2.0, 1.0], [3.0, 1.0], [8.0, 1.0]],
        );
        assert_eq!(gains(&measured, "8 bytes", 0, 1).as_deref(), Some("2.00 to 3.00 times"));
        assert_eq!(gains(&measured, "500", 0, 1).as_deref(), Some("8.00 times"));
        assert_eq!((gains(&measured, "none", 0, 1), gains(&measured, "500", 0, 2)), (None, None));
    }

    #[test]
    fn the_fastest_and_the_slowest_of_others_are_found() {
        let measured = measured(&["a", "b"], &[[2.0, 4.0], [3.0, 1.0]]);
        let of = |pick| gains_over(&measured, 0, &[0, 1], pick);
        assert_eq!(
            (of(f64::min).unwrap(), of(f64::max).unwrap()),
            ("0.50 to 1.00 times".to_owned(), "1.00 to 3.00 times".to_owned())
        );
        assert_eq!(gains_over(&measured, 0, &[2], f64::min), None);
    }

    #[test]
    fn the_size_from_which_copies_lose_is_found() {
        let names = ["500 bytes", "3000 bytes", "7000 bytes"];
        let from = |rates: &[[f64; 2]]| gsu::ahead_from(&measured(&names, rates), 0, 1).unwrap();
        assert_eq!(from(&[[1.0, 2.0], [2.0, 1.0], [3.0, 1.0]]), "from 3000 bytes on");
        assert_eq!(from(&[[2.0, 1.0], [2.0, 1.0], [3.0, 1.0]]), "at all sizes measured");
        assert_eq!(from(&[[2.0, 1.0], [2.0, 1.0], [1.0, 3.0]]), "not at the largest size");
    }
}
