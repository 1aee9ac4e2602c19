//! The program's memory, which holds keys, stays the program's own.

/// From now on neither a crash writes this process's memory to a file, nor may another process of
/// the user read it. Where the system does not allow that, the program goes on without.
pub fn protect_memory() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // Services that collect crashes from the system, in place of files, heed this one.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// Keeps what is freed in few places and gives it back after seconds; the system's own keeps a heap for
/// each thread at the most that ever stood in it. It serves the database's C code as well.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;
