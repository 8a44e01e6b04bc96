//! Whether a launcher of MPI programs started this one.

/// This program as a launcher such as `mpirun` or `srun` started it, together with others.
///
/// It is the key to MPI. A program that was started plainly gets none, and so cannot initialise
/// MPI, which would cost it start-up time and memory, or fail where no MPI is set up.
///
/// ```
/// use warpline_mpi::Launch;
/// match Launch::detect() {
///     None => println!("on its own"),
///     Some(launch) => println!("rank {:?} of {:?}", launch.rank(), launch.size()),
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    rank: Option<u32>,
    size: Option<u32>,
}

impl Launch {
    /// Looks for what launchers leave in the environment, and nowhere else:
    ///
    /// | variables | launcher |
    /// |---|---|
    /// | `OMPI_COMM_WORLD_RANK`, `OMPI_COMM_WORLD_SIZE` | `mpirun` of Open MPI |
    /// | `PMI_RANK`, `PMI_SIZE` | `mpiexec` of MPICH and its relatives, `srun --mpi=pmi2` |
    /// | `PMIX_RANK`, and maybe `SLURM_NTASKS` | `srun --mpi=pmix`, `prun` |
    ///
    /// The variables of Slurm alone do not count, as every program in a batch script has them,
    /// whether `srun` started it or not.
    ///
    /// A program that a rank starts plainly inherits the rank's variables, and is taken for that
    /// rank.
    pub fn detect() -> Option<Launch> {
        Self::detect_in(|name| std::env::var(name).ok())
    }

    fn detect_in(variable: impl Fn(&str) -> Option<String>) -> Option<Launch> {
        let number = |name| variable(name).and_then(|text| text.trim().parse().ok());
        for (rank, size) in
            [("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE")]
        {
            if variable(size).is_some() {
                return Some(Launch { rank: number(rank), size: number(size) });
            }
        }
        // Slurm's number of tasks is that of this step only if its rank is.
        let rank = variable("PMIX_RANK").map(|_| number("PMIX_RANK"))?;
        let of_slurm = rank.is_some() && number("SLURM_PROCID") == rank;
        Some(Launch { rank, size: number("SLURM_NTASKS").filter(|_| of_slurm) })
    }

    /// The number of this program among those started together, from 0 on, if the launcher said so.
    pub fn rank(&self) -> Option<u32> {
        self.rank
    }

    /// How many programs were started together, if the launcher said so.
    pub fn size(&self) -> Option<u32> {
        self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(variables: &[(&str, &str)]) -> Option<Launch> {
        Launch::detect_in(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn launchers_are_distinguished_from_plain_starts() {
        let launch = |rank, size| Some(Launch { rank, size });
        assert_eq!(detect(&[]), None);
        assert_eq!(
            detect(&[
                ("OMPI_COMM_WORLD_SIZE", "4"),
                ("OMPI_COMM_WORLD_RANK", "3"),
                ("PMIX_RANK", "3")
            ]),
            launch(Some(3), Some(4))
        );
        assert_eq!(detect(&[("PMI_SIZE", "2"), ("PMI_RANK", "0")]), launch(Some(0), Some(2)));
        assert_eq!(detect(&[("PMIX_RANK", "5")]), launch(Some(5), None));
        assert_eq!(
            detect(&[("PMIX_RANK", "5"), ("SLURM_PROCID", "5"), ("SLURM_NTASKS", "8")]),
            launch(Some(5), Some(8))
        );
    }

    #[test]
    fn variables_of_slurm_alone_do_not_count() {
        assert_eq!(detect(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
        // `prun` within an allocation may start another number of tasks than Slurm has.
        assert_eq!(
            detect(&[("PMIX_RANK", "2"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]),
            Some(Launch { rank: Some(2), size: None })
        );
    }

    #[test]
    fn text_that_is_not_a_number_is_unknown() {
        assert_eq!(
            detect(&[("PMI_SIZE", "two"), ("PMI_RANK", "-1")]),
            Some(Launch { rank: None, size: None })
        );
    }
}
