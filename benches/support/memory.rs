//! How much memory a part of a benchmark takes.

use std::sync::Arc;

/// Watches how much anonymous memory (what is not in mapped files) the process takes from now on.
pub struct Memory {
    before: u64,
    peak: Arc<std::sync::atomic::AtomicU64>,
}

impl Memory {
    pub fn watch() -> Memory {
        let memory = Memory { before: anonymous_bytes(), peak: Arc::default() };
        let peak = Arc::downgrade(&memory.peak);
        std::thread::spawn(move || {
            while let Some(peak) = peak.upgrade() {
                peak.fetch_max(anonymous_bytes(), std::sync::atomic::Ordering::Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
        });
        memory
    }

    pub fn peak(&self) -> u64 {
        self.peak.load(std::sync::atomic::Ordering::Relaxed).saturating_sub(self.before)
    }
}

fn anonymous_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes =
        line.and_then(|rest| rest.trim().strip_suffix("kB")).and_then(|n| n.trim().parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}
