//! The HTML page, read as text and opened in a real browser.
//!
//! `HOPBENCH_PAGES=DIR` leaves the pages there, to be looked at.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::fixture::{self, Made};
use super::{mesh, render, searched, sure};

/// Before data.
const MOST_BYTES: usize = 1_500_000;

fn pages() -> Vec<(&'static str, Made)> {
    vec![
        ("quickstart", fixture::quickstart(3)),
        ("one-round", fixture::quickstart(1)),
        ("matrix", fixture::matrix()),
        ("connections", fixture::connections()),
        ("mesh", mesh::mesh(6)),
        ("mesh-one-round", mesh::mesh(1)),
        ("searches", searched::searched()),
        ("sure", sure::shown()),
        ("hostile", fixture::hostile()),
        ("empty", Made { records: Vec::new(), ..fixture::quickstart(3) }),
    ]
}

/// The page without what is ours to trust: libraries, script and style.
fn without_assets(page: &str) -> String {
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
    let mut page = page.to_owned();
    for file in
        ["chart.umd.min.js", "chartjs-chart-error-bars.umd.min.js", "report.js", "report.css"]
    {
        let text = std::fs::read_to_string(Path::new(assets).join(file)).unwrap();
        page = page.replace(&text, "");
    }
    page
}

#[test]
fn the_page_is_small_and_fetches_nothing() {
    for (name, made) in pages() {
        let page = render(&made, "html");
        let own = without_assets(&page);
        let assets = page.len() - own.len();
        assert!(
            assets < MOST_BYTES && (name == "empty" || assets > 200_000),
            "{name}: {assets} bytes of assets"
        );
        assert!(page.contains("default-src 'none'"), "{name}: no content policy");
        for fetch in
            [" src=", "<link", "@import", "url(", "http://", "https://", "sourceMappingURL"]
        {
            // A hostile text may say so, escaped: its attribute is no attribute.
            let found = own.replace("img src=x onerror", "");
            assert!(!found.contains(fetch), "{name}: `{fetch}` in the page");
        }
        assert!(!page.contains("sourceMappingURL"), "{name}");
    }
}

#[test]
fn tables_say_what_their_heads_are_about() {
    for (name, made) in pages() {
        let own = without_assets(&render(&made, "html"));
        let count = |what: &str| own.matches(what).count();
        assert_eq!(count("<table"), count("<caption>"), "{name}: a table without a caption");
        assert_eq!(count("<th "), count("<th scope=\""), "{name}: a head without a scope");
        assert_eq!(count("<th>"), 0, "{name}: a head without a scope");
        assert_eq!(
            count("<canvas"),
            count("role=\"img\" aria-label=\""),
            "{name}: a plot without a text"
        );
        for element in [
            "table", "section", "div", "tr", "td", "th", "ul", "li", "details", "figure", "dl",
            "small",
        ] {
            let opened = own.matches(&format!("<{element}>")).count()
                + own.matches(&format!("<{element} ")).count();
            assert_eq!(
                opened,
                count(&format!("</{element}>")),
                "{name}: <{element}> opened and closed"
            );
        }
    }
}

/// Tables are folded away, and every part can be linked to.
#[test]
fn every_part_has_an_id_and_a_link() {
    for (name, made) in pages() {
        let own = without_assets(&render(&made, "html"));
        let after = |what: &str| -> Vec<String> {
            own.split(what)
                .skip(1)
                .filter_map(|rest| Some(rest.split_once('"')?.0.to_owned()))
                .collect()
        };
        let ids = after(" id=\"");
        let distinct: BTreeSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len(), "{name}: an id twice: {ids:?}");
        for link in after("href=\"#") {
            assert!(distinct.contains(&link), "{name}: no {link}");
        }
        assert_eq!(
            own.matches("<details").count(),
            own.matches("<details id=\"").count(),
            "{name}"
        );
        assert_eq!(
            own.matches("<section").count(),
            own.matches("<section id=\"").count(),
            "{name}"
        );
        let linked: BTreeSet<String> = after("class=\"anchor\" href=\"#").into_iter().collect();
        for part in after("<section id=\"").iter().chain(&after("<details id=\"")) {
            assert!(linked.contains(part), "{name}: no link to {part}");
        }
    }
}

#[test]
fn hostile_texts_stay_texts() {
    let own = without_assets(&render(&fixture::hostile(), "html"));
    assert!(own.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "the text is there");
    assert_eq!(own.matches("<script").count(), own.matches("</script>").count());
    for bad in ["<script>alert", "<img", "</textarea>", "<!--", "\u{202e}", "\u{1b}"] {
        assert!(!own.contains(bad), "`{}` is in the page", bad.escape_debug());
    }
}

#[test]
fn no_format_lets_through_what_steers_a_terminal() {
    for format in ["screen", "table", "markdown", "csv", "json"] {
        let mut made = fixture::hostile();
        // JSON itself would leave them as they are.
        made.run.scenario.push_str("\u{7f}\u{9b}0m");
        let text = render(&made, format);
        let steering = text
            .chars()
            .find(|&c| hopbench_model::printable::steers(c) && !matches!(c, '\n' | '\t'));
        assert_eq!(steering, None, "{format}");
    }
}

