//! `hopbench kube image`: this program as the image of the agents' pods.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_kube::image::{Image, Reference, default_tag};
use hopbench_model::{Fault, Problem};
use hopbench_report::number::bytes;

use crate::cmd::subcommand::Subcommand;
use crate::output::{is_stdout, print_bytes, say, tell};

pub(super) struct ImageCommand;

#[derive(Debug, Args)]
struct Flags {
    /// The archive; - is standard output
    #[arg(short, long, alias = "out", value_name = "FILE", default_value = "hopbench.tar")]
    output: PathBuf,
    /// Name of the image, as scenarios say it in `testbed: {kubernetes: {image: NAME}}`; the usual
    /// one needs no word
    #[arg(long, value_name = "NAME", default_value_t = default_tag())]
    tag: String,
    /// Pushes the image to a registry instead, with the credentials of `docker login`
    #[arg(long, value_name = "REGISTRY/NAME:TAG", conflicts_with_all = ["output", "tag"])]
    push: Option<String>,
    /// With --push: without TLS; a registry on this machine needs no word
    #[arg(long, requires = "push")]
    plain_http: bool,
    /// A hopbench for another kind of machine, to be in the same image; may be repeated
    #[arg(long, value_name = "FILE")]
    program: Vec<PathBuf>,
}

impl Subcommand for ImageCommand {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("image"))
            .about("Writes this program as an image, without any container tool")
            .long_about(None)
            .after_help(
                "Whatever takes images takes the archive, on each node or for a registry:\n\
                 ctr -n k8s.io images import hopbench.tar\n\
                 docker load -i hopbench.tar\n\
                 kind load image-archive hopbench.tar\n\n\
                 Or push it; nodes of both kinds then get their own program:\n\
                 hopbench kube image --push REGISTRY/hopbench:TAG --program hopbench-arm64",
            )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let flags = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        let (option, name) = match &flags.push {
            Some(name) => ("--push", name),
            None => ("--tag", &flags.tag),
        };
        let reference = Reference::parse(option, name)?;
        if flags.push.is_some() && !reference.has_registry() {
            // Without one it would go to a public registry.
            let expected = "REGISTRY/NAME:TAG, like `registry.example:5000/tools/hopbench:dev`: \
                            an image goes only to a registry that is named";
            return Err(Fault::from_problems(&[Problem::new(option, name, expected)]));
        }
        let image = Image::of_running(&flags.program)?;
        let machines = image.architectures().join(", ");
        let said = format!("{} for {machines}, {}", reference.short(), image.digest());
        if flags.push.is_some() {
            image.push(&reference, flags.plain_http)?;
            return say(format!("pushed {said}"));
        }
        if is_stdout(&flags.output) {
            // Where the archive goes is no place for words.
            print_bytes(|out| image.write(out, &reference))?;
            tell(said);
            return Ok(());
        }
        let length = image.save(&flags.output, &reference)?;
        say(said)?;
        tell(format_args!("{} in {}", bytes(length as f64), flags.output.display()));
        Ok(())
    }
}
