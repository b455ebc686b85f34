//! The words of the project as values: URLs, keys, pages, scores, edits. No I/O.

pub mod anchor;
pub mod codec;
pub mod edit;
pub mod estimate;
pub mod key;
pub mod page;
pub mod same_site;
pub mod score;
pub mod time;
pub mod url;

pub use anchor::Anchor;
pub use edit::{Edit, WebEdit};
pub use estimate::Estimate;
pub use key::{DomainKey, DomainUnit, Naming, PageIndex, PageKey, UrlHasher};
pub use page::{ContentHash, CrawledPage, Link};
pub use same_site::SameSite;
pub use score::Score;
pub use time::{Clock, SystemClock, Time};
pub use url::{LinkResolver, PageUrl, UrlError};
