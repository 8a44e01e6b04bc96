/// Keeps the calling thread, the `number`-th of `threads` that are busy, on one processor: a thread that stays keeps its cache. But only
/// if they are as many as the processors that the process may use. Where they are fewer, others may want some of these, and the system
/// knows best which are idle; where it knows no such thing as staying, nothing happens.
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
            // Refused, say by a container: the thread runs all the same.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (number, threads);
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
    fn threads_that_take_all_processors_stay() {
        let all = sched_getaffinity(None).unwrap().count();
        assert_eq!(processors_after(all as usize - 1, all as usize), 1);
        assert_eq!(processors_after(0, all as usize + 1), all);
    }
}
