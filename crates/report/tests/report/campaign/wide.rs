//! Intervals that say nothing: two rounds that are worlds apart.

use serde_json::Value;

use super::fixture::{self, Made};
use super::{mesh, render, summary};

/// The quickstart in two rounds, of which the second is a thousand times as slow.
fn apart() -> Made {
    let mut made = fixture::quickstart(2);
    for record in made.records.iter_mut().filter(|record| record.round == 2) {
        record.metrics.values_mut().for_each(|value| *value /= 1000.0);
        for latency in record.latency.values_mut() {
            for value in [&mut latency.p50, &mut latency.p90, &mut latency.p99, &mut latency.max] {
                *value *= 1000;
            }
        }
    }
    made
}

#[test]
fn an_end_beyond_ten_times_the_median_is_no_number() {
    let made = apart();
    let widest = summary(&made).workloads[0].cells[0].figures[0].spread;
    assert!(widest.high.unwrap() > 1e6 * widest.median, "{widest:?}");
    for format in ["table", "markdown", "html"] {
        let page = render(&made, format);
        // What scripts are given are numbers.
        let page = page.split("<script").next().unwrap();
        let digits = page.split(|c: char| !c.is_ascii_digit()).map(str::len).max();
        assert!(digits.unwrap() <= 12, "{format} has a number of {digits:?} digits");
        assert!(page.contains("< ") || page.contains("&lt; "), "{format}");
    }
    // Programs get the numbers.
    let json: Value = serde_json::from_str(&render(&made, "json")).unwrap();
    assert_eq!(json["workloads"][0]["cells"][0]["figures"][0]["high"].as_f64(), widest.high);
    assert!(render(&made, "csv").contains(&widest.high.unwrap().to_string()));
}

fn charts(made: &Made) -> Vec<Value> {
    let html = render(made, "html");
    let (_, rest) = html.split_once("id=\"charts\">").unwrap();
    let json = rest.split("</script>").next().unwrap().replace("\\u003c", "<");
    serde_json::from_str(&json).unwrap()
}

#[test]
fn axes_are_those_of_the_values() {
    let points = |chart: &Value| -> Vec<(f64, Option<f64>)> {
        let series = chart["series"].as_array().unwrap().iter();
        let points = series.flat_map(|series| series["points"].as_array().unwrap().clone());
        points.map(|point| (point[1].as_f64().unwrap(), point[3].as_f64())).collect()
    };
    let charts = charts(&apart());
    let mut cut = 0;
    for chart in charts.iter().filter(|chart| chart["stacked"] == false) {
        let points = points(chart);
        let highest = points.iter().map(|point| point.0).fold(0.0, f64::max);
        let further = points.iter().filter_map(|point| point.1).fold(0.0, f64::max);
        match chart["y"]["cut"][1].as_f64() {
            Some(end) => {
                assert!(highest < end && end <= 4.0 * highest, "{chart}");
                cut += 1;
            }
            None => assert!(further <= 4.0 * highest, "{chart}"),
        }
    }
    assert!(cut > 3, "{cut} charts have intervals that go far beyond");
    let usual = self::charts(&fixture::quickstart(3));
    assert!(
        usual.iter().all(|chart| chart["y"].get("cut").is_none()),
        "what is no wider has all its room"
    );
}

#[test]
fn what_a_hop_takes_away_stands_left_of_nothing() {
    let mut made = mesh::mesh(6);
    // The last proxy makes everything faster.
    for record in made.records.iter_mut().filter(|record| record.path == "both") {
        for latency in record.latency.values_mut() {
            for value in [&mut latency.p50, &mut latency.p90, &mut latency.p99] {
                *value /= 1000;
            }
        }
    }
    let charts = charts(&made);
    let mut left = 0;
    for chart in charts.iter().filter(|chart| chart["kind"] == "waterfall") {
        for series in chart["series"].as_array().unwrap() {
            let points = series["points"].as_array().unwrap().iter();
            for (point, start) in points.zip(series["starts"].as_array().unwrap()) {
                let (added, start) = (point[1].as_f64().unwrap(), start.as_f64().unwrap());
                assert!(if added < 0.0 { start <= 0.0 } else { start >= 0.0 }, "{chart}");
                left += u32::from(added < 0.0);
            }
        }
    }
    assert!(left > 0, "no step takes away");
    assert!(render(&made, "html").contains("What a step takes away stands left of 0."));
    assert!(!render(&mesh::mesh(6), "html").contains("stands left of 0"));
}
