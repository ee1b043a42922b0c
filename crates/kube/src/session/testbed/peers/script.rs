//! The shell script that starts a tool in its container, and ends it. The container has no process
//! of ours, and what the API server starts there does not end with the streams to it.

use std::collections::BTreeMap;

use hopbench_model::{CpuSet, printable};

/// What a server prints when it listens.
const LISTENS: &str = "listens";

/// Characters of a line that are told.
const MOST_TOLD: usize = 100;

/// Its arguments: the port on which a server is to listen, in hexadecimal (nothing for a client),
/// the text for the tool's standard input, the tool, and the tool's own arguments.
///
/// The tool is looked for in `PATH`: some shells have programs of their own that go before those of
/// their image. It prints a line about where it is. The tool is killed when a line comes from the
/// standard input, or its end does. All that a server prints goes to the standard error: many say
/// on their standard output what is wrong.
const SCRIPT: &str = r#"port=$1; input=$2; name=$3; shift 3
program=
IFS=:
for folder in $PATH; do
  if [ -z "$program" ] && [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then
    program=$folder/$name
  fi
done
unset IFS
[ -n "$program" ] || {
  echo "the image has no program $name" >&2
  exit 127
}
set -- "$program" "$@"
read -r host </proc/sys/kernel/hostname
read -r boot </proc/sys/kernel/random/boot_id
while read -r key value; do
  [ "$key" != Cpus_allowed_list: ] || cpus=$value
done </proc/self/status
listens() {
  case $(cat /proc/net/tcp /proc/net/tcp6 2>/dev/null) in
  *":$port 00000000:0000 0A "* | *":$port 00000000000000000000000000000000:0000 0A "*) return 0 ;;
  esac
  return 1
}
if [ -n "$port" ] && listens; then
  echo "another program has its port" >&2
  exit 1
fi
echo "$host $boot $cpus"
exec 3<&0
if [ -z "$port" ]; then
  printf %s "$input" | "$@" 3<&- &
else
  "$@" 3<&- </dev/null >&2 &
fi
tool=$!
{ read -r _ <&3; kill -9 "$tool"; } >/dev/null 2>&1 &
watch=$!
exec 3<&-
while [ -n "$port" ] && kill -0 "$tool" 2>/dev/null; do
  if listens; then echo listens; break; fi
  sleep 0.1 2>/dev/null || sleep 1
done
# Without the words of the shell on a tool that was killed.
wait "$tool" 2>/dev/null
code=$?
exec 2>/dev/null
kill -9 "$watch"
wait "$watch"
exit "$code"
"#;

/// The end of a path that a tool is to run at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With this text as its standard input.
    Client(&'static str),
    /// On this port.
    Server(u16),
}

/// The command that starts a tool, with these arguments, on these CPUs.
pub(super) fn command(tool: &str, arguments: &str, end: End, cpus: Option<&CpuSet>) -> Vec<String> {
    let (port, input) = match end {
        End::Client(input) => (String::new(), input),
        End::Server(port) => (format!("{port:04X}"), ""),
    };
    let mut words: Vec<String> = Vec::new();
    if let Some(cpus) = cpus {
        words.extend(["taskset".to_owned(), "-c".to_owned(), cpus.to_string()]);
    }
    // What a plan says is an argument of the script, and no part of it.
    words.extend(["sh", "-c", SCRIPT, "sh", port.as_str(), input, tool].map(str::to_owned));
    words.extend(arguments.split_whitespace().map(str::to_owned));
    words
}

/// Where a script is, as it says itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    /// The facts that agents say of their machine, too.
    pub(super) machine: BTreeMap<String, String>,
    pub(super) cpus: CpuSet,
}

/// The place in the first line that a script printed, and the tool's own output.
pub(super) fn split(printed: &[u8]) -> Result<(Place, String), String> {
    let text = String::from_utf8_lossy(printed);
    let (line, rest) = text.split_once('\n').ok_or("it did not say where it is")?;
    let [host, boot, cpus] = line.split(' ').collect::<Vec<_>>()[..] else {
        return Err(format!(
            "it is at `{}`, which is no place",
            printable::excerpt(line, MOST_TOLD)
        ));
    };
    let machine = [("hostname", host), ("boot_id", boot)];
    let machine = machine.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let cpus = cpus
        .parse()
        .map_err(|_| format!("it is on CPUs `{}`", printable::excerpt(cpus, MOST_TOLD)))?;
    Ok((Place { machine: machine.into(), cpus }, rest.to_owned()))
}

