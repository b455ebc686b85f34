//! Best first, politely: which page a spider gets next.
//!
//! The list of each domain lies in the PageDB, best page first. Memory holds, for every domain with work,
//! the head of its list and its temperature ([`temperature`]); one ordered structure of the domains that
//! are ready, by step and by their best page; and one of those that wait for a moment, by that moment. A
//! hand-out takes the first ready domain of the lowest step: O(log domains), whatever lies behind it.
//!
//! Memory follows the tables batch by batch: entries are loaded only from the snapshot of the last batch
//! that was told to [`Schedule::begin`], and its changes follow domain by domain ([`Schedule::follow`]), so that
//! no entry is missed or seen twice and nobody waits long for the lock. A page that was handed out stays
//! *taken* until its hand-out edit is applied.

mod domain;
pub mod temperature;

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::pagedb::{Applied, PageDbError, ScheduleChange, ScheduleKey, Snapshot};
use crate::types::{DomainKey, PageIndex, Score, Time};
use domain::{Domain, Entry, Loaded, MAX_HEAD, Rank};
use temperature::{Limits, STEPS};

type FastMap<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
type FastSet<K> = HashSet<K, foldhash::fast::RandomState>;

/// A page taken from the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pick {
    pub domain: DomainKey,
    pub score: Score,
    pub index: PageIndex,
}

/// The schedule in memory, over the tables of a snapshot.
pub struct Schedule {
    limits: Limits,
    /// As of the last batch told; `None` while the map grows.
    snapshot: Option<Snapshot>,
    slots: Vec<Option<Domain>>,
    free: Vec<u32>,
    by_key: FastMap<DomainKey, u32>,
    ready: [BTreeSet<Rank>; STEPS + 1],
    /// Domains to look at again, by time.
    waking: BTreeSet<(Time, u32)>,
    taken: FastSet<PageIndex>,
    served: u64,
    working: u64,
}

impl Schedule {
    /// Loads the domains that have work.
    ///
    /// # Errors
    /// What the snapshot says.
    pub fn load(limits: Limits, snapshot: Snapshot, now: Time) -> Result<Schedule, PageDbError> {
        let mut domains = Vec::new();
        snapshot.for_each_domain(|key, record| {
            if record.counters.scheduled > 0 {
                domains.push(Domain::new(key, record.heat, Loaded::Nothing, now));
            }
        })?;
        let mut schedule = Schedule {
            limits,
            snapshot: Some(snapshot),
            slots: Vec::new(),
            free: Vec::new(),
            by_key: FastMap::default(),
            ready: Default::default(),
            waking: BTreeSet::new(),
            taken: FastSet::default(),
            served: 0,
            working: 0,
        };
        for domain in domains {
            let slot = schedule.insert(domain);
            schedule.place(slot, now)?;
        }
        Ok(schedule)
    }

    /// Takes up to `n` pages, best first, and charges their domains.
    ///
    /// # Errors
    /// What the snapshot says; the pages taken until then are in `out`.
    pub fn take(&mut self, n: usize, now: Time, out: &mut Vec<Pick>) -> Result<(), PageDbError> {
        self.wake(now)?;
        for _ in 0..n {
            let Some(slot) = self.ready.iter().find_map(|step| step.first()).map(|rank| rank.slot) else {
                break;
            };
            let (limits, served) = (self.limits, self.served);
            let domain = self.domain(slot);
            let Some(entry) = domain.head.pop_front() else { break };
            domain.heat = domain.heat.charged(now, limits.window());
            domain.recent.charge(&limits, now);
            domain.served = (now, served);
            let pick = Pick { domain: domain.key, score: entry.score, index: entry.index };
            self.served += 1;
            self.taken.insert(entry.index);
            out.push(pick);
            self.place(slot, now)?;
        }
        Ok(())
    }

