use super::{about, steady};
use crate::estimates::near;
use warpline_models::processes::machine_shop::{MachineShop, Times};

/// The probability of each number of broken machines in M/M/1//N.
fn broken(shop: &MachineShop) -> Vec<f64> {
    let mut weights = vec![1.0];
    for number in 0..shop.machines {
        let up = f64::from(shop.machines - number);
        weights.push(weights[number as usize] * up * shop.repair / shop.up_time);
    }
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / sum).collect()
}

/// Other jobs do not delay repairs, and get all the time that repairs leave.
#[test]
fn repairs_follow_theory_and_other_jobs_get_the_rest() {
    for machines in [1, 10, 15] {
        let shop = MachineShop {
            machines,
            part: 40.0,
            repair_times: Times::Exponential,
            ..MachineShop::default()
        };
        let chances = broken(&shop);
        let down: f64 = (0u32..).zip(&chances).map(|(number, p)| f64::from(number) * p).sum();
        let working = f64::from(machines) - down;
        let end = 1_000_000.0;
        let found = steady::<MachineShop>(&shop, end);
        near(&found, "working", working);
        super::exactly(&found, "busy", 1.0);
        let time = 0.98 * end;
        about(&found, "failures", time * working / shop.up_time, 0.04);
        about(&found, "parts", time * working / shop.part, 0.04);
        about(&found, "jobs", time * chances[0] / shop.job, 0.06);
    }
}

/// With one machine only the mean of the repair counts.
#[test]
fn one_machine_works_the_same_share_of_time_with_fixed_repairs() {
    let shop = MachineShop { machines: 1, ..MachineShop::default() };
    near(&steady::<MachineShop>(&shop, 1_000_000.0), "working", 300.0 / 330.0);
}
