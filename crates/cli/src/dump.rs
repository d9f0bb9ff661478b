//! No dumps of memory: it may hold records.

/// Tells the system to write no core of this process, however it ends. The limit is for dumps to files; programs that dumps are
/// piped to are kept off by the second call, which keeps other processes of the same user from attaching, too.
///
/// Where that cannot be had the command runs as it would have: `SECURITY.md` says what an operator can do.
#[cfg(target_os = "linux")]
pub(crate) fn refuse() {
    use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn refuse() {}
