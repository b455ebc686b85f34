//! `aduana page` and `aduana link`: single pages and links of a database that no server has open.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};

use super::dump::{open, write_json};
use super::report::Hint;
use super::stdout::Stdout;
use crate::frontier::{FrontierError, offline};
use crate::pagedb::PageDb;
use crate::types::edit::web::{Adding, History, LinkSource, NewLink, NewPage};
use crate::types::{Anchor, Clock, ContentHash, PageIndex, PageUrl, Score, SystemClock, WebEdit};

/// Show, add or delete pages
///
/// `show` works beside a running server. To change what a running server has, ask it: POST /pages, DELETE /page.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana page show aduana.db http://a.example/ | jq .status
  aduana page add aduana.db http://a.example/ --score 2 --if-present skip
  aduana page delete aduana.db http://a.example/1 http://a.example/2")]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, clap::Subcommand)]
enum What {
    /// Print everything known of a page, as a JSON object
    Show {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        url: String,
    },
    /// Add a page
    ///
    /// It waits to be crawled, as a seed does; with --content-hash it counts as crawled now.
    Add {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        url: String,
        /// Its place in the schedule
        #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
        score: f64,
        /// A hash of its content: an integer, or a text
        #[arg(long)]
        content_hash: Option<String>,
        /// What becomes of a page that has the URL already
        #[arg(long, value_enum, default_value_t = IfPresent::KeepScore)]
        if_present: IfPresent,
        /// Add a link to the page with it, from this page; both or none. Needs --if-present skip
        #[arg(long, value_name = "URL")]
        linked_from: Option<String>,
    },
    /// Delete pages, their links, and the links to them
    Delete {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        #[arg(required = true)]
        urls: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum IfPresent {
    /// It is overwritten but for its score
    KeepScore,
    /// It is overwritten
    Replace,
    /// It stays as it is
    Skip,
}

/// List or add links
///
/// `list` works beside a running server. To add links to what a running server has, ask it: POST /links.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  aduana link list aduana.db --from http://a.example/ --anchors
  aduana link list aduana.db --to http://a.example/ | wc -l
  aduana link add aduana.db http://a.example/ http://b.example/")]
pub struct LinkArgs {
    #[command(subcommand)]
    what: LinkWhat,
}

#[derive(Debug, clap::Subcommand)]
enum LinkWhat {
    /// Print the URLs that a page, or a content, links to, or the URLs of the pages that link to a page
    List {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        #[command(flatten)]
        end: LinkEnd,
        /// The text of the link behind each URL that has one, after a tab
        #[arg(long, conflicts_with = "from_content")]
        anchors: bool,
    },
    /// Add a link; its source must have been crawled
    Add {
        /// The database: the folder that page_db_path names
        path: PathBuf,
        from: String,
        to: String,
        /// The score that it gives its target
        #[arg(long, default_value_t = 0.0, allow_negative_numbers = true)]
        score: f64,
        /// Its text
        #[arg(long, value_name = "TEXT")]
        anchor: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
struct LinkEnd {
    /// The page that the links stand on
    #[arg(long, value_name = "URL")]
    from: Option<String>,
    /// The content that the links stand in: an integer, or a text
    #[arg(long, value_name = "HASH")]
    from_content: Option<String>,
    /// The page that they lead to
    #[arg(long, value_name = "URL")]
    to: Option<String>,
}

pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.what {
        What::Show { path, url } => show(&path, &url)?,
        What::Add { path, url, score, content_hash, if_present, linked_from } => {
            let url = parse(&url)?;
            let adding = match if_present {
                IfPresent::KeepScore => Adding::KeepScore,
                IfPresent::Replace => Adding::WithScore,
                IfPresent::Skip => Adding::IfAbsent,
            };
            if linked_from.is_some() && adding != Adding::IfAbsent {
                bail!("--linked-from comes only with --if-present skip");
            }
            let link = match linked_from {
                Some(from) => {
                    let from = LinkSource::Page(parse(&from)?);
                    Some(NewLink { from, to: url.clone(), score: Score::ZERO, anchor: None })
                }
                None => None,
            };
            let now = SystemClock.now();
            let history = content_hash.map(|hash| History {
                first_crawl: now,
                last_crawl: now,
                crawls: 1,
                changes: 0,
                score: Score::ZERO,
                content_hash: Some(hash_of(&hash)),
            });
            let page = NewPage { url, score: Score::new(score)?, history };
            edit(&path, &[WebEdit::AddPage { page, adding, link }])?;
        }
        What::Delete { path, urls } => {
            let edits: anyhow::Result<Vec<WebEdit>> =
                urls.iter().map(|url| Ok(WebEdit::DeletePage(parse(url)?))).collect();
            edit(&path, &edits?)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub fn run_link(args: LinkArgs) -> anyhow::Result<ExitCode> {
    match args.what {
        LinkWhat::List { path, end, anchors } => list(&path, &end, anchors)?,
        LinkWhat::Add { path, from, to, score, anchor } => {
            let from = LinkSource::Page(parse(&from)?);
            let anchor = anchor.as_deref().and_then(Anchor::new);
            let link = NewLink { from, to: parse(&to)?, score: Score::new(score)?, anchor };
            edit(&path, &[WebEdit::AddLink(link)])?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn show(path: &Path, url: &str) -> anyhow::Result<()> {
    let db = open(path)?;
    let Some(page) = db.snapshot()?.page(&parse(url)?)? else { bail!("{url} is not known") };
    let mut out = Stdout::lock();
    write_json(&page, db.naming(), &mut out)?;
    Ok(out.flush()?)
}

fn list(path: &Path, end: &LinkEnd, anchors: bool) -> anyhow::Result<()> {
    let db = open(path)?;
    let pages = match (&end.from, &end.from_content, &end.to) {
        (Some(url), ..) => db.snapshot()?.links(index(&db, url)?)?.unwrap_or_default(),
        (_, Some(hash), _) => db.snapshot()?.links_of_content(&hash_of(hash))?,
        (_, _, Some(url)) => links_to(&db, index(&db, url)?)?,
        (None, None, None) => Vec::new(),
    };
    let to = end.to.as_deref().filter(|_| anchors).map(|url| index(&db, url)).transpose()?;
    let mut texts: HashMap<PageIndex, Anchor> = HashMap::new();
    if let Some(from) = end.from.as_deref().filter(|_| anchors) {
        texts.extend(db.snapshot()?.anchors(index(&db, from)?)?);
    }
    let mut out = Stdout::lock();
    for pages in pages.chunks(1_000) {
        let snapshot = db.snapshot()?;
        for &page in pages {
            // What was deleted meanwhile has no URL any more.
            let Some((_, url)) = snapshot.url(page)? else { continue };
            let of_link = |(target, anchor)| (Some(target) == to).then_some(anchor);
            let anchor = match to {
                Some(_) => snapshot.anchors(page)?.into_iter().find_map(of_link),
                None => texts.remove(&page),
            };
            match anchor {
                Some(anchor) => writeln!(out, "{url}\t{}", anchor.as_str())?,
                None => writeln!(out, "{url}")?,
            }
        }
    }
    Ok(out.flush()?)
}

/// Without a server nobody has a transposed graph: the table is read once.
fn links_to(db: &PageDb, target: PageIndex) -> anyhow::Result<Vec<PageIndex>> {
    let mut sources = Vec::new();
    for row in db.links(false) {
        let row = row?;
        if row.links.contains(&target) {
            sources.push(row.page);
        }
    }
    Ok(sources)
}

fn index(db: &PageDb, url: &str) -> anyhow::Result<PageIndex> {
    match db.snapshot()?.find(&parse(url)?)? {
        Some((_, state)) => Ok(state.index),
        None => bail!("{url} is not known"),
    }
}

fn edit(path: &Path, edits: &[WebEdit]) -> anyhow::Result<()> {
    let edited = offline::edit(path, edits);
    let is_in_use = matches!(edited, Err(FrontierError::InUse { .. }));
    let edited = edited.with_context(|| format!("cannot edit {}", path.display()));
    if is_in_use {
        edited.hint("ask the server: POST /pages, DELETE /page?url=URL or POST /links")
    } else {
        edited.hint("PATH is the folder that page_db_path names")
    }
}

fn parse(url: &str) -> anyhow::Result<PageUrl> {
    PageUrl::parse(url).with_context(|| format!("{url:?}"))
}

/// An integer as a number, everything else as a text.
fn hash_of(text: &str) -> ContentHash {
    text.parse().map_or_else(|_| ContentHash::Text(text.to_owned()), ContentHash::Number)
}
