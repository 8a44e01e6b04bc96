use std::fs;

use super::{exactly, refusal, results, simulation};
use warpline::Records;
use warpline::prelude::*;
use warpline_models::processes::job_shop::{JobShop, JobShopParameters, Rule};

/// Instance ft06 of Fisher and Thompson: for each job, machines and times.
const FT06: [[(usize, u32); 6]; 6] = [
    [(2, 1), (0, 3), (1, 6), (3, 7), (5, 3), (4, 6)],
    [(1, 8), (2, 5), (4, 10), (5, 10), (0, 10), (3, 4)],
    [(2, 5), (3, 4), (5, 8), (0, 9), (1, 1), (4, 7)],
    [(1, 5), (0, 5), (2, 5), (3, 3), (4, 8), (5, 9)],
    [(2, 9), (1, 3), (4, 5), (5, 4), (0, 3), (3, 1)],
    [(1, 3), (3, 3), (5, 9), (0, 10), (4, 4), (2, 1)],
];

/// The makespan by a plain loop over time. A job asks for its next machine when it is done with
/// one; a free machine takes the first that asks, a machine that becomes free the best by `rank`
/// (of the time of the operation and the work left). What ends at one time ends in the order in
/// which it began.
fn by_a_loop(rank: impl Fn(u32, u32) -> i64) -> u32 {
    let mut step = [0; 6];
    let mut queues: [Vec<usize>; 6] = Default::default();
    let mut is_taken = [false; 6];
    // When an operation ends, and its job, in the order in which they began.
    let mut ends: Vec<(u32, usize)> = Vec::new();
    let mut now = 0;
    let mut asking: Vec<usize> = (0..6).collect();
    let mut starting: Option<usize> = None;
    loop {
        for job in asking.drain(..) {
            let (machine, time) = FT06[job][step[job]];
            if is_taken[machine] {
                queues[machine].push(job);
            } else {
                is_taken[machine] = true;
                ends.push((now + time, job));
            }
        }
        if let Some(job) = starting.take() {
            let (_, time) = FT06[job][step[job]];
            ends.push((now + time, job));
        }
        let Some(next) = (0..ends.len()).min_by_key(|&place| ends[place].0) else { return now };
        let (time, job) = ends.remove(next);
        now = time;
        let (machine, _) = FT06[job][step[job]];
        let best = (0..queues[machine].len()).min_by_key(|&place| {
            let job = queues[machine][place];
            let left = FT06[job][step[job]..].iter().map(|(_, time)| time).sum();
            rank(FT06[job][step[job]].1, left)
        });
        starting = best.map(|place| queues[machine].remove(place));
        is_taken[machine] = starting.is_some();
        step[job] += 1;
        if step[job] < 6 {
            asking.push(job);
        }
    }
}

#[test]
fn ft06_takes_as_long_as_a_plain_loop_says() {
    for (rule, makespan) in [
        (Rule::Fifo, by_a_loop(|_, _| 0)),
        (Rule::Shortest, by_a_loop(|time, _| i64::from(time))),
        (Rule::MostWork, by_a_loop(|_, left| -i64::from(left))),
    ] {
        // 55 is the shortest.
        assert!((55..100).contains(&makespan));
        let parameters = JobShopParameters { rule, ..JobShopParameters::default() };
        let found = results::<JobShop>(&parameters, 1000.0);
        exactly(&found, "makespan", f64::from(makespan));
        let work: u32 = FT06.iter().flatten().map(|(_, time)| time).sum();
        exactly(&found, "load", f64::from(work) / 6.0 / f64::from(makespan));
    }
}

/// No machine has two jobs at a time, no job two machines, and all follow their order.
#[test]
fn the_table_of_operations_is_a_schedule() {
    let simulation = simulation::<JobShop>(&JobShopParameters::default());
    let run = simulation.end(1000.0).records(Records::Keep).run().unwrap();
    let number = |cell: &Cell| cell.to_string().parse().unwrap();
    let rows: Vec<[f64; 4]> = run.tables[0]
        .rows
        .iter()
        .map(|(_, _, cells)| std::array::from_fn(|column| number(&cells[column])))
        .collect();
    assert_eq!(rows.len(), 36);
    for (place, [job, machine, begin, until]) in rows.iter().enumerate() {
        let (planned, time) =
            FT06[*job as usize][rows[..place].iter().filter(|other| other[0] == *job).count()];
        assert_eq!((planned as f64, f64::from(time)), (*machine, until - begin));
        for other in &rows[..place] {
            let apart = other[3] <= *begin || *until <= other[2];
            assert!(apart || (other[0] != *job && other[1] != *machine), "{other:?}");
        }
    }
}

#[test]
fn instances_are_read_from_files_and_mistakes_are_named() {
    let file = std::env::temp_dir().join(format!("warpline-job-shop-{}.csv", std::process::id()));
    let instance = file.to_str().unwrap().to_owned();
    let parameters = JobShopParameters { instance: instance.clone(), ..Default::default() };
    fs::write(&file, "# two jobs\n0,3,1,2.5\n\n 1 , 2 , 0 , 4 \n").unwrap();
    let found = results::<JobShop>(&parameters, 100.0);
    // The second job begins at machine 1 and has machine 0 from 3 to 7.
    exactly(&found, "makespan", 7.0);
    exactly(&found, "flow", (5.5 + 7.0) / 2.0);
    for (text, words) in [
        ("0,3,1", "line 1: machine `1` has no time"),
        ("#\n0,3\nx,4", "line 3: `x` is no machine"),
        ("100000,3", "line 1: `100000` is no machine"),
        ("0,-3", "line 1: `-3` is no time"),
        ("0,inf", "line 1: `inf` is no time"),
        ("\n#", "there is no job"),
    ] {
        fs::write(&file, text).unwrap();
        let why = refusal::<JobShop>(&parameters);
        assert!(why.contains(words) && why.contains(&instance), "{why}");
    }
    fs::remove_file(&file).unwrap();
    assert!(refusal::<JobShop>(&parameters).contains("cannot be read"));
}
