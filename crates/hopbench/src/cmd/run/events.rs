//! A run for other programs: one JSON object a line on standard output.

use std::collections::BTreeMap;

use hopbench_model::{Nanos, Record, RunFile, SECOND, Tick};
use hopbench_report::campaign::{Summary, WorkloadSummary, broken_text};
use hopbench_run::{Event, Observer};
use hopbench_sys::clock::now;
use hopbench_wire::Role;
use serde_json::{Value, json};

use super::known::Known;
use super::progress::{Log, Pace};
use super::searching;
use crate::ctrl_c::CtrlC;
use crate::output::say;

/// The version of the events; a field is never repurposed, this number grows instead.
pub(in crate::cmd) const EVENT_SCHEMA: &str = "hopbench.event/1";

/// Between two answers, ns.
const ANSWER_EVERY: Nanos = 10 * SECOND;

/// Writes events; nobody needs to read them for the run to go on.
pub(super) struct Events {
    ctrl_c: CtrlC,
    /// The log of the results folder, where there is one, and what is known of its run.
    run: Option<(Log, Known)>,
    pace: Pace,
}

impl Events {
    pub(super) fn new(ctrl_c: CtrlC) -> Self {
        Self { ctrl_c, run: None, pace: Pace::new(ANSWER_EVERY, now() + ANSWER_EVERY) }
    }

    /// The same of a run that has a folder.
    pub(super) fn of_run(self, log: Log, known: Known) -> Self {
        Self { run: Some((log, known)), ..self }
    }

    /// The answer so far, of a run of which something is known.
    fn answer(&mut self, run: Option<&RunFile>) {
        let began = now();
        let summary = self.run.as_mut().and_then(|(_, known)| known.summary(run));
        if let Some(summary) = summary {
            let _ = say(answer(&summary));
        }
        self.pace.made(began, now());
    }
}

/// The comparisons of all figures that are plotted, as they stand.
fn answer(summary: &Summary) -> Value {
    let (decided, comparisons) = summary.decided();
    json!({
        "schema": EVENT_SCHEMA, "event": "answer", "decided": decided, "comparisons": comparisons,
        "verdicts": summary.workloads.iter().flat_map(verdicts).collect::<Vec<_>>(),
    })
}

fn verdicts(workload: &WorkloadSummary) -> Vec<Value> {
    let mut out = Vec::new();
    for cell in &workload.cells {
        for figure in workload.figures.iter().filter(|figure| figure.plotted) {
            let ratio = cell.figure(figure.name).and_then(|estimate| estimate.ratio.as_ref());
            let Some(ratio) = ratio.filter(|ratio| ratio.verdict.is_some()) else { continue };
            let spread = ratio.spread;
            out.push(json!({
                "path": cell.path, "workload": workload.name, "point": cell.point_label,
                "figure": figure.name,
                "ratio": spread.map(|spread| spread.median),
                "low": spread.and_then(|spread| spread.low),
                "high": spread.and_then(|spread| spread.high), "verdict": ratio.verdict,
            }));
        }
    }
    out
}

