//! Jobs that cannot be run.

use clap::Command;
use hopbench_load::workload;
use hopbench_model::FaultKind;
use serde_json::json;

use crate::job;
use crate::rig::context;

#[test]
fn flags_and_problems_go_through_the_registry() {
    let http = workload("http").unwrap();
    let kind = http.kind();
    assert!(!http.needs_agent() && kind.is_of_exchanges() && kind.is_http());
    let command = http.arguments(Command::new("http"));
    let matches = command.get_matches_from(["http", "-H", "A: b", "-H", "bad", "--method", "POST"]);
    let mut params = http.params(&matches).unwrap();
    assert_eq!(params["headers"], json!(["A: b", "bad"]));
    params["url"] = json!("http://h:0/");
    let problems = http.problems(&job(params.clone()));
    let places: Vec<_> = problems.iter().map(|p| p.at.as_str()).collect();
    assert_eq!(places, ["URL", "--header"]);
    params["surprise"] = json!(1);
    assert!(http.problems(&job(params))[0].expected.contains("surprise"));
}

#[test]
fn a_job_with_problems_starts_nothing() {
    let job = job(json!({"url": "ftp://h/", "headers": ["bad"]}));
    let fault =
        workload("http").unwrap().client(&context(&job, ([127, 0, 0, 1], 1).into())).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Input);
    assert!(fault.text.contains("URL: found") && fault.text.contains("--header: found"), "{fault}");
}

#[test]
fn a_job_that_cannot_be_read_has_no_server() {
    let served = workload("http")
        .unwrap()
        .server(&context(&job(json!({"surprise": 1})), ([127, 0, 0, 1], 1).into()));
    let fault = served.err().unwrap();
    assert!(fault.kind == FaultKind::Input && fault.text.contains("surprise"), "{fault}");
}