    /// Takes back pages that could not be handed out after all; those that wait no more stay away.
    ///
    /// # Errors
    /// What the snapshot says.
    pub fn give_back(&mut self, picks: &[Pick], now: Time) -> Result<(), PageDbError> {
        for pick in picks {
            self.taken.remove(&pick.index);
            // Its score may have changed since, and what changes while it is taken is not followed.
            let score = match &self.snapshot {
                Some(snapshot) => snapshot.scheduled_score(pick.index)?,
                None => Some(pick.score),
            };
            if let Some(score) = score {
                let slot = self.slot_of(pick.domain, now)?;
                self.domain(slot).added(Entry { score, index: pick.index });
                self.place(slot, now)?;
            }
        }
        Ok(())
    }

    /// Begins to follow a batch: `snapshot` is the view right after it. Its changes must be passed to
    /// [`Schedule::follow`], domain by domain, before the next batch: until then a head may lack an entry, or
    /// still have one that is gone, but none is missed and none comes twice.
    ///
    /// Returns the changes that concern the heads: pages whose hand-out is applied left theirs before.
    pub fn begin(&mut self, batch: &Applied, snapshot: Snapshot) -> Vec<ScheduleChange> {
        self.snapshot = Some(snapshot);
        let concerns = |change: &&ScheduleChange| change.added || !self.taken.contains(&change.key.index);
        let changes = batch.schedule.iter().filter(concerns).copied().collect();
        // No hand-out edit will find a page that was deleted.
        for index in batch.handed_out.iter().chain(&batch.deleted) {
            self.taken.remove(index);
        }
        changes
    }

    /// Follows the changes of one domain.
    ///
    /// # Errors
    /// What the snapshot says.
    pub fn follow(&mut self, changes: &[ScheduleChange], now: Time) -> Result<(), PageDbError> {
        let Some(first) = changes.first() else { return Ok(()) };
        let slot = self.slot_of(first.key.domain, now)?;
        let Some(mut domain) = self.slots[slot as usize].take() else { return Ok(()) };
        for change in changes {
            let entry = Entry { score: change.key.score, index: change.key.index };
            if !change.added {
                domain.removed(entry);
            } else if !self.taken.contains(&entry.index) {
                domain.added(entry);
            }
        }
        self.slots[slot as usize] = Some(domain);
        self.place(slot, now)
    }

    /// Drops the snapshot, so that the map can grow; nothing is loaded until the next one.
    pub fn release_snapshot(&mut self) {
        self.snapshot = None;
    }

    /// Takes up a new snapshot of the same batch.
    pub fn renew_snapshot(&mut self, snapshot: Snapshot) {
        self.snapshot = Some(snapshot);
    }

    /// Domains in memory: those with work, and those still warm.
    pub fn domains(&self) -> usize {
        self.by_key.len()
    }

    /// Domains that have pages waiting.
    pub fn domains_with_work(&self) -> u64 {
        self.working
    }

    fn wake(&mut self, now: Time) -> Result<(), PageDbError> {
        while let Some(&(time, slot)) = self.waking.first() {
            if time > now {
                break;
            }
            self.place(slot, now)?;
        }
        Ok(())
    }

    /// Puts a domain where it belongs at `now`: among the ready, among the waking, both, or away.
    fn place(&mut self, slot: u32, now: Time) -> Result<(), PageDbError> {
        if self.domain(slot).head.is_empty() {
            self.load_head(slot)?;
        }
        let limits = self.limits;
        let domain = self.domain(slot);
        let worked = std::mem::replace(&mut domain.working, !domain.head.is_empty());
        let works = domain.working;
        self.working = self.working + u64::from(works) - u64::from(worked);
        let domain = self.domain(slot);
        let (mut ready, mut wake) = (None, None);
        match domain.rank(slot) {
            None => {
                let forgotten = limits.forgotten(&domain.heat);
                if forgotten <= now && domain.loaded == Loaded::Everything {
                    self.remove(slot);
                    return Ok(());
                }
                // Nothing could be loaded for now (the map grows): look again at the next chance.
                wake = Some(if domain.loaded == Loaded::Everything { forgotten } else { Time(now.0 + 1) });
            }
            Some(rank) => {
                let allowed = domain.recent.allowed_from(&limits);
                let step = limits.step(&domain.heat, now);
                if allowed > now {
                    wake = Some(allowed);
                } else if step > STEPS {
                    wake = limits.cooled_to(STEPS, &domain.heat);
                } else {
                    ready = Some((step, rank));
                    if step > 0 {
                        wake = limits.cooled_to(step - 1, &domain.heat);
                    }
                }
            }
        }
        let wake = wake.map(|time| time.max(Time(now.0 + 1)));
        self.set_place(slot, ready, wake);
        Ok(())
    }

