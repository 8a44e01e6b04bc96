//! The memory that the control groups of Linux allow a process.

use std::fs::read_to_string;
use std::path::{Component, Path, PathBuf};

/// The least of the limits of the process's own control group and of those around it, in bytes;
/// `None` where there is none. Batch systems and service managers nest groups, and a limit holds
/// for all that is below it.
pub(crate) fn memory_limit() -> Option<u64> {
    limit_in(Path::new("/"))
}

/// A hierarchy of control groups.
enum Hierarchy {
    /// The first version, with a hierarchy for each thing that is controlled.
    First,
    /// The second version, with one hierarchy for all.
    Second,
}

impl Hierarchy {
    /// The file of a group that has its limit.
    fn file(&self) -> &'static str {
        match self {
            Hierarchy::First => "memory.limit_in_bytes",
            Hierarchy::Second => "memory.max",
        }
    }

    /// Whether this line of `/proc/self/cgroup` is about it: `number:what is controlled:path`.
    fn names(&self, controlled: &str) -> bool {
        match self {
            Hierarchy::First => controlled.split(',').any(|name| name == "memory"),
            Hierarchy::Second => controlled.is_empty(),
        }
    }

    /// Whether a file system of this type with these options is it.
    fn is_in(&self, kind: &str, options: &str) -> bool {
        match self {
            Hierarchy::First => kind == "cgroup" && options.split(',').any(|name| name == "memory"),
            Hierarchy::Second => kind == "cgroup2",
        }
    }
}

/// The same where the system's files are in `root`.
fn limit_in(root: &Path) -> Option<u64> {
    let groups = read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = read_to_string(root.join("proc/self/mountinfo")).ok()?;
    let limit = |hierarchy: Hierarchy| {
        let group = groups.lines().find_map(|line| {
            let (controlled, path) = line.split_once(':')?.1.split_once(':')?;
            hierarchy.names(controlled).then_some(Path::new(path))
        })?;
        let limits = mounts.lines().filter_map(|line| {
            let (inside, place) = mounted(line, &hierarchy)?;
            limit_around(
                &root.join(place.strip_prefix("/").ok()?),
                below(group, &inside),
                hierarchy.file(),
            )
        });
        limits.min()
    };
    [Hierarchy::First, Hierarchy::Second].into_iter().filter_map(limit).min()
}

/// Which of its directories a hierarchy shows at which place, if this line of
/// `/proc/self/mountinfo` is about it.
fn mounted(line: &str, hierarchy: &Hierarchy) -> Option<(PathBuf, PathBuf)> {
    let (place, system) = line.split_once(" - ")?;
    let mut system = system.split(' ');
    let kind = system.next()?;
    let options = system.nth(1)?;
    let mut place = place.split(' ').skip(3);
    let inside = place.next()?;
    let at = place.next()?;
    hierarchy.is_in(kind, options).then(|| (unescaped(inside), unescaped(at)))
}

/// The path without the escapes for what separates fields.
fn unescaped(path: &str) -> PathBuf {
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(path.to_owned(), |path, (escape, plain)| path.replace(escape, plain)).into()
}

/// The path of a group below the directory that is shown. A group outside of it, as containers may
/// have, counts as that directory.
fn below<'a>(group: &'a Path, inside: &Path) -> &'a Path {
    let below = group.strip_prefix(inside).unwrap_or(Path::new(""));
    let below = below.strip_prefix("/").unwrap_or(below);
    if below.components().all(|part| matches!(part, Component::Normal(_))) {
        below
    } else {
        Path::new("")
    }
}

/// The least limit in `top` and in all directories on the way to the group `below` it.
fn limit_around(top: &Path, below: &Path, file: &str) -> Option<u64> {
    let limits = below
        .ancestors()
        .filter_map(|group| read_to_string(top.join(group).join(file)).ok()?.trim().parse().ok());
    // In the first version, a limit close to the largest number means none.
    limits.filter(|limit| *limit < 1 << 62).min()
}

