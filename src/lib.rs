//! aduana, a crawl frontier: it tells a fleet of spiders what to crawl next and keeps what they found.
//!
//! The modules are a ladder, imports go down only: `server`, `frontier`, `schedule`, `pagedb`, `log`,
//! `types`. `settings` stands beside `server`, `synth` and `graph_file` above `types`; the command line,
//! above them all, is in the binary. `docs/architecture.md` tells the life of a URL.

pub mod frontier;
pub mod graph_file;
pub mod log;
pub mod pagedb;
pub mod schedule;
pub mod server;
pub mod settings;
pub mod synth;
pub mod types;
