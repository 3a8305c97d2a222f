//! The memory of this process, as the kernel counts it. Without root and without unsafe code.

/// A snapshot of the resident memory, in KiB (proc_pid_status(5)). Address space would also count what the
/// allocator reserves for each thread.
#[derive(Debug, Clone, Copy)]
pub struct Memory {
    size_kib: u64,
    peak_kib: u64,
}

impl Memory {
    /// Now. `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok()?;
        let field = |name: &str| -> Option<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().trim_end_matches("kB").trim().parse().ok()
        };
        Some(Self { size_kib: field("VmRSS:")?, peak_kib: field("VmHWM:")? })
    }

    /// How far the memory rose above `before` since. Zero if an earlier peak hides it.
    pub const fn risen_kib(self, before: Self) -> u64 {
        if self.peak_kib > before.peak_kib { self.peak_kib.saturating_sub(before.size_kib) } else { 0 }
    }
}
