//! The libraries of pages, compressed: few runs of the program print a page, and each carries them.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::DeflateEncoder;

fn main() {
    let out = std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    for name in ["chart.umd.min.js", "chartjs-chart-error-bars.umd.min.js"] {
        let source = Path::new("assets").join(name);
        println!("cargo::rerun-if-changed={}", source.display());
        let text = std::fs::read(&source).expect("the library is in `assets`");
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&text).expect("memory takes it");
        let bytes = encoder.finish().expect("memory takes it");
        let target = Path::new(&out).join(name).with_extension("deflate");
        std::fs::write(target, bytes).expect("OUT_DIR can be written");
    }
}
