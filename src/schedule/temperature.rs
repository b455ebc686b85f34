//! How often a domain may be served: the soft limit by its temperature, the hard limit by counting.
//!
//! The temperature (Aduana, 3.8) is n' = -n/T, one more at each hand-out; n/T estimates hand-outs a
//! second over the window T. It ranks domains: step 0 while the next hand-out keeps n/T within the soft
//! limit, then [`STEPS`] steps up to the hard limit, each the same factor wide, because between a quarter
//! and a hundred hand-outs a second what matters is the order of magnitude.
//!
//! An average cannot bound a burst, so the hard limit is counted: no window of a second holds more than
//! `hard` hand-outs (for a limit under 1, no window of 1/hard seconds more than one), see [`Recent`].

use crate::pagedb::Heat;
use crate::types::Time;

/// Steps between soft and hard limit.
pub const STEPS: usize = 5;

/// Groups of recent hand-outs that a domain remembers.
const GROUPS: u64 = 10;

/// The politeness of a crawl.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// T, in seconds.
    window: f64,
    /// Greatest n of each step.
    thresholds: [f64; STEPS + 1],
    counting: Option<Counting>,
}

/// The hard limit as counts: `per_window` hand-outs, in `groups` groups of nearly equal size.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Counting {
    /// Milliseconds of the window.
    window: u64,
    per_window: u64,
    groups: u64,
}

impl Limits {
    /// `soft` and `hard` in hand-outs a second, infinite for none; `window` is T in seconds.
    pub fn new(soft: f64, hard: f64, window: f64) -> Limits {
        // The window must hold a few hand-outs at the soft rate, or one alone would exceed it.
        let window = if soft > 0.0 { window.max(4.0 / soft) } else { window };
        let low = soft.max(if hard.is_finite() { hard * 1e-4 } else { 1e-4 });
        let factor = if hard.is_finite() { (hard / low).powf(1.0 / STEPS as f64) } else { 4.0 };
        let mut thresholds = [f64::INFINITY; STEPS + 1];
        for (step, threshold) in thresholds.iter_mut().enumerate() {
            if soft.is_finite() && (step < STEPS || hard.is_finite()) {
                let rate = if step == 0 { soft } else { low * factor.powi(step as i32) };
                *threshold = rate * window;
            }
        }
        // The last step always admits the first hand-out: the hard limit itself is counted.
        thresholds[STEPS] = thresholds[STEPS].max(1.0);
        Limits { window, thresholds, counting: hard.is_finite().then(|| Counting::new(hard)) }
    }

    /// T, in seconds.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Whether there is no limit at all.
    pub fn off(&self) -> bool {
        self.thresholds[0] == f64::INFINITY && self.counting.is_none()
    }

    /// The step in which one more hand-out at `now` would put a domain; beyond [`STEPS`] it must cool.
    pub fn step(&self, heat: &Heat, now: Time) -> usize {
        if self.thresholds[0] == f64::INFINITY {
            return 0;
        }
        let n = heat.n_at(now, self.window) + 1.0;
        self.thresholds.iter().take_while(|&&threshold| n > threshold).count()
    }

    /// When the domain will have cooled to `step`; `None` if it never will.
    pub fn cooled_to(&self, step: usize, heat: &Heat) -> Option<Time> {
        let n = self.thresholds[step] - 1.0;
        if n <= 0.0 {
            return None;
        }
        Some(self.when(heat, n))
    }

    /// When nothing needs to be remembered of the domain any more.
    pub fn forgotten(&self, heat: &Heat) -> Time {
        const NEGLIGIBLE: f64 = 0.05;
        let counted = self.counting.map_or(0, |c| c.window);
        if self.off() { heat.at } else { self.when(heat, NEGLIGIBLE).max(Time(heat.at.0 + counted)) }
    }

    /// When n will have fallen to `n`, rounded up.
    fn when(&self, heat: &Heat, n: f64) -> Time {
        let seconds = (self.window * (heat.n / n).ln()).max(0.0);
        Time(heat.at.0.saturating_add((seconds * 1000.0).ceil() as u64 + 1))
    }
}

impl Counting {
    fn new(hard: f64) -> Counting {
        let per_window = (hard.min(1e12) as u64).max(1);
        let window = if hard < 1.0 { (1000.0 / hard).ceil() as u64 } else { 1000 };
        Counting { window, per_window, groups: per_window.min(GROUPS) }
    }

