//! The stop rule of a run: as many rounds as needed, and how the rounds of each cell ended.

use std::collections::HashMap;

use hopbench_model::number::{counted, percentage};
use hopbench_model::units::Span;
use hopbench_model::{RunFile, StopWhy, Stopped, point_label};
use hopbench_stats::Stop;

use crate::figures::Kind;
use crate::summary::{CellSummary, StopSummary};

/// More cells than this are counted, not named.
const MOST_NAMED: usize = 5;

/// The rule of a run.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    stop: Stop,
    metric: String,
    /// The time for all trials of a session, as people write it: `10m`.
    budget: Option<String>,
    max_rounds: u32,
    /// The cells whose rounds have ended, by path and point.
    stopped: HashMap<(usize, usize), Stopped>,
}

impl Rule {
    /// `None` where every cell has all rounds.
    pub(crate) fn of(run: &RunFile) -> Option<Self> {
        let plan = &run.plan;
        let rule = plan.stop.as_ref()?;
        let name = |cell: &hopbench_model::Cell| {
            let (path, point) = plan.at(*cell);
            (path.name.clone(), point.workload.clone(), point_label(&point.point))
        };
        let places: HashMap<_, _> =
            plan.cells.iter().map(|cell| (name(cell), (cell.path, cell.point))).collect();
        let place = |one: &Stopped| {
            places.get(&(one.path.clone(), one.workload.clone(), one.point.clone())).copied()
        };
        Some(Self {
            stop: Stop {
                half_width_share: rule.half_width_share,
                min_rounds: rule.min_rounds as usize,
                max_rounds: plan.rounds as usize,
            },
            metric: rule.metric.clone(),
            budget: rule.budget_ns.map(|ns| Span(ns).brief()),
            max_rounds: plan.rounds,
            stopped: run
                .stopped
                .iter()
                .filter_map(|one| Some((place(one)?, one.clone())))
                .collect(),
        })
    }

    /// The look at a cell that says whether it needs another round.
    pub(crate) fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Index of the figure that it looked at, of a cell of this kind; `None` where that is unknown,
    /// or none of its figures.
    pub(crate) fn figure(&self, cell: (usize, usize), kind: &Kind) -> Option<usize> {
        kind.recorded_as(&self.stopped.get(&cell)?.figure)
    }

    /// Rounds of a cell that were not needed, or for which there was no time.
    pub(crate) fn spared(&self, cell: (usize, usize)) -> u32 {
        self.stopped.get(&cell).map_or(0, |stopped| self.max_rounds.saturating_sub(stopped.rounds))
    }

    /// How the rounds of a cell ended; `None` where they have not.
    pub(crate) fn ended(&self, cell: (usize, usize), kind: &Kind) -> Option<StopSummary> {
        let Stopped { why, rounds, half_width_share, figure, instead, .. } =
            self.stopped.get(&cell)?;
        let label =
            || kind.recorded_as(figure).map_or(figure.as_str(), |index| kind.figures[index].label);
        // In the rule's own words where it is what the rule asks for.
        let figure = if *instead { label() } else { self.metric.as_str() };
        let (why, rounds, half_width_share) = (*why, *rounds, *half_width_share);
        Some(StopSummary { why, rounds, half_width_share, figure: figure.to_owned() })
    }

    /// In words: `until p99 is within +-2 %: 3 to 20, in at most 10m`.
    pub(crate) fn text(&self) -> String {
        let budget =
            self.budget.as_ref().map_or(String::new(), |span| format!(", in at most {span}"));
        format!("{}: {} to {}{budget}", self.until(), self.stop.min_rounds, self.max_rounds)
    }

    fn until(&self) -> String {
        format!("until {} is within +-{} %", self.metric, percentage(self.stop.half_width_share))
    }

    /// Notes on the cells that are not as sure as they were to be.
    pub(crate) fn notes<'a>(
        &self,
        cells: impl Iterator<Item = (&'a str, &'a CellSummary)>,
    ) -> Vec<String> {
        let ended: Vec<_> = cells
            .filter_map(|(workload, cell)| Some((workload, cell, cell.stop.as_ref()?)))
            .collect();
        let all = counted(ended.len() as u64, "cell", "cells");
        let asked_share = self.stop.half_width_share;
        // By what was looked at: it is not the same of all workloads.
        let of = |why: StopWhy| {
            let mut wide: Vec<_> = ended.iter().filter(|(.., stop)| stop.why == why).collect();
            let width = |stop: &StopSummary| stop.half_width_share.unwrap_or(f64::INFINITY);
            wide.sort_by(|a, b| width(b.2).total_cmp(&width(a.2)));
            let mut figures: Vec<&str> = Vec::new();
            for (.., stop) in &wide {
                if !figures.contains(&stop.figure.as_str()) {
                    figures.push(&stop.figure);
                }
            }
            let one = |figure: &str| {
                let mut wide = wide.clone();
                wide.retain(|(.., stop)| stop.figure == figure);
                let named: Vec<String> = wide
                    .iter()
                    .take(MOST_NAMED)
                    .map(|(workload, cell, stop)| {
                        let name = [cell.path.as_str(), workload, &cell.point_label].join(" ");
                        format!("{} ({})", name.trim_end(), stop.width_beside(asked_share))
                    })
                    .collect();
                let more = wide.len().saturating_sub(named.len());
                let more = if more > 0 { format!(" and {more} more") } else { String::new() };
                let asked = format!("{figure} within +-{} %", percentage(asked_share));
                (wide.len(), asked, format!("{}{more}", named.join(", ")))
            };
            figures.into_iter().map(one).collect::<Vec<_>>()
        };
        let mut out = Vec::new();
        for (n, asked, named) in of(StopWhy::Budget) {
            let time = self.budget.as_ref().map_or(String::new(), |span| format!(" of {span}"));
            out.push(format!(
                "the time{time} ended before {n} of {all} had {asked}: {named}. In that time they \
                 cannot be narrower: take a larger budget, longer windows or fewer cells"
            ));
        }
        for (n, asked, named) in of(StopWhy::Rounds) {
            let rounds = counted(u64::from(self.max_rounds), "round", "rounds");
            out.push(format!("after all {rounds} {n} of {all} do not have {asked}: {named}"));
        }
        out
    }
}
