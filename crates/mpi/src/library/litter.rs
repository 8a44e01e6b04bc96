use std::fs;

/// Where Open MPI keeps the memory that ranks of a machine share.
const FOLDER: &str = "/dev/shm";

/// Removes the files of shared memory that Open MPI leaves behind when ranks end without finishing
/// MPI: those of this job, on this machine. A rank that ends like that should call it. Other
/// libraries remove their files themselves.
pub fn remove_shared_memory() {
    let Some(job) =
        std::env::var("PMIX_NAMESPACE").ok().and_then(|number| number.parse::<u32>().ok())
    else {
        return;
    };
    for file in fs::read_dir(FOLDER).into_iter().flatten().flatten() {
        if file.file_name().to_str().is_some_and(|name| is_of(name, job)) {
            // Another rank may have been faster.
            let _ = fs::remove_file(file.path());
        }
    }
}

/// Names are made of a word, the host, the user, the job in hexadecimal, and the rank.
fn is_of(name: &str, job: u32) -> bool {
    let mut parts = name.rsplit('.');
    let is_rank = parts.next().is_some_and(|rank| rank.parse::<u32>().is_ok());
    let is_job = parts.next().is_some_and(|found| u32::from_str_radix(found, 16) == Ok(job));
    name.starts_with("vader_segment.") && is_rank && is_job
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_the_job_are_meant() {
        let name = "vader_segment.node-7.example.org.1000.76000001.3";
        assert!(is_of(name, 0x7600_0001));
        assert!(!is_of(name, 0x7600_0002) && !is_of(&name.replace("vader", "other"), 0x7600_0001));
        assert!(!is_of("vader_segment.76000001", 0x7600_0001) && !is_of("", 0));
    }
}
