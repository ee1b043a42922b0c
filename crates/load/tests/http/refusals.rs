//! Jobs that cannot be run.

use clap::Command;
use hopbench_load::workload;
use hopbench_model::FaultKind;
use serde_json::json;

use crate::rig::{job, run_and};

#[test]
fn flags_and_problems_go_through_the_registry() {
    let http = workload("http").unwrap();
    let nature = http.nature();
    assert!(!nature.needs_agent && nature.scheduled && nature.target == "URL" && nature.code == 0);
    let command = http.arguments(Command::new("http"));
    let matches = command.get_matches_from(["http", "-H", "A: b", "-H", "bad", "--method", "POST"]);
    let mut params = http.params(&matches).unwrap();
    assert_eq!(params["headers"], json!(["A: b", "bad"]));
    params["url"] = json!("http://h:0/");
    let problems = http.problems(&job(params.clone()));
    let places: Vec<_> = problems.iter().map(|p| p.at.as_str()).collect();
    assert_eq!(places, ["URL", "--header"]);
    params["surprise"] = json!(1);
    assert!(http.problems(&job(params))[0].found.contains("surprise"));
}

#[test]
fn a_job_with_problems_starts_nothing() {
    let fault = std::panic::catch_unwind(|| run_and(&job(json!({"url": "ftp://h/"})), "127.0.0.1:1".parse().unwrap(), || {}));
    assert!(fault.is_err(), "the rig refuses it already");
    let context_free = workload("http").unwrap().problems(&job(json!({"url": "ftp://h/"})));
    assert_eq!(context_free[0].at, "URL");
    assert_eq!(hopbench_model::Fault::from_problems(&context_free).kind, FaultKind::Input);
}
