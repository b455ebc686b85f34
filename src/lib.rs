//! aduana, a crawl frontier: it tells a fleet of spiders what to crawl next and keeps what they found.
//!
//! The modules are a ladder, imports go down only: `cli`, `server`, `frontier`, `schedule`, `pagedb`,
//! `log`, `types`; `settings` stands beside `server`; `synth`, `graph_file` and `nutch` stand on `types`;
//! `graph` stands on `pagedb`, `score` on `graph`, both below `frontier`.
//! `docs/architecture.md` tells the life of a URL.

pub mod cli;
pub mod frontier;
pub mod graph;
pub mod graph_file;
pub mod log;
pub mod nutch;
pub mod pagedb;
pub mod schedule;
pub mod score;
pub mod server;
pub mod settings;
pub mod synth;
pub mod types;
