//! The points of one workload: every combination of the values of its keys.

use std::collections::HashSet;

use clap::{ArgMatches, Command, FromArgMatches};
use hopbench_load::workload::{Workload, points};
use hopbench_load::{JobArguments, ScheduleArguments};
use hopbench_model::{Params, Point, Problem};
use serde_json::Value;

use super::flags::{Sort, conflict};
use super::keys::Swept;
use crate::document::node::{At, quoted};
use crate::document::problem::Problems;
use crate::http::{Request, stand_in};
use crate::vocabulary::Vocabulary;

/// What points are made of.
pub(crate) struct Maker<'a> {
    /// The workload's name in the scenario.
    pub(crate) name: &'a str,
    pub(crate) workload: &'static dyn Workload,
    pub(crate) command: &'a mut Command,
    pub(crate) keys: &'a [Swept],
    /// Where the workload is in the file and in the tree, for what no key is to blame for.
    pub(crate) at: At,
    pub(crate) path: &'a str,
    pub(crate) vocabulary: &'a Vocabulary,
    pub(crate) seed: u64,
}

impl Maker<'_> {
    /// The points, the last key varying fastest.
    pub(crate) fn make(&mut self, problems: &mut Problems) -> Vec<Point> {
        let mut out = Vec::new();
        let mut seen = HashSet::new();
        let mut setting = vec![0; self.keys.len()];
        loop {
            for point in self.combination(&setting, problems) {
                let shown = Value::from_iter(point.point.clone()).to_string();
                if !seen.insert(shown.clone()) {
                    let found = format!("the point {} twice", quoted(&shown.replace('"', "")));
                    problems.add(self.at, self.path, found, "each setting once");
                    return out;
                }
                out.push(point);
            }
            // The next combination, as an odometer counts.
            let Some(turned) =
                (0..setting.len()).rev().find(|i| setting[*i] + 1 < self.keys[*i].len())
            else {
                return out;
            };
            setting[turned] += 1;
            setting[turned + 1..].fill(0);
        }
    }

    /// The first point, whatever is wrong with it; `None` if there is none.
    pub(crate) fn first(&mut self) -> Option<Point> {
        let setting = vec![0; self.keys.len()];
        self.combination(&setting, &mut Problems::new("")).into_iter().next()
    }

    /// One combination; the settings are indices into the keys' values.
    fn combination(&mut self, setting: &[usize], problems: &mut Problems) -> Vec<Point> {
        let arguments =
            self.keys.iter().zip(setting).flat_map(|(key, index)| key.arguments(*index));
        let matches = match self.command.try_get_matches_from_mut(arguments) {
            Ok(matches) => matches,
            Err(error) => {
                let (found, expected) = conflict(&error);
                problems.add(self.at, self.path, found, expected);
                return Vec::new();
            }
        };
        match self.settled(setting, &matches) {
            Ok((points, wrong)) => {
                for problem in wrong {
                    self.told(&problem, setting, problems);
                }
                points
            }
            Err(error) => {
                let (found, expected) = conflict(&error);
                problems.add(self.at, self.path, found, expected);
                Vec::new()
            }
        }
    }

    /// As the command line does it: parameters, the common part of the job, what follows from the
    /// parameters.
    fn settled(
        &self,
        setting: &[usize],
        matches: &ArgMatches,
    ) -> Result<(Vec<Point>, Vec<Problem>), clap::Error> {
        let workload = self.workload;
        let kind = workload.kind();
        let mut params = workload.params(matches)?;
        let mut request = Request::default();
        for (key, index) in self.keys.iter().zip(setting).filter(|(key, _)| key.flag.is_none()) {
            request.set(&key.name, &key.values[*index].text);
        }
        let server = request.spec(self.vocabulary);
        if kind.is_http() {
            params["url"] = stand_in(&server.request).into();
        }
        let scheduled = if kind.is_of_exchanges() {
            Some(ScheduleArguments::from_arg_matches(matches)?)
        } else {
            None
        };
        let common = JobArguments::from_arg_matches(matches)?;
        let (job, mut problems) = common.job(workload, params, scheduled.as_ref(), self.seed);
        let mut out = Vec::new();
        for (mut point, mut job) in points(&job) {
            for (key, index) in self.keys.iter().zip(setting).filter(|(key, _)| key.varies()) {
                point.insert(key.name.replace('-', "_"), shown(key, *index, &job.params));
            }
            // Connections that make no sense are not to be derived from.
            if problems.is_empty() {
                workload.settle(&mut job);
            }
            problems.extend(job.problems().into_iter().chain(workload.problems(&job)));
            out.push(Point {
                search: None,
                peer: None,
                workload: self.name.to_owned(),
                point,
                job,
                server: server.clone(),
            });
        }
        Ok((out, problems))
    }

    /// A problem with a flag, told of the key.
    fn told(&self, problem: &Problem, setting: &[usize], problems: &mut Problems) {
        let flag = problem.at.trim_start_matches("--");
        let name = if flag == "URL" { "path" } else { flag };
        let (found, expected) =
            (quoted(&problem.found.replace("--", "")), problem.expected.replace("--", ""));
        let key = self.keys.iter().zip(setting).find(|(key, _)| key.name == name);
        match key {
            Some((key, index)) => {
                let at = key.values.get(*index).map_or(self.at, |value| value.at);
                problems.add(at, &key.key, found, expected);
            }
            None if problem.at.starts_with("--") => {
                problems.add(self.at, &format!("{}.{name}", self.path), found, expected);
            }
            None => problems.add(self.at, self.path, found, expected),
        }
    }
}

/// The value of a key as it stands in records: as in the parameters, otherwise a number if it is
/// one.
fn shown(key: &Swept, index: usize, params: &Params) -> Value {
    let text = &key.values[index].text;
    if let Some(value) = key.flag.as_ref().and_then(|flag| params.get(&flag.id)) {
        return value.clone();
    }
    let is_text = key.flag.as_ref().is_some_and(|flag| flag.sort == Sort::Text);
    match (text.parse::<u64>(), text.parse::<f64>()) {
        _ if is_text => Value::String(text.clone()),
        (Ok(whole), _) => Value::from(whole),
        (_, Ok(number)) if number.is_finite() => Value::from(number),
        _ if key.name == "response" => text
            .parse::<hopbench_model::units::Bytes>()
            .map_or_else(|_| Value::String(text.clone()), |size| Value::String(size.to_string())),
        _ => Value::String(text.clone()),
    }
}
