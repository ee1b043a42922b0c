//! `hopbench kube image`: this program as the image of the agents' pods.

use std::path::PathBuf;

use clap::{ArgMatches, Args, Command, FromArgMatches};
use hopbench_kube::image::{WrittenImage, default_tag, write, write_to};
use hopbench_model::Fault;
use hopbench_report::number::bytes;

use crate::cmd::subcommand::Subcommand;
use crate::output::{is_stdout, print_bytes, say, tell};

pub(super) struct Image;

#[derive(Debug, Args)]
struct Flags {
    /// The archive; - is standard output
    #[arg(short, long, alias = "out", value_name = "FILE", default_value = "hopbench.tar")]
    output: PathBuf,
    /// Name of the image, as scenarios say it in `testbed: {kubernetes: {image: NAME}}`; the usual
    /// one needs no word
    #[arg(long, value_name = "NAME", default_value_t = default_tag())]
    tag: String,
}

impl Subcommand for Image {
    fn command(&self) -> Command {
        Flags::augment_args(Command::new("image"))
            .about("Writes this program as an image, without any container tool")
            .long_about(None)
            .after_help(
                "Whatever takes images takes the archive, on each node or for a registry:\n\
                 ctr -n k8s.io images import hopbench.tar\n\
                 docker load -i hopbench.tar\n\
                 kind load image-archive hopbench.tar\n\
                 skopeo copy docker-archive:hopbench.tar docker://REGISTRY/hopbench:TAG",
            )
    }

    fn run(&self, matches: &ArgMatches) -> Result<(), Fault> {
        let Flags { output, tag } = Flags::from_arg_matches(matches).map_err(Fault::input)?;
        let said = |written: &WrittenImage| {
            format!("{} for {}, {}", written.tag, written.architecture, written.digest)
        };
        if is_stdout(&output) {
            // Where the archive goes is no place for words.
            let written = print_bytes(|out| write_to(out, &tag))?;
            tell(said(&written));
            return Ok(());
        }
        let written = write(&output, &tag)?;
        say(said(&written))?;
        tell(format_args!("{} in {}", bytes(written.bytes as f64), output.display()));
        Ok(())
    }
}