    fn set_place(&mut self, slot: u32, ready: Option<(usize, Rank)>, wake: Option<Time>) {
        let domain = self.domain(slot);
        let (old_ready, old_wake) = (domain.ready, domain.wake);
        (domain.ready, domain.wake) = (ready, wake);
        if old_ready != ready {
            if let Some((step, rank)) = old_ready {
                self.ready[step].remove(&rank);
            }
            if let Some((step, rank)) = ready {
                self.ready[step].insert(rank);
            }
        }
        if old_wake != wake {
            if let Some(time) = old_wake {
                self.waking.remove(&(time, slot));
            }
            if let Some(time) = wake {
                self.waking.insert((time, slot));
            }
        }
    }

    /// Loads the next entries of a domain's list that are not taken.
    fn load_head(&mut self, slot: u32) -> Result<(), PageDbError> {
        let (Some(snapshot), Some(domain)) = (&self.snapshot, self.slots[slot as usize].as_mut()) else {
            return Ok(());
        };
        let mut rows: Vec<ScheduleKey> = Vec::new();
        while domain.head.is_empty() && domain.loaded != Loaded::Everything {
            rows.clear();
            snapshot.schedule_of(domain.key, domain.loaded_to(), domain.load, &mut rows)?;
            for row in &rows {
                let entry = Entry { score: row.score, index: row.index };
                if !self.taken.contains(&row.index) {
                    domain.head.push_back(entry);
                }
                domain.loaded = Loaded::UpTo(entry);
            }
            if rows.len() < domain.load {
                domain.loaded = Loaded::Everything;
            }
            domain.load = (domain.load * 2).min(MAX_HEAD / 2);
        }
        Ok(())
    }

    /// The slot of a domain, which is taken into memory with its stored heat if need be.
    fn slot_of(&mut self, key: DomainKey, now: Time) -> Result<u32, PageDbError> {
        if let Some(&slot) = self.by_key.get(&key) {
            return Ok(slot);
        }
        let stored = match &self.snapshot {
            Some(snapshot) => snapshot.domain(key)?,
            None => None,
        };
        let heat = stored.map(|record| record.heat).unwrap_or_default();
        // It had no work, or it would be here: what comes is all there is.
        Ok(self.insert(Domain::new(key, heat, Loaded::Everything, now)))
    }

    fn insert(&mut self, domain: Domain) -> u32 {
        let key = domain.key;
        let slot = match self.free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = Some(domain);
                slot
            }
            None => {
                self.slots.push(Some(domain));
                self.slots.len() as u32 - 1
            }
        };
        self.by_key.insert(key, slot);
        slot
    }

    fn remove(&mut self, slot: u32) {
        self.set_place(slot, None, None);
        if let Some(domain) = self.slots[slot as usize].take() {
            self.by_key.remove(&domain.key);
            self.free.push(slot);
        }
    }

    /// # Panics
    /// If the slot is free: slots are named only by `by_key`, `ready` and `waking`, which `remove` clears.
    fn domain(&mut self, slot: u32) -> &mut Domain {
        self.slots[slot as usize].as_mut().expect("a slot that is named is in use")
    }
}
