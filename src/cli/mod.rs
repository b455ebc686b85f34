//! The command line: one file a subcommand, each with its `Args` and a `run`. `anyhow` lives only here.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 done, 1 an error (`error:` and, where
//! there is a next step, `hint:`), 2 wrong usage.

mod backup;
mod cert;
mod check;
mod dump;
mod export;
mod find;
pub mod import;
mod page;
mod passwd;
mod progress;
mod replay;
mod report;
mod score;
mod serve;
mod simulate;
mod stdout;
mod synth;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A crawl frontier: tells a fleet of spiders what to crawl next, and keeps what they found.
///
/// Spiders ask `GET /request` for URLs, best first, and send what they crawled to `POST /crawled`.
#[derive(Parser)]
#[command(version, after_help = EXAMPLES, arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  aduana serve config/aduana.toml --seeds seeds/example.txt
  curl 'http://localhost:8000/request?n=3'
  curl -H 'Content-Type: application/json' http://localhost:8000/crawled \\
       -d '{\"url\": \"http://scrapinghub.com/\", \"links\": [[\"http://scrapinghub.com/platform/\", 0.5]]}'

`aduana COMMAND --help` has examples of each command.";

#[derive(Subcommand)]
enum Command {
    Serve(serve::Args),
    Cert(cert::Args),
    Passwd(passwd::Args),
    Replay(Box<replay::Args>),
    Simulate(simulate::Args),
    Check(check::Args),
    Dump(dump::Args),
    Find(find::Args),
    Duplicates(find::DuplicatesArgs),
    Page(page::Args),
    Link(page::LinkArgs),
    Score(score::Args),
    Backup(backup::Args),
    Import(import::Args),
    Export(export::Args),
    Synth(synth::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(args) => serve::run(args),
        Command::Cert(args) => cert::run(args),
        Command::Passwd(args) => passwd::run(args),
        Command::Replay(args) => replay::run(*args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Check(args) => check::run(args),
        Command::Dump(args) => dump::run(args),
        Command::Find(args) => find::run(args),
        Command::Duplicates(args) => find::run_duplicates(args),
        Command::Page(args) => page::run(args),
        Command::Link(args) => page::run_link(args),
        Command::Score(args) => score::run(args),
        Command::Backup(args) => backup::run(args),
        Command::Import(args) => import::run(args),
        Command::Export(args) => export::run(args),
        Command::Synth(args) => synth::run(args),
    };
    done.unwrap_or_else(|error| report::failed(&error))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