/// Looks at every plot and writes what it saw into the document, where the test reads it.
const INSPECTION: &str = r#"<script>
addEventListener("error", (e) => { document.documentElement.dataset.error = e.message; });
{
  let painted = 0, datasets = 0, canvases = [...document.querySelectorAll("canvas")];
  for (const canvas of canvases) {
    datasets += Number(canvas.dataset.drawn || 0);
    const blank = document.createElement("canvas");
    blank.width = canvas.width; blank.height = canvas.height;
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4) {
      if (pixels[i + 3] <= 200) continue;
      colours.add((pixels[i] << 16) | (pixels[i + 1] << 8) | pixels[i + 2]);
    }
    if (canvas.toDataURL() !== blank.toDataURL() && colours.size > 3) painted += 1;
  }
  Object.assign(document.documentElement.dataset, { canvases: canvases.length, painted, datasets,
    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    alerts: document.images.length });
  // On paper everything is unfolded, and folded again after that; a link unfolds where it leads to.
  const folded = () => document.querySelectorAll("details:not([open])").length;
  const before = folded();
  dispatchEvent(new Event("beforeprint"));
  const printed = folded();
  dispatchEvent(new Event("afterprint"));
  location.hash = "resolved";
  dispatchEvent(new Event("hashchange"));
  Object.assign(document.documentElement.dataset, { folded: before, printed, again: folded() });
}
</script></body>"#;

/// The browser, if there is one.
fn chromium() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&folders)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

/// The document after scripts ran, and what the browser wrote to its log.
fn open(browser: &Path, folder: &Path, page: &Path, size: &str) -> (String, String) {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .args(["--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND"])
        .args(["--enable-logging=stderr", "--v=0", "--virtual-time-budget=10000"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args([
            format!("--window-size={size}"),
            "--dump-dom".to_owned(),
            format!("file://{}", page.display()),
        ])
        .env("HOME", folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

/// The page in a frame as narrow as the narrowest phone: a browser's own window cannot be.
fn framed(page: &str) -> String {
    let inner = page.replace(
        "</body>",
        &INSPECTION.replace(
            "document.documentElement.dataset, {",
            "parent.document.documentElement.dataset, {",
        ),
    );
    // The frame inherits the outer page's origin, so it may write there. The window cannot be as
    // narrow as this.
    let inner = inner.replace('&', "&amp;").replace('"', "&quot;");
    format!(
        "<!DOCTYPE html><html><body><iframe style=\"width:320px;height:3000px\" \
         srcdoc=\"{inner}\"></iframe></body></html>"
    )
}

#[test]
fn a_browser_draws_every_plot_without_errors() {
    let Some(browser) = chromium() else {
        assert!(
            std::env::var("HOPBENCH_REQUIRE_TOOLS").as_deref() != Ok("1"),
            "no chromium (HOPBENCH_REQUIRE_TOOLS=1)"
        );
        // Not `println`: what that prints is kept back when the test passes, and a skip is to be
        // seen.
        let test = "a_browser_draws_every_plot_without_errors";
        let _ = writeln!(
            std::io::stdout(),
            "\nSKIP {test}: no chromium; install it (apt-get install chromium)"
        );
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (name, made) in pages() {
        let page = render(&made, "html");
        if let Some(out) = std::env::var_os("HOPBENCH_PAGES") {
            std::fs::write(Path::new(&out).join(format!("{name}.html")), &page).unwrap();
        }
        let file = folder.path().join(format!("{name}.html"));
        std::fs::write(&file, page.replace("</body>", INSPECTION)).unwrap();
        let phone = folder.path().join(format!("{name}-phone.html"));
        std::fs::write(&phone, framed(&page)).unwrap();
        for (size, file) in [("1280,2000", &file), ("320", &phone)] {
            let window = if size == "320" { "800,2000" } else { size };
            let (document, log) = open(&browser, folder.path(), file, window);
            // The browser's own pages have words for a machine without a network.
            let is_ours = |line: &&str| line.contains("CONSOLE") && !line.contains("chrome://");
            let errors: Vec<_> = log.lines().filter(is_ours).collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
            let html = document.split('>').find(|tag| tag.contains("<html")).unwrap_or_default();
            let seen = |what: &str| {
                let value = html
                    .split(&format!("data-{what}=\""))
                    .nth(1)
                    .and_then(|rest| rest.split('"').next());
                value
                    .and_then(|value| value.parse::<i64>().ok())
                    .unwrap_or_else(|| panic!("{name}: no {what}: {html}\n{log}"))
            };
            let canvases = page.matches("<canvas").count() as i64;
            assert_eq!(seen("canvases"), canvases, "{name}");
            assert!(name == "empty" || canvases >= 3, "{name} has {canvases} plots");
            assert_eq!(seen("painted"), canvases, "{name} at {size}: a plot is blank");
            assert!(seen("datasets") >= canvases, "{name}: a plot without data");
            assert_eq!(seen("wide"), 0, "{name} at {size}: the page scrolls sideways");
            assert_eq!(seen("alerts"), 0, "{name}: an image that nobody wrote");
            let folded = page.matches("<details").count() as i64;
            let seen = [seen("folded"), seen("printed"), seen("again")];
            assert_eq!(
                seen,
                [folded, 0, folded - 1],
                "{name} at {size}: folded, on paper, after a link"
            );
        }
    }
}
