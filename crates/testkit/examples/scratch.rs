use warpline::*;
use warpline_testkit::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let (seed, pes, cluster) = (a[0], a[1] as u32, a[2]);
    let recipe = Recipe::from_seed(seed);
    let t = std::time::Instant::now();
    let mut report = |p: &Progress| eprintln!("{p:?}");
    let run = Simulation::new(RandomModel::<0>::new(&recipe)).seed(seed).end(1e9).run().unwrap();
    eprintln!("seq {} {:?} lps {}", run.record.digest, run.record.committed_events, recipe.lps);
    let mut s = Simulation::new(RandomModel::<0>::new(&recipe)).seed(seed).end(1e9).sync(Synchronisation::Optimistic).threads(pes).on_progress(&mut report);
    if cluster > 0 { s = s.virtual_cluster(cluster) }
    let run = s.run().unwrap();
    eprintln!("par {} {:?} {:?}", run.record.digest, run.record.committed_events, t.elapsed());
    eprintln!("{:?}", run.record.parallel);
}
