//! Compiles the shim with the flags of `mpicc`, and links the MPI library. Without the feature
//! `mpi` there is nothing to do.

#[cfg(not(feature = "mpi"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}

#[cfg(feature = "mpi")]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shim/shim.c");
    println!("cargo:rerun-if-env-changed=MPICC");
    if let Err(problem) = wrapper::build() {
        eprintln!("{problem}");
        std::process::exit(1);
    }
}

#[cfg(feature = "mpi")]
mod wrapper {
    use std::process::Command;

    const HELP: &str = "\
The feature `mpi` needs an MPI library with its compiler wrapper `mpicc`:
    Debian, Ubuntu:  apt-get install libopenmpi-dev openmpi-bin
    Fedora, RHEL:    dnf install openmpi-devel, and then: module load mpi/openmpi-x86_64
    macOS:           brew install open-mpi
    clusters:        load the site's module, such as: module load openmpi
Where the wrapper has another name or lies elsewhere, set MPICC to it.";

    pub(super) fn build() -> Result<(), String> {
        let mpicc = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
        let compile = flags(&mpicc, &["--showme:compile", "-show"])?;
        let link = flags(&mpicc, &["--showme:link", "-show"])?;
        let mut shim = cc::Build::new();
        shim.file("shim/shim.c").std("c11").extra_warnings(true);
        for flag in compile.iter().filter(|flag| {
            ["-I", "-D", "-pthread", "-isystem"].iter().any(|start| flag.starts_with(start))
        }) {
            shim.flag(flag);
        }
        shim.try_compile("warpline_mpi_shim").map_err(|error| format!("{error}\n\n{HELP}"))?;
        for flag in &link {
            if let Some(folder) = flag.strip_prefix("-L") {
                println!("cargo:rustc-link-search=native={folder}");
            } else if let Some(library) = flag.strip_prefix("-l") {
                println!("cargo:rustc-link-lib={library}");
            } else if flag.starts_with("-Wl,") {
                // Cargo passes this on only to the tests and examples of this crate. Programs that
                // use the crate find a library in an unusual place by LD_LIBRARY_PATH, which the
                // modules of clusters set.
                println!("cargo:rustc-link-arg={flag}");
            }
        }
        Ok(())
    }

    /// What the wrapper passes to the compiler: its answer to the first question that it
    /// understands. Open MPI knows `--showme`; MPICH and its relatives know `-show`, which prints
    /// the whole command.
    fn flags(mpicc: &str, questions: &[&str]) -> Result<Vec<String>, String> {
        for question in questions {
            let output = Command::new(mpicc)
                .arg(question)
                .output()
                .map_err(|error| format!("cannot run {mpicc}: {error}\n\n{HELP}"))?;
            if output.status.success() {
                return Ok(String::from_utf8_lossy(&output.stdout)
                    .split_whitespace()
                    .map(str::to_owned)
                    .collect());
            }
        }
        Err(format!("{mpicc} understands neither of {}\n\n{HELP}", questions.join(" and ")))
    }
}
