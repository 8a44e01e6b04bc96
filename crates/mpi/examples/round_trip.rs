//! How long a batch takes to another rank and back, and how many go one way per second. For two
//! ranks:
//!
//! ```text
//! cargo build --release -p warpline-mpi --features mpi --example round_trip
//! mpirun -np 2 target/release/examples/round_trip
//! mpirun -np 2 --mca pml ob1 --mca btl tcp,self target/release/examples/round_trip
//! ```

use std::time::{Duration, Instant};

use warpline_mpi::{
    Comm, Launch, Mpi, ReceiveLimits, Receiver, Reducer, Reduction, Result, SendLimits, SendPool,
    Tag, ThreadLevel,
};

const TAG: Tag = Tag::new(0);
/// Each figure is the best of this many spans, each at least this long.
const SPANS: usize = 5;
const SPAN: Duration = Duration::from_millis(400);

fn main() -> Result<()> {
    let Some(launch) = Launch::detect() else {
        eprintln!("start this with mpirun -np 2");
        return Ok(());
    };
    let mpi = Mpi::start(launch, ThreadLevel::Funneled)?;
    if mpi.size() != 2 {
        eprintln!("this is for two ranks");
        mpi.abort(2);
    }
    let comm = mpi.world()?;
    let reduction = reduction(&comm)?;
    if mpi.rank() == 0 {
        println!("reduction of 2 numbers: {:.2} µs", 1e6 * reduction);
    }
    for capacity in [64, 64 << 10] {
        let mut lane = Lane::new(&comm, capacity)?;
        let trip = lane.best(Lane::round_trips)?;
        let message = lane.best(Lane::one_way)?;
        if mpi.rank() == 0 {
            let rate = capacity as f64 / message / 1e9;
            println!(
                "{capacity:6} bytes: round trip {:7.2} µs, {:9.0} batches/s one way, {rate:.2} \
                 GB/s",
                1e6 * trip,
                1.0 / message
            );
        }
    }
    Ok(())
}

/// Both directions between this rank and the other one.
struct Lane<'a, 'm> {
    comm: &'a Comm<'m>,
    pool: SendPool<'m>,
    receiver: Receiver<'m>,
    capacity: usize,
}

impl<'a, 'm> Lane<'a, 'm> {
    fn new(comm: &'a Comm<'m>, capacity: usize) -> Result<Self> {
        let own = comm.duplicate()?;
        let pool = SendPool::new(&own, SendLimits { capacity, batches: 64, large: 1 })?;
        let receiver = Receiver::new(&own, TAG, ReceiveLimits { capacity, buffers: 64 })?;
        Ok(Lane { comm, pool, receiver, capacity })
    }

    /// Seconds per repetition, where `measure` takes the time of as many as it is told.
    fn best(&mut self, measure: fn(&mut Self, u32) -> Result<Duration>) -> Result<f64> {
        let mut count = 100;
        // Rank 0 decides, so that both do the same.
        while self.seconds(measure, count)? < SPAN.as_secs_f64() {
            count *= 2;
        }
        let mut best = f64::INFINITY;
        for _ in 0..SPANS {
            best = best.min(self.seconds(measure, count)? / f64::from(count));
        }
        Ok(best)
    }

    fn seconds(
        &mut self,
        measure: fn(&mut Self, u32) -> Result<Duration>,
        count: u32,
    ) -> Result<f64> {
        self.comm.gather(&[])?;
        let mut taken = measure(self, count)?.as_secs_f64().to_le_bytes().to_vec();
        self.comm.broadcast(&mut taken)?;
        Ok(f64::from_le_bytes(taken.try_into().expect("rank 0 sends eight bytes")))
    }

    /// Fills a batch and sends it, and receives nothing meanwhile.
    fn send(&mut self) -> Result<()> {
        let mut buffer = self.pool.take()?;
        buffer.grow(self.capacity).expect("it is the capacity");
        while let Some(refused) = self.pool.send(1 - self.comm.rank(), TAG, buffer)?.refused() {
            buffer = refused;
        }
        Ok(())
    }

    /// Waits until this many batches have come.
    fn receive(&mut self, count: u32) -> Result<()> {
        let mut found = 0;
        while found < count {
            self.receiver.poll(|_, batch| {
                std::hint::black_box(batch);
                found += 1;
            })?;
        }
        Ok(())
    }

    fn round_trips(&mut self, count: u32) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..count {
            if self.comm.rank() == 0 {
                self.send()?;
                self.receive(1)?;
            } else {
                self.receive(1)?;
                self.send()?;
            }
        }
        Ok(start.elapsed())
    }

    /// Rank 0 sends, and rank 1 answers when it has received all.
    fn one_way(&mut self, count: u32) -> Result<Duration> {
        let start = Instant::now();
        if self.comm.rank() == 0 {
            for _ in 0..count {
                self.send()?;
            }
            self.receive(1)?;
        } else {
            self.receive(count)?;
            self.send()?;
        }
        Ok(start.elapsed())
    }
}

/// Seconds per reduction.
fn reduction(comm: &Comm<'_>) -> Result<f64> {
    const COUNT: u32 = 20_000;
    let mut reducer = Reducer::new(comm, 2)?;
    let mut best = f64::INFINITY;
    for _ in 0..SPANS {
        let start = Instant::now();
        for number in 0..COUNT {
            reducer.start(Reduction::Min, &[u64::from(number), 7])?;
            while reducer.test()?.is_none() {}
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(COUNT));
    }
    Ok(best)
}
