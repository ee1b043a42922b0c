//! Pages compared with files that a person has looked at. `UPDATE_GOLDEN=1` writes them anew.

use std::fs;
use std::path::PathBuf;

use hopbench_model::Record;
use hopbench_report::{Context, WIDTH, format, sweep_table};

use crate::records;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden"))
}

fn render(name: &str, records: &[Record]) -> String {
    (format(name).expect("a format that exists").render)(records, &Context { terminal: false })
}

/// Every page with the name of its file.
fn pages() -> Vec<(&'static str, String)> {
    let text = |record: Record| render("text", &[record]);
    vec![
        ("stream.txt", text(records::stream())),
        ("stream_both.txt", text(records::stream_both())),
        ("push.txt", text(records::push())),
        ("rr.txt", text(records::rr())),
        ("rr_udp_lossy.txt", text(records::rr_udp_lossy())),
        ("crr.txt", text(records::crr())),
        ("udp.txt", text(records::udp())),
        ("ping.txt", text(records::ping())),
        ("http.txt", text(records::http())),
        ("broken.txt", text(records::broken())),
        ("sweep.txt", sweep_table(&records::sweep()).expect("several records")),
        ("engines.txt", render("text", &records::spin_and_threads())),
        (
            "mixed.txt",
            sweep_table(&[records::stream(), records::http(), records::broken(), records::ping()])
                .expect("several records"),
        ),
    ]
}

#[test]
fn pages_are_as_agreed() {
    let update = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut differences = String::new();
    for (name, page) in pages() {
        let path = folder().join(name);
        if update {
            fs::write(&path, &page).unwrap();
        }
        let agreed = fs::read_to_string(&path).unwrap_or_default();
        if agreed != page {
            differences.push_str(&format!("--- {}\n{}", path.display(), diff(&agreed, &page)));
        }
    }
    assert!(differences.is_empty(), "pages differ (UPDATE_GOLDEN=1 accepts them):\n{differences}");
}

#[test]
fn no_golden_is_forgotten() {
    let mut files: Vec<_> = fs::read_dir(folder())
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let mut names: Vec<_> = pages().iter().map(|(name, _)| (*name).to_owned()).collect();
    names.sort();
    assert_eq!(files, names);
}

#[test]
fn goldens_fit_the_page_and_steer_no_terminal() {
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.is_empty(), "{} is empty", path.display());
        for line in text.lines() {
            assert!(line.chars().count() <= WIDTH, "{}: {line}", path.display());
            assert_eq!(line.trim_end(), line, "{}", path.display());
            assert!(
                line.chars().all(|c| matches!(c, ' '..='~' | 'µ' | '×' | '±')),
                "{}: {line}",
                path.display()
            );
        }
    }
}

#[test]
fn json_lines_read_back() {
    let mut records = records::sweep();
    records.extend([records::http(), records::udp(), records::push(), records::ping()]);
    let text = render("json", &records);
    let read: Vec<Record> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(read, records);
    let broken = render("json", &[records::broken()]);
    let read: Record = serde_json::from_str(&broken).unwrap();
    assert!(!read.metrics.contains_key("sent_bits_per_s"), "a figure that is no number is absent");
    assert!(read.metrics.contains_key("received_bits_per_s"));
}

#[test]
fn a_difference_shows_both_sides() {
    assert_eq!(diff("a\nb\nc\n", "a\nx\nc\n"), "  a\n- b\n+ x\n  c\n");
    assert_eq!(diff("", "a\n"), "+ a\n");
}

/// Lines of both texts: common ones, `-` what was agreed, `+` what came out.
fn diff(agreed: &str, found: &str) -> String {
    let (a, b): (Vec<_>, Vec<_>) = (agreed.lines().collect(), found.lines().collect());
    // The longest common subsequence of the tails from i and j on.
    let mut common = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i][j] = if a[i] == b[j] {
                common[i + 1][j + 1] + 1
            } else {
                common[i + 1][j].max(common[i][j + 1])
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, String::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push_str(&format!("  {}\n", a[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < a.len() && (j == b.len() || common[i + 1][j] >= common[i][j + 1]) {
            out.push_str(&format!("- {}\n", a[i]));
            i += 1;
        } else {
            out.push_str(&format!("+ {}\n", b[j]));
            j += 1;
        }
    }
    out
}
