/// Keeps the calling thread on one processor: the `number`-th, counted in a circle, of those that the process may use. A thread that
/// stays keeps its cache. Where the system knows no such thing, nothing happens.
pub fn pin(number: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
        let Ok(allowed) = sched_getaffinity(None) else { return };
        let processors: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| allowed.is_set(processor)).collect();
        if processors.len() > 1 {
            let mut one = CpuSet::new();
            one.set(processors[number % processors.len()]);
            // Refused, say by a container: the thread runs all the same.
            let _ = sched_setaffinity(None, &one);
        }
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = number;
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    #[test]
    fn a_pinned_thread_has_one_processor() {
        use rustix::thread::sched_getaffinity;
        std::thread::spawn(|| {
            let before = sched_getaffinity(None).unwrap().count();
            super::pin(before as usize + 1);
            assert_eq!(sched_getaffinity(None).unwrap().count(), 1);
        })
        .join()
        .unwrap();
    }
}
