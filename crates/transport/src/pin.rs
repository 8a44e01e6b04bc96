use std::time::Duration;

/// Pins the calling thread, the `number`-th of `threads` busy ones, to one processor, so that it
/// keeps its cache. It does so only if there are as many threads as processors that the process may
/// use: with fewer, other programs may want some of the processors, and the system knows best which
/// are idle. Where the system has no affinities, nothing happens.
pub fn pin(number: usize, threads: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let mut processors = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor));
        if threads == allowed.count() as usize
            && let Some(processor) = processors.nth(number)
        {
            let mut one = CpuSet::new();
            one.set(processor);
            // If refused, say by a container, the thread runs all the same.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (number, threads);
}

/// How long the current thread has been running on a core. Where the system does not tell, the time
/// since this was first called.
pub fn thread_time() -> Duration {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        static BEGAN: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        BEGAN.elapsed()
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use rustix::thread::sched_getaffinity;

    fn processors_after(number: usize, threads: usize) -> u32 {
        let pinned = std::thread::spawn(move || {
            super::pin(number, threads);
            sched_getaffinity(None).unwrap().count()
        });
        pinned.join().unwrap()
    }

    #[test]
    fn threads_are_pinned_if_they_take_all_processors() {
        let all = sched_getaffinity(None).unwrap().count();
        assert_eq!(processors_after(all as usize - 1, all as usize), 1);
        assert_eq!(processors_after(0, all as usize + 1), all);
    }
}
