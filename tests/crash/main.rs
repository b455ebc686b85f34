//! What was acknowledged must survive, whatever ends the server (P1): SIGKILL in the middle of a commit, of
//! a batch, of a recovery; a disk that is full. What would be lost: pages that a fleet has crawled and will
//! not crawl again, their links and everything behind them; leases, so that a page is crawled by two spiders.

#![cfg(unix)]

mod full_disk;
mod kills;
mod server;
mod web;
