//! `aduana import`: what other programs have crawled, as crawled pages.

pub mod nutch;