#[cfg(all(test, not(miri)))]
mod tests {
    use std::fs::{create_dir_all, write};

    use super::*;

    /// The limit where `/proc/self` has these files, and groups these limits.
    fn limit(cgroup: &str, mountinfo: &str, groups: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        let file = |path: &str, text: &str| {
            let path = root.path().join(path);
            create_dir_all(path.parent().unwrap()).unwrap();
            write(path, text).unwrap();
        };
        file("proc/self/cgroup", cgroup);
        file("proc/self/mountinfo", mountinfo);
        groups.iter().for_each(|(path, text)| file(path, text));
        limit_in(root.path())
    }

    const SECOND: &str =
        "24 30 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate";

    #[test]
    fn every_group_around_the_process_counts() {
        let slurm = "0::/system.slice/slurmstepd.scope/job_7/step_0";
        let at = |group: &str| format!("sys/fs/cgroup{group}/memory.max");
        let [slice, scope, job, step, other] = [
            "/system.slice",
            "/system.slice/slurmstepd.scope",
            "/system.slice/slurmstepd.scope/job_7",
            &slurm[3..],
            "/user.slice",
        ]
        .map(at);
        let limits = |limits: &[(&str, &str)]| limit(slurm, SECOND, limits);
        assert_eq!(
            limits(&[
                (&slice, "max\n"),
                (&scope, "max\n"),
                (&job, "2000000000\n"),
                (&step, "max\n"),
                (&other, "5\n")
            ]),
            Some(2_000_000_000)
        );
        assert_eq!(limits(&[(&slice, "1000\n"), (&job, "2000\n"), (&step, "3000\n")]), Some(1000));
        assert_eq!(limits(&[(&slice, "3000\n"), (&step, "1000\n")]), Some(1000));
        assert_eq!(limits(&[(&step, "max\n")]), None);
        assert_eq!(limits(&[]), None);
    }

    #[test]
    fn both_versions_are_known() {
        let cgroup = "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/ab/inner\n0::/init";
        let mountinfo = format!(
            "31 24 0:28 /docker/ab /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n\
             32 24 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n{}",
            SECOND.replace("/sys/fs/cgroup ", "/sys/fs/cgroup/unified ")
        );
        let first = |group: &str| format!("sys/fs/cgroup/my memory{group}/memory.limit_in_bytes");
        let around = first("");
        let inner = first("/inner");
        let limits = |limits: &[(&str, &str)]| limit(cgroup, &mountinfo, limits);
        assert_eq!(limits(&[(&around, "4000\n"), (&inner, "9223372036854771712\n")]), Some(4000));
        assert_eq!(limits(&[(&around, "4000\n"), (&inner, "3000\n")]), Some(3000));
        assert_eq!(
            limits(&[(&inner, "3000\n"), ("sys/fs/cgroup/unified/init/memory.max", "2000\n")]),
            Some(2000)
        );
        assert_eq!(limits(&[(&inner, "9223372036854771712\n")]), None);
    }

    /// A container sees its own group as the root, and may be told of a group that it does not see.
    #[test]
    fn a_group_that_cannot_be_seen_is_what_is_shown() {
        let container = ("sys/fs/cgroup/memory.max", "700\n");
        for group in ["/", "/../../elsewhere", "/docker/ab"] {
            assert_eq!(limit(&format!("0::{group}\n"), SECOND, &[container]), Some(700), "{group}");
        }
        let inside = SECOND.replace(" / /sys", " /kubepods/pod1 /sys");
        for group in ["/kubepods/pod1", "/kubepods/pod1/app", "/elsewhere"] {
            assert_eq!(
                limit(&format!("0::{group}\n"), &inside, &[container]),
                Some(700),
                "{group}"
            );
        }
    }

    #[test]
    fn where_there_are_no_groups_there_is_no_limit() {
        assert_eq!(limit("", "", &[]), None);
        assert_eq!(limit("nonsense\n1:2", "- - -\n1 2 3\n", &[]), None);
        assert_eq!(limit_in(Path::new("/no/such/directory")), None);
    }
}
