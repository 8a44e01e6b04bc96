//! Compiles the shim over Boost.Interprocess. Without the feature `boost` there is nothing to do.

#[cfg(not(feature = "boost"))]
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
}

#[cfg(feature = "boost")]
fn main() {
    const HELP: &str = "\
The feature `boost` needs a compiler for C++17 and the headers of Boost:
    Debian, Ubuntu:  apt-get install g++ libboost-dev
    Fedora, RHEL:    dnf install gcc-c++ boost-devel
    macOS:           brew install boost
Where the headers lie elsewhere, set CXXFLAGS to -I and their folder.";

    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=shim/boost.cpp");
    let mut shim = cc::Build::new();
    // Optimised in every profile, as it stands for an optimised library. Boost's own headers do not
    // compile without warnings.
    shim.cpp(true)
        .std("c++17")
        .file("shim/boost.cpp")
        .opt_level(3)
        .define("NDEBUG", None)
        .warnings(false)
        .flag("-Wall");
    if let Err(problem) = shim.try_compile("warpline_boost_shim") {
        eprintln!("{problem}\n\n{HELP}");
        std::process::exit(1);
    }
    // For systems where POSIX shared memory and its locks are not in the C library itself.
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        println!("cargo:rustc-link-lib=rt");
        println!("cargo:rustc-link-lib=pthread");
    }
}
