//! A flag for each setting, made from the table of keys.

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches, Command, FromArgMatches};

use crate::settings::{KEYS, Key};

/// The flags that were given, in the order of the table.
pub struct Flags(Vec<(&'static Key, String)>);

impl Flags {
    pub fn values(&self) -> &[(&'static Key, String)] {
        &self.0
    }
}

fn flag(key: &'static Key) -> Arg {
    let flag = Arg::new(key.name)
        .long(key.name.replace('_', "-"))
        .value_name(key.value)
        .help(key.help)
        .help_heading("Settings")
        .value_parser(NonEmptyStringValueParser::new());
    match key.value {
        // `--use-scores` alone means true; so a value needs the `=`, else it would swallow SETTINGS.
        "BOOL" => flag.num_args(0..=1).require_equals(true).default_missing_value("true"),
        // A negative number is a wrong value, not an unknown flag.
        _ => flag.allow_negative_numbers(true),
    }
}

impl clap::Args for Flags {
    fn augment_args(command: Command) -> Command {
        command.args(KEYS.iter().filter(|key| key.flag).map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Flags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let given = |key: &'static Key| Some((key, matches.get_one::<String>(key.name)?.clone()));
        Ok(Flags(KEYS.iter().filter(|key| key.flag).filter_map(given).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
