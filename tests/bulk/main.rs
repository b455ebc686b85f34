//! Import and export in bulk. What would be lost: an import writes a whole database anew and puts it into the old
//! one's place. If it differed from what a server makes of the same pages, or left something half done behind when
//! it is killed, years of a crawl would be wrong, or gone.

mod collisions;
mod export;
mod formats;
mod kills;
mod same;
mod support;
