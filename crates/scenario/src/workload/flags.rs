//! A workload's keys: the flags of its command, and what their values may be.

use std::any::TypeId;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, Command};
use hopbench_load::workload::Workload;
use hopbench_load::{JobArguments, ScheduleArguments};
use hopbench_model::{EngineKind, Pacing};

/// A key of a workload that is one of its flags.
#[derive(Debug, Clone)]
pub(crate) struct Flag {
    /// Its long name: `receive-buffer`.
    pub(crate) name: String,
    /// Its name in the workload's parameters: `receive_buffer`.
    pub(crate) id: String,
    /// Its help.
    pub(crate) help: String,
    /// What it takes.
    pub(crate) sort: Sort,
    /// It may be given several times: a list is its value, not a sweep.
    pub(crate) repeats: bool,
}

/// What a flag takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Sort {
    /// Nothing: it is there or not.
    Switch,
    /// A whole number up to this.
    Whole(u64),
    /// A number.
    Number,
    /// One of these words.
    Word(Vec<String>),
    /// Any text, which may have commas and colons in it.
    Text,
    /// A size, time, rate: text with a form of its own.
    Quantity,
}

/// The command that parses a workload's keys.
pub(crate) fn command(workload: &dyn Workload) -> Command {
    let mut command = Command::new(workload.name()).no_binary_name(true).disable_help_flag(true);
    command = workload.arguments(command);
    if workload.kind().is_of_exchanges() {
        command = ScheduleArguments::augment_args(command);
    }
    JobArguments::augment_args(command)
}

/// The keys that are the same for every workload.
pub(crate) fn common() -> Vec<Flag> {
    flags(&JobArguments::augment_args(Command::new("")))
}

/// The flags of a command.
pub(crate) fn flags(command: &Command) -> Vec<Flag> {
    command.get_arguments().filter_map(flag).collect()
}

fn flag(arg: &Arg) -> Option<Flag> {
    let sort = sort(arg);
    Some(Flag {
        name: arg.get_long()?.to_owned(),
        id: arg.get_id().to_string(),
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        repeats: matches!(arg.get_action(), ArgAction::Append) && sort == Sort::Text,
        sort,
    })
}

fn sort(arg: &Arg) -> Sort {
    if matches!(arg.get_action(), ArgAction::SetTrue) {
        return Sort::Switch;
    }
    let named = |names: &[&str]| Sort::Word(names.iter().map(|name| (*name).to_owned()).collect());
    let words: Vec<String> =
        arg.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let parsed = arg.get_value_parser().type_id();
    let is = |id: TypeId| parsed == id;
    if !words.is_empty() {
        Sort::Word(words)
    } else if is(TypeId::of::<EngineKind>()) {
        named(&EngineKind::ALL.iter().map(|e| e.name()).collect::<Vec<_>>())
    } else if is(TypeId::of::<Pacing>()) {
        named(&Pacing::ALL.iter().map(|p| p.name()).collect::<Vec<_>>())
    } else if is(TypeId::of::<u16>()) {
        Sort::Whole(u16::MAX.into())
    } else if is(TypeId::of::<u32>()) {
        Sort::Whole(u32::MAX.into())
    } else if is(TypeId::of::<u64>()) {
        Sort::Whole(u64::MAX)
    } else if is(TypeId::of::<f64>()) {
        Sort::Number
    } else if is(TypeId::of::<String>()) || is(TypeId::of::<PathBuf>()) {
        Sort::Text
    } else {
        Sort::Quantity
    }
}

impl Flag {
    /// The form of one value; `error` is the parser's.
    pub(crate) fn expected(&self, error: &clap::Error) -> String {
        match &self.sort {
            Sort::Switch => "true or false".to_owned(),
            Sort::Whole(most) => format!("a whole number up to {most}"),
            Sort::Number => "a number".to_owned(),
            Sort::Word(words) => format!("one of {}", words.join(", ")),
            Sort::Text => "a text".to_owned(),
            Sort::Quantity => {
                let said =
                    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
                // "`12XB` is not a size like ...", "`1:9` ends below its start; ..."
                match said.split_once("` is not ") {
                    Some((_, expected)) => expected.to_owned(),
                    None => format!("a value that can be used: {said}"),
                }
            }
        }
    }
}

/// Flags that are fine one by one and do not go together: which, and what would.
pub(crate) fn conflict(error: &clap::Error) -> (String, String) {
    let argument = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        Some(ContextValue::Strings(texts)) => texts.first().cloned(),
        _ => None,
    };
    let key = |text: String| {
        text.trim_start_matches('-').split(' ').next().unwrap_or_default().to_owned()
    };
    let both =
        argument(ContextKind::InvalidArg).map(key).zip(argument(ContextKind::PriorArg).map(key));
    match both {
        Some((one, other)) if error.kind() == ErrorKind::ArgumentConflict => {
            (format!("`{one}` beside `{other}`"), "only one of the two".to_owned())
        }
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            (format!("what does not go together: {line}"), "keys that do".to_owned())
        }
    }
}
