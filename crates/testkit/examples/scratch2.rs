use warpline_testkit::*;
fn main() {
    let a: Vec<u64> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    for seed in a[0]..a[1] {
        let recipe = Recipe::from_seed(seed);
        let settings = Settings::new(seed, 1e9);
        let mut seq = None;
        for c in matrix::configurations(seed, 4) {
            eprint!("{seed} {c:?}");
            let t = std::time::Instant::now();
            let r = matrix::run(RandomModel::<0>::new(&recipe), &settings, c).unwrap().unwrap();
            let e = t.elapsed();
            eprintln!(" {} {e:?} {}", r.committed, r.digest);
            let s = seq.get_or_insert(r.digest.clone());
            assert_eq!(*s, r.digest);
        }
    }
}
