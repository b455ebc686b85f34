//! The HTTP API, as spiders meet it: a real server on a loopback port over a real frontier.
//!
//! At stake: a refused request that changes something, an accepted one that does not, and a message that
//! leaves a spider's author guessing.

mod auth;
mod concurrency;
mod edits;
mod ndjson;
mod reads;
mod refusals;
mod same_site;
mod session;
mod shutdown;
mod support;
mod tls;
