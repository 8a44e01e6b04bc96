/// Asks the system to back `values` and the spare capacity behind them with huge pages, which saves most misses of
/// the address cache in large tables. It has no effect but on speed, and none where the system knows no huge pages.
pub fn prefer_huge_pages<T>(values: &mut Vec<T>) {
    let bytes = values.capacity() * size_of::<T>();
    advise(values.as_mut_ptr().cast(), bytes);
}

#[cfg(all(target_os = "linux", not(miri)))]
fn advise(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    const HUGE_PAGE: usize = 2 << 20;
    const PAGE: usize = 4096;
    if bytes < 2 * HUGE_PAGE {
        return;
    }
    let skipped = start.align_offset(PAGE);
    let (first, length) = (start.wrapping_add(skipped), (bytes - skipped) / PAGE * PAGE);
    // SAFETY: the `length` bytes from `first` lie within one allocation that the caller holds exclusively, as `skipped` < PAGE < `bytes`;
    // and `LinuxHugepage` leaves the contents and the mapping of every page as they are.
    let advised = unsafe { madvise(first.cast(), length, Advice::LinuxHugepage) };
    // Refused, say by a kernel built without huge pages: the table works all the same.
    let _ = advised;
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn advise(_: *mut u8, _: usize) {}

#[cfg(test)]
mod tests {
    #[test]
    fn contents_stay() {
        let count = if cfg!(miri) { 300 } else { 3_000_000 };
        let mut values: Vec<u32> = (0..count).collect();
        super::prefer_huge_pages(&mut values);
        values.push(count);
        assert!(values.iter().enumerate().all(|(i, &v)| i == v as usize));
        super::prefer_huge_pages(&mut Vec::<u64>::new());
    }
}