/// Whether a server said that it listens.
pub(super) fn is_listening(printed: &[u8]) -> bool {
    split(printed).is_ok_and(|(_, rest)| rest.lines().any(|line| line == LISTENS))
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::process::{Child, Command, Output, Stdio};

    use super::*;

    /// The script, as a container would start it.
    fn started(tool: &str, arguments: &str, end: End) -> Child {
        let words = command(tool, arguments, end, None);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// The same to its end, without a word from the standard input.
    fn ended(tool: &str, arguments: &str, end: End) -> Output {
        let mut child = started(tool, arguments, end);
        let _input = child.stdin.take();
        child.wait_with_output().unwrap()
    }

    #[test]
    fn a_client_is_at_a_place_and_its_output_follows() {
        let done = ended("echo", "one two $HOME", End::Client(""));
        let (place, output) = split(&done.stdout).unwrap();
        assert_eq!(output, "one two $HOME\n", "no shell reads it");
        let of = |file: &str| std::fs::read_to_string(file).unwrap().trim().to_owned();
        assert_eq!(place.machine["hostname"], of("/proc/sys/kernel/hostname"));
        assert_eq!(place.machine["boot_id"], of("/proc/sys/kernel/random/boot_id"));
        assert!(!place.cpus.0.is_empty());
        assert!(done.status.success());
        let done = ended("cat", "", End::Client("a %s script\n"));
        assert_eq!(split(&done.stdout).unwrap().1, "a %s script\n");
        let done = ended("cat", "/no/such/file", End::Client(""));
        assert!(!done.status.success() && !done.stderr.is_empty());
        let done = ended("no-such-tool", "", End::Client(""));
        assert!(split(&done.stdout).is_err() && !done.status.success());
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(said, "the image has no program no-such-tool\n");
    }

    #[test]
    fn a_line_or_the_end_of_the_input_kills_the_tool() {
        for line in ["\n", ""] {
            let mut child = started("sleep", "60", End::Client(""));
            let mut output = BufReader::new(child.stdout.take().unwrap());
            output.read_line(&mut String::new()).unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(line.as_bytes()).unwrap();
            drop(input);
            // It would be there for a minute.
            assert_eq!(child.wait().unwrap().code(), Some(128 + 9), "{line:?}");
            let mut rest = String::new();
            output.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, "", "nobody holds its output any more");
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!(said, "", "the shell says nothing of its own");
        }
    }

    #[test]
    fn a_server_listens_on_its_port_and_takes_nobody_elses() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        let taken = other.local_addr().unwrap().port();
        let done = ended("sleep", "60", End::Server(taken));
        assert!(!is_listening(&done.stdout) && !done.status.success());
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!(said, "another program has its port\n");
        let done = ended("false", "", End::Server(1));
        assert!(!is_listening(&done.stdout) && !done.status.success());
        let done = ended("echo", "no such interface", End::Server(1));
        assert_eq!(split(&done.stdout).unwrap().1, "", "that is not for whoever waits");
        assert_eq!(String::from_utf8(done.stderr).unwrap(), "no such interface\n");
        // A port that is taken after the look is the server's, as far as anybody can see.
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut child = started("sleep", "60", End::Server(free));
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = String::new();
        output.read_line(&mut printed).unwrap();
        let own = TcpListener::bind(("127.0.0.1", free)).unwrap();
        output.read_line(&mut printed).unwrap();
        assert!(is_listening(printed.as_bytes()), "{printed}");
        drop((own, child.stdin.take()));
        assert_eq!(child.wait().unwrap().code(), Some(128 + 9));
    }

    #[test]
    fn cpus_are_those_that_are_asked_for() {
        let cpus: CpuSet = "0-2,5".parse().unwrap();
        let words = command("wrk", "-t1 url", End::Client(""), Some(&cpus));
        assert_eq!(words[..5], ["taskset", "-c", "0,1,2,5", "sh", "-c"]);
        assert_eq!(words[6..], ["sh", "", "", "wrk", "-t1", "url"]);
        assert_eq!(command("iperf3", "-s", End::Server(5201), None)[3..5], ["sh", "1451"]);
        let (place, rest) = split(b"pod-1 ab-cd 0-3\nout").unwrap();
        assert_eq!((place.cpus.0, rest.as_str()), (vec![0, 1, 2, 3], "out"));
        assert!(split(b"pod-1 ab-cd 0-3").is_err() && split(b"lost\n").is_err());
        assert!(split(b"pod-1 ab-cd \n").is_err());
    }
}
