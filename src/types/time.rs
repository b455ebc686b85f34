//! Points in time, and the clock they come from. Time is injected: nothing below the command line asks
//! the operating system for it except through a [`Clock`].

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Milliseconds since the epoch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// The latest accepted time, the end of the year 9999, in seconds since the epoch.
pub const MAX_SECONDS: f64 = 253_402_300_799.0;

impl Time {
    /// `None` unless `seconds` lies between the epoch and the year 9999.
    pub fn from_seconds(seconds: f64) -> Option<Time> {
        (0.0..=MAX_SECONDS).contains(&seconds).then(|| Time((seconds * 1000.0).round() as u64))
    }

    /// Seconds since the epoch.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Seconds from `earlier` to `self`; 0 if the clock went backwards.
    pub fn seconds_since(self, earlier: Time) -> f64 {
        self.0.saturating_sub(earlier.0) as f64 / 1000.0
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Time;
    fn add(self, duration: Duration) -> Time {
        Time(self.0.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Where the time comes from.
pub trait Clock: Send + Sync {
    fn now(&self) -> Time;
}

/// The operating system's clock as of the first call, carried on by its steady one: setting the clock while
/// the process runs neither ends leases nor blocks domains.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        static START: LazyLock<(Time, Instant)> = LazyLock::new(|| {
            let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
            (Time(since_epoch.map_or(0, |d| d.as_millis() as u64)), Instant::now())
        });
        let (time, instant) = *START;
        time + instant.elapsed()
    }
}

/// A clock that moves when told to: for tests and for simulation.
#[derive(Debug, Default)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    pub fn at(start: Time) -> Self {
        ManualClock(AtomicU64::new(start.0))
    }

    pub fn advance(&self, duration: Duration) {
        self.0.fetch_add(duration.as_millis() as u64, Ordering::SeqCst);
    }

    pub fn set(&self, time: Time) {
        self.0.store(time.0, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time(self.0.load(Ordering::SeqCst))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_kept_to_the_millisecond_and_bounded() {
        assert_eq!(Time::from_seconds(1_435_048_846.25), Some(Time(1_435_048_846_250)));
        for bad in [-1.0, f64::NAN, f64::INFINITY, 1e15] {
            assert_eq!(Time::from_seconds(bad), None);
        }
    }
}
