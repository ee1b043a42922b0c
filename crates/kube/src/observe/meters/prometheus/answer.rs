//! Prometheus' answer to a question for raw samples.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The last sample of a series.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) labels: BTreeMap<String, String>,
    /// When it was read, ms since 1970 UTC.
    pub(super) at_ms: i64,
    pub(super) value: f64,
}

impl Series {
    /// The value of a label; empty where it has none.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Matrix>,
}

#[derive(Deserialize)]
struct Matrix {
    metric: BTreeMap<String, String>,
    /// Time in s, value as text.
    values: Vec<(f64, String)>,
}

/// The last sample of each series.
pub(super) fn series(text: &str) -> Result<Vec<Series>, String> {
    let answer: Answer = serde_json::from_str(text).map_err(|error| {
        let start: String = text.chars().take(80).collect();
        format!("this is not how Prometheus answers: {error}: {start:?}")
    })?;
    let data = match answer.data {
        Some(data) if answer.status == "success" => data,
        _ => return Err(answer.error),
    };
    data.result.into_iter().filter_map(|matrix| last(matrix).transpose()).collect()
}

fn last(mut matrix: Matrix) -> Result<Option<Series>, String> {
    let Some((at_s, value)) = matrix.values.pop() else { return Ok(None) };
    let value = value.parse().map_err(|_| format!("a value that is no number: {value:?}"))?;
    let name = matrix.metric.remove("__name__").unwrap_or_default();
    Ok(Some(Series { name, labels: matrix.metric, at_ms: (at_s * 1e3).round() as i64, value }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sample_of_each_series_is_read() {
        let text = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{"__name__":"cpu","pod":"p"},
             "values":[[1795276902.168,"0.5"],[1795276907.5,"1.25"]]},
            {"metric":{"__name__":"none"},"values":[]}]}}"#;
        let read = series(text).unwrap();
        assert_eq!(read.len(), 1);
        assert_eq!(
            (read[0].name.as_str(), read[0].at_ms, read[0].value),
            ("cpu", 1_795_276_907_500, 1.25)
        );
        assert_eq!((read[0].label("pod"), read[0].label("container")), ("p", ""));
    }

    #[test]
    fn what_prometheus_does_not_like_is_told() {
        let refused = r#"{"status":"error","errorType":"bad_data","error":"1:3: parse error"}"#;
        assert_eq!(series(refused).unwrap_err(), "1:3: parse error");
        assert!(series("<html>404").unwrap_err().contains("\"<html>404\""));
        let no_number =
            r#"{"status":"success","data":{"result":[{"metric":{},"values":[[1,"x"]]}]}}"#;
        assert!(series(no_number).unwrap_err().contains("no number"));
    }
}
