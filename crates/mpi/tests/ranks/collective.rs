//! What all ranks do together.

use std::thread::{sleep, yield_now};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use warpline_mpi::{Barrier, Comm, NodeView, Nodes, Reducer, Reduction, Result};

/// Waits for the result of a reduction.
fn reduce(reducer: &mut Reducer<'_>, reduction: Reduction, mine: &[u64]) -> Result<Vec<u64>> {
    reducer.start(reduction, mine)?;
    assert!(reducer.is_busy());
    loop {
        if let Some(found) = reducer.test()? {
            return Ok(found.to_vec());
        }
        yield_now();
    }
}

pub(crate) fn reductions(comm: &Comm<'_>, rounds: u64) -> Result<()> {
    let me = u64::from(comm.rank());
    let size = u64::from(comm.size());
    let mut reducer = Reducer::new(comm, 3)?;
    assert!(reducer.test()?.is_none() && !reducer.is_busy());
    for round in 0..rounds {
        let lowest = round % size;
        let mine =
            [if me == lowest { round } else { u64::MAX }, 1000 + (me + round) % size, u64::MAX];
        assert_eq!(reduce(&mut reducer, Reduction::Min, &mine)?, [round, 1000, u64::MAX]);
        assert!(reducer.test()?.is_none() && !reducer.is_busy(), "a result is found once");
        let sums = [
            size * round + size * (size - 1) / 2,
            0_u64.wrapping_sub(size),
            if round % 2 == 0 { 1 } else { 0 },
        ];
        let mine = [round + me, u64::MAX, u64::from(me == lowest && round % 2 == 0)];
        assert_eq!(reduce(&mut reducer, Reduction::Sum, &mine)?, sums);
    }
    composite(comm, rounds)?;
    let mut nothing = Reducer::new(comm, 0)?;
    assert_eq!(reduce(&mut nothing, Reduction::Sum, &[])?, []);
    Ok(())
}

/// Sums and least keys in one: a key is found whole, and the first of its numbers that differs
/// decides, without a sign.
fn composite(comm: &Comm<'_>, rounds: u64) -> Result<()> {
    let me = u64::from(comm.rank());
    let size = u64::from(comm.size());
    let mut reducer = Reducer::new(comm, 8)?;
    for round in 0..rounds {
        let lowest = round % size;
        let high = 1 << 63;
        let far = if me == lowest { [high, 7, me] } else { [high, 8, 0] };
        let near = [u64::MAX - u64::from(me == lowest), me, u64::MAX];
        let mine = [me, u64::MAX, far[0], far[1], far[2], near[0], near[1], near[2]];
        let found = reduce(&mut reducer, Reduction::Composite { sums: 2, key: 3 }, &mine)?;
        let sums = [size * (size - 1) / 2, 0_u64.wrapping_sub(size)];
        assert_eq!(found, [sums[0], sums[1], high, 7, lowest, u64::MAX - 1, lowest, u64::MAX]);
    }
    Ok(())
}

/// Nanoseconds on the clock that all ranks of this machine share.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// Nobody gets past a barrier before the last rank has arrived, and no call waits.
pub(crate) fn barriers(comm: &Comm<'_>) -> Result<()> {
    let mut barrier = Barrier::new(comm)?;
    let mut reducer = Reducer::new(comm, 2)?;
    assert!(!barrier.test()?, "nobody has arrived");
    for late in 0..comm.size() {
        if comm.rank() == late {
            sleep(Duration::from_millis(30));
        }
        let arrived = now();
        barrier.arrive()?;
        let returned = now();
        let mut tests = 1;
        while !barrier.test()? {
            tests += 1;
            yield_now();
        }
        // When the first passed, and by the least complement, when the last arrived.
        let found = reduce(&mut reducer, Reduction::Min, &[now(), !arrived])?;
        assert!(found[0] >= !found[1], "a rank passed {} ns too early", !found[1] - found[0]);
        assert!(
            comm.size() == 1 || comm.rank() == late || tests > 1 || returned >= !found[1],
            "arriving does not wait"
        );
        assert!(!barrier.test()?, "it is passed once");
    }
    Ok(())
}

/// The bytes of a rank: none of rank 1, and megabytes of rank 2.
fn part(rank: u32) -> Vec<u8> {
    let length = [5, 0, 3_000_001].get(rank as usize).copied().unwrap_or(rank as usize * 1013);
    (0..length).map(|place| (place / 7 + rank as usize) as u8).collect()
}

pub(crate) fn gathering(comm: &Comm<'_>) -> Result<()> {
    for _ in 0..3 {
        let all = comm.gather(&part(comm.rank()))?;
        assert_eq!(all, (comm.rank() == 0).then(|| (0..comm.size()).map(part).collect()));
    }
    for length in [0, 1, 5000, 3_000_001] {
        let whole: Vec<u8> = (0..length).map(|place| (place / 3) as u8).collect();
        let mut bytes = if comm.rank() == 0 { whole.clone() } else { vec![7; 12] };
        comm.broadcast(&mut bytes)?;
        assert!(bytes == whole, "{length} bytes");
    }
    Ok(())
}

pub(crate) fn nodes(comm: &Comm<'_>) -> Result<()> {
    let me = comm.rank();
    let size = comm.size();
    let together = Nodes::find(comm, NodeView::Shared)?;
    assert_eq!(
        (together.count(), together.node_size(), together.node_rank()),
        (1, size as usize, me as usize)
    );
    assert!(together.neighbours().eq(0..size) && (0..size).all(|rank| together.node_of(rank) == 0));
    let apart = Nodes::find(comm, NodeView::Apart)?;
    assert_eq!((apart.count(), apart.node_size(), apart.node_rank()), (size as usize, 1, 0));
    assert!(apart.neighbours().eq([me]) && (0..size).all(|rank| apart.node_of(rank) == rank));
    Ok(())
}