    /// Hand-outs of a group; over all groups they add up to `per_window`.
    fn size(&self, group: usize) -> u64 {
        self.per_window / self.groups + u64::from((group as u64) < self.per_window % self.groups)
    }
}

/// The recent hand-outs of a domain, in groups: of each group only the time of its last one is kept.
///
/// A group may begin when the group that began `groups` before it has ended a window ago. So no window
/// holds parts of more than `groups` groups, that is, more than the hard limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Recent {
    last: [Time; GROUPS as usize],
    /// The group that is being filled, and how far.
    group: usize,
    filled: u64,
}

impl Recent {
    /// As if the domain had used up its limit at `time`: for a domain whose count is not known.
    pub fn exhausted_at(time: Time) -> Recent {
        Recent { last: [time; GROUPS as usize], group: 0, filled: 0 }
    }

    /// The time from which the next hand-out is allowed.
    pub fn allowed_from(&self, limits: &Limits) -> Time {
        match limits.counting {
            Some(counting) if self.filled == 0 && self.last[self.group] != Time(0) => {
                Time(self.last[self.group].0.saturating_add(counting.window))
            }
            _ => Time(0),
        }
    }

    pub fn charge(&mut self, limits: &Limits, now: Time) {
        let Some(counting) = limits.counting else { return };
        self.last[self.group] = now;
        self.filled += 1;
        if self.filled >= counting.size(self.group) {
            self.filled = 0;
            self.group = (self.group + 1) % counting.groups as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Serves a domain as often as its count allows, at the given times.
    fn serve(limits: &Limits, times: impl Iterator<Item = u64>) -> Vec<u64> {
        let mut recent = Recent::default();
        let mut served = Vec::new();
        for now in times {
            while recent.allowed_from(limits) <= Time(now) && served.len() < 100_000 {
                recent.charge(limits, Time(now));
                served.push(now);
            }
        }
        served
    }

    fn most_in_a_window(served: &[u64], window: u64) -> usize {
        let within = |&start: &u64| served.iter().filter(|&&t| t >= start && t < start + window).count();
        served.iter().map(within).max().unwrap_or(0)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn no_second_holds_more_than_the_hard_limit(
            hard in prop_oneof![1.0f64..300.0, Just(1.0), Just(100.0)], gaps in proptest::collection::vec(0u64..400, 1..60)
        ) {
            let limits = Limits::new(0.25f64.min(hard), hard, 60.0);
            let times = gaps.iter().scan(1_000_000, |now, gap| { *now += gap; Some(*now) });
            let served = serve(&limits, times);
            prop_assert!(most_in_a_window(&served, 1000) <= hard as usize);
        }
    }

    #[test]
    fn a_limit_below_one_spaces_hand_outs() {
        let limits = Limits::new(0.1, 0.1, 60.0);
        let served = serve(&limits, (1_000_000..1_100_000).step_by(10));
        assert_eq!(served.len(), 10);
        assert!(served.windows(2).all(|pair| pair[1] - pair[0] >= 10_000));
    }

    #[test]
    fn a_steady_crawl_reaches_the_hard_limit() {
        for hard in [1.0, 3.0, 15.0, 19.0, 29.0, 100.0, 107.0] {
            let limits = Limits::new(0.25, hard, 60.0);
            let served = serve(&limits, (1_000_000..1_010_000).step_by(1));
            assert_eq!(served.len(), 10 * hard as usize, "{hard}");
        }
    }

    #[test]
    fn steps_rise_with_heat_and_fall_with_time() {
        let limits = Limits::new(0.25, 100.0, 60.0);
        let now = Time(1_000_000);
        let mut heat = Heat::default();
        let mut steps = Vec::new();
        for _ in 0..6000 {
            steps.push(limits.step(&heat, now));
            heat = heat.charged(now, limits.window());
        }
        assert!(steps.is_sorted());
        assert_eq!(steps.iter().filter(|&&step| step == 0).count(), 15);
        assert_eq!(limits.step(&heat, now), STEPS + 1);
        for step in (0..=STEPS).rev() {
            let then = limits.cooled_to(step, &heat).unwrap();
            assert_eq!(limits.step(&heat, then), step);
            assert_eq!(limits.step(&heat, Time(then.0 - 20)), step + 1);
        }
    }

    #[test]
    fn no_limits_mean_no_steps() {
        let limits = Limits::new(f64::INFINITY, f64::INFINITY, 60.0);
        let heat = Heat { n: 1e9, at: Time(5) };
        assert!(limits.off());
        assert_eq!(limits.step(&heat, Time(5)), 0);
    }
}
