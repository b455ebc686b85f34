//! The frontier against a model. What would be lost without: an order that is wrong only after a page was
//! handed out, raised, expired and loaded again; a URL that silently takes another one's place; a domain
//! that gets more than its limit because a restart forgot what it had. No single example finds these.

mod collisions;
mod crawl;
mod in_links;
mod interleaved;
mod politeness;
mod random;
mod reference;
mod webdb;