/// An event as an object, `schema` and `event` first of all.
fn object(event: &Event<'_>) -> Value {
    match event {
        Event::RunStarted { run, trials, left } => json!({
            "schema": EVENT_SCHEMA, "event": "run_started", "run_id": run.run_id,
            "name": run.plan.name,
            "trials": trials, "left": left, "rounds": run.plan.rounds, "seed": run.plan.seed,
        }),
        Event::Note(note) => json!({"schema": EVENT_SCHEMA, "event": "note", "text": note}),
        Event::CellSkipped(cell) => json!({
            "schema": EVENT_SCHEMA, "event": "cell_skipped", "path": cell.path,
            "workload": cell.workload,
            "point": cell.point, "reason": cell.reason,
        }),
        Event::RoundStarted { round, open, cells, widest_share, goal_share } => json!({
            "schema": EVENT_SCHEMA, "event": "round_started", "round": round, "open": open,
            "cells": cells,
            "widest_share": widest_share, "goal_share": goal_share,
        }),
        Event::RoundsDone { ended, rounds } => json!({
            "schema": EVENT_SCHEMA, "event": "rounds_done", "narrow": ended.narrow,
            "by_budget": ended.by_budget,
            "by_rounds": ended.by_rounds, "open": ended.open, "rounds": rounds,
        }),
        Event::TrialStarted {
            run: _,
            trial,
            number,
            trials,
            cell,
            cells,
            rounds,
            job: _,
            left_ns,
        } => {
            json!({
                "schema": EVENT_SCHEMA, "event": "trial_started", "path": trial.path,
                "workload": trial.workload,
                "point": trial.point, "round": trial.round, "rounds": rounds, "number": number,
                "trials": trials,
                "cell": cell, "cells": cells, "left_s": *left_ns as f64 / 1e9,
            })
        }
        Event::TrialDone(record) => done(record),
        Event::TrialFailed(failure) => json!({
            "schema": EVENT_SCHEMA, "event": "trial_failed", "path": failure.path,
            "workload": failure.workload,
            "point": failure.point, "round": failure.round, "reason": failure.reason,
        }),
        Event::PathGivenUp { path, round, trials } => json!({
            "schema": EVENT_SCHEMA, "event": "path_given_up", "path": path, "round": round,
            "trials": trials,
        }),
        Event::SearchesStarted { searches, left } => {
            json!({
                "schema": EVENT_SCHEMA, "event": "searches_started", "searches": searches,
                "left": left,
            })
        }
        Event::SearchTrialStarted { trial, pass, place, of, job: _ } => json!({
            "schema": EVENT_SCHEMA, "event": "search_trial_started", "path": trial.path,
            "workload": trial.workload,
            "point": trial.point, "round": trial.round, "pass": pass, "place": place, "of": of,
        }),
        Event::SearchStep { path, workload, point, goal: _, step, next } => json!({
            "schema": EVENT_SCHEMA, "event": "search_step", "path": path, "workload": workload,
            "point": point,
            "step": step, "beyond": Some(broken_text(&step.broken)).filter(|text| !text.is_empty()),
            "next": next,
        }),
        Event::SearchDone { path, workload, point, step, outcome, value } => json!({
            "schema": EVENT_SCHEMA, "event": "search_done", "path": path, "workload": workload,
            "point": point,
            "goal": step.goal, "parameter": step.parameter, "outcome": outcome,
            "figure": step.figure, "value": value,
            "text": searching::done(path, workload, point, step, *outcome, *value),
        }),
        Event::RunDone { run, ended, fault } => json!({
            "schema": EVENT_SCHEMA, "event": "run_done", "run_id": run.run_id, "status": run.status,
            "good": ended.good, "errors": ended.errors, "failures": ended.failures,
            "interrupted": ended.interrupted,
            "fault": fault.map(|fault| &fault.text),
        }),
    }
}

/// A record without what is long in it: `records.jsonl` has all of it.
fn done(record: &Record) -> Value {
    let latency: BTreeMap<_, _> = record
        .latency
        .iter()
        .map(|(kind, l)| {
            let figures = json!({
                "count": l.count, "mean": l.mean, "min": l.min, "p50": l.p50, "p90": l.p90,
                "p99": l.p99,
                "p999": l.p999, "max": l.max,
            });
            (kind, figures)
        })
        .collect();
    json!({
        "schema": EVENT_SCHEMA, "event": "trial_done", "path": record.path,
        "workload": record.workload,
        "point": record.point, "round": record.round, "window_s": record.window_s,
        "limited_by": record.limited_by,
        "metrics": record.metrics, "latency": latency, "warnings": record.warnings,
        "incomplete": record.incomplete, "error": record.error, "search": record.search,
    })
}

impl Observer for Events {
    fn event(&mut self, event: &Event<'_>) {
        if let Some((log, known)) = &mut self.run {
            log.write(event);
            known.take(event);
        }
        match event {
            Event::TrialStarted { run, .. } if self.pace.is_due(now()) => self.answer(Some(run)),
            Event::SearchTrialStarted { .. } if self.pace.is_due(now()) => self.answer(None),
            Event::RunDone { run, .. } => self.answer(Some(run)),
            _ => {}
        }
        // Whoever reads may have gone; the folder has everything.
        let _ = say(object(event));
    }

    fn tick(&mut self, _: Role, _: usize, _: &Tick) {}

    fn interrupted(&self) -> bool {
        self.ctrl_c.wanted()
    }
}
