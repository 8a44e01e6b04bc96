use std::collections::VecDeque;

use super::{count, exactly, results, simulation};
use warpline::prelude::*;
use warpline_models::processes::movie::Movie;

/// One ticket is sold per minute, from the first moment on; at the last but one the film is sold
/// out, and all leave.
#[test]
fn a_film_that_everybody_wants_is_sold_out_after_49_tickets() {
    let movie = Movie { films: 1, gap: 0.01, most_tickets: 1, ..Movie::default() };
    let found = results::<Movie>(&movie, 120.0);
    exactly(&found, "sold", 49.0);
    exactly(&found, "refused", 0.0);
    let when = found["sold_out"]["mean"].as_f64().unwrap();
    assert!((48.0..48.1).contains(&when), "{when}");
    let reneged = count(&found, "reneged");
    assert!((reneged - (4800.0 - 49.0)).abs() < 4.0 * 70.0, "{reneged}");
}

/// What the queue for tickets does, by a plain loop: tickets sold, people who reneged, and people
/// refused.
fn by_a_loop(movie: &Movie, end: f64, seed: u64) -> [f64; 3] {
    let mut random = Random::new(seed, LpId(0), 7);
    let mut left = vec![movie.tickets; movie.films as usize];
    let mut sold_out = vec![false; movie.films as usize];
    let mut queue: VecDeque<(usize, u32)> = VecDeque::new();
    let mut arrival = random.exponential(movie.gap);
    let mut free = 0.0;
    let mut found = [0.0; 3];
    loop {
        // The counter serves before the next person comes.
        while let Some(&(film, wanted)) = queue.front().filter(|_| free <= arrival) {
            if free >= end {
                return found;
            }
            queue.pop_front();
            if left[film] < wanted {
                found[2] += 1.0;
                free += movie.talk / 2.0;
                continue;
            }
            left[film] -= wanted;
            found[0] += f64::from(wanted);
            free += movie.talk;
            if left[film] < movie.least_left {
                sold_out[film] = true;
                let waiting = queue.len();
                queue.retain(|(other, _)| *other != film);
                found[1] += (waiting - queue.len()) as f64;
            }
        }
        if arrival >= end {
            return found;
        }
        let film = random.below(movie.films) as usize;
        if !sold_out[film] {
            queue.push_back((film, 1 + random.below(movie.most_tickets)));
            if queue.len() == 1 && free < arrival {
                free = arrival;
            }
        }
        arrival += random.exponential(movie.gap);
    }
}

#[test]
fn a_plain_loop_comes_to_the_same_means() {
    let movie = Movie::default();
    let end = 60.0;
    let runs = 400;
    let simulation = simulation::<Movie>(&movie).end(end);
    let found = simulation.seed(1).replicate(runs as u32).unwrap();
    let loops: Vec<_> = (0..4000).map(|seed| by_a_loop(&movie, end, seed)).collect();
    for (place, name) in ["sold", "reneged", "refused"].into_iter().enumerate() {
        let truth = loops.iter().map(|found| found[place]).sum::<f64>() / loops.len() as f64;
        let spread = found.spread(name).unwrap();
        let half = spread.ci95.unwrap();
        assert!(
            (spread.mean - truth).abs() < 2.2 * half,
            "{name}: {} ± {half}, not {truth}",
            spread.mean
        );
        assert!(half < 0.2 * truth, "{name}: ± {half}");
    }
}
