//! `hopbench import`: files of other tools as a results folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use hopbench_agent::hello;
use hopbench_import::{Given, Imported, import, tools};
use hopbench_model::{Fault, Problem, RunStatus, printable};
use hopbench_report::number::counted;
use hopbench_run::new_run;
use hopbench_run::results::{self, Folder};

use crate::cmd::subcommand::Subcommand;
use crate::output::{refuse_stdout, say};

pub(in crate::cmd) struct Import;

/// Bytes that a file may have: no tool writes as many.
const MOST_BYTES: u64 = 32 << 20;
/// The longest name of a path, characters.
const LONGEST_NAME: usize = 64;
/// The file that means standard input, and the path that it is about if nothing else is said.
const STDIN: (&str, &str) = ("-", "stdin");
/// The name of new folders.
const NAME: &str = "import";
/// Facts of this machine that are kept: the files were not made by it.
const KEPT: [&str; 2] = ["version", "commit"];

impl Subcommand for Import {
    fn command(&self) -> Command {
        Command::new("import")
            .about("Makes a results folder of files that other tools wrote")
            .after_help(
                "The JSON of iperf3 -J, fortio, oha, k6 and Nighthawk is read, and the text of\n\
                 wrk, wrk2, hey, h2load, qperf, netperf, sockperf and ping. A file has one\n\
                 result. Results are marked as imported, not proved.\n\
                 NAME is the path that a file is about: without it, the file's name without its\n\
                 ending. Files of one path and one kind of test are rounds, in their order.\n\
                 `hopbench report` and `hopbench compare` take the folder. It has what the files\n\
                 state and nothing else. If one file is refused, nothing is written.",
            )
            .arg(
                Arg::new("files").value_name("[NAME=]FILE").required(true).num_args(1..).help(
                    "The output of a tool; - is standard input, ./a=b a file with such a name",
                ),
            )
            .arg(
                Arg::new("output")
                    .long("output")
                    .short('o')
                    .alias("out")
                    .value_name("DIR")
                    .value_parser(value_parser!(PathBuf))
                    .help("Folder for the results, empty or new [default: results/TIME-import]"),
            )
            .arg(
                Arg::new("name")
                    .long("name")
                    .value_name("NAME")
                    .help("The path that all files without NAME= are about, as rounds of it"),
            )
            .arg(
                Arg::new("baseline")
                    .long("baseline")
                    .value_name("NAME")
                    .help("The path that the others are compared with"),
            )
            .arg(
                Arg::new("tool")
                    .long("tool")
                    .value_name("TOOL")
                    .value_parser(PossibleValuesParser::new(tools()))
                    .help("The tool that wrote the files, whatever they look like"),
            )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let text = |name: &str| matches.get_one::<String>(name).map(String::as_str);
        let output = matches.get_one::<PathBuf>("output");
        output.map_or(Ok(()), |dir| refuse_stdout(dir))?;
        let dir = output.cloned().unwrap_or_else(|| results::fresh_name(NAME));
        results::vacant(&dir)?;
        let files = matches.get_many::<String>("files").into_iter().flatten();
        let named = files.map(|word| named(word, text("name"))).collect::<Result<Vec<_>, _>>()?;
        let contents =
            named.iter().map(|(_, file)| content(file)).collect::<Result<Vec<_>, _>>()?;
        let given: Vec<Given<'_>> = named
            .iter()
            .zip(&contents)
            .map(|((path, file), content)| Given {
                path: path.clone(),
                file: if *file == STDIN.0 { "standard input" } else { *file }.to_owned(),
                content,
            })
            .collect();
        let imported = import(&given, text("tool"), text("baseline"))
            .map_err(|problems| Fault::from_problems(&problems))?;
        write(&dir, imported)
    }
}

/// The path and the file of an argument, `NAME=FILE` or `FILE`.
fn named<'a>(word: &'a str, usual: Option<&str>) -> Result<(String, &'a str), Fault> {
    // A name of a path is no path of a file.
    let (path, file) = match word.split_once('=').filter(|(path, _)| !path.contains('/')) {
        Some((path, file)) => (path, file),
        None => (usual.unwrap_or_else(|| stem(word)), word),
    };
    let is_name = !path.is_empty()
        && path.chars().count() <= LONGEST_NAME
        && !path.chars().any(printable::steers);
    if is_name && !file.is_empty() {
        return Ok((path.to_owned(), file));
    }
    let expected = "NAME=FILE with a name of 1 to 64 characters that can be printed";
    Err(Fault::from_problems(&[Problem::new("FILE", printable::line(word), expected)]))
}

/// The name of a file without its folder and its ending.
fn stem(file: &str) -> &str {
    if file == STDIN.0 {
        return STDIN.1;
    }
    Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

/// All of a file, or of standard input.
fn content(name: &str) -> Result<String, Fault> {
    let refuse = |why: String| Fault::input(format!("FILE: found `{name}`, {why}"));
    let mut bytes = Vec::new();
    // One byte more, so that a file that is too long shows.
    let read = if name == STDIN.0 {
        io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)
    } else {
        File::open(name).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
    };
    read.map_err(|error| refuse(format!("expected a file that can be read: {error}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(refuse("expected a file of at most 32 MiB".to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        refuse(format!("expected text in UTF-8; byte {at} is none"))
    })
}

/// Writes the folder, and says where it is.
fn write(dir: &Path, imported: Imported) -> Result<(), Fault> {
    let Imported { plan, mut records, notes } = imported;
    let mut run = new_run(plan, String::new(), &hello())?;
    run.environment.retain(|name, _| KEPT.contains(&name.as_str()));
    run.notes = notes;
    for record in &mut records {
        record.run_id.clone_from(&run.run_id);
        if record.started_at.is_empty() {
            record.started_at.clone_from(&run.started_at);
        }
    }
    // Texts of one form: the first is the earliest.
    if let Some(first) = records.iter().map(|record| &record.started_at).min() {
        run.started_at.clone_from(first);
    }
    let mut folder = Folder::create(dir, run)?;
    records.iter().try_for_each(|record| folder.append(record))?;
    folder.update(|run| run.status = RunStatus::Complete)?;
    let count = counted(records.len() as u64, "trial", "trials");
    let at = dir.display();
    say(format_args!("{count} imported into {at}; see `hopbench report {at}`"))
}
