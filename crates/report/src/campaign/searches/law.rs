//! The Universal Scalability Law through the trials of a knee, with its parameters in words.

use hopbench_stats::{Interval, Usl, UslFit, usl};
use serde::Serialize;

use super::trials::Trial;
use super::words::load;
use crate::number::{by_name, percentage, plain};

/// Trials further from the law than this share, and further than [`NOISY`] times what trials of one level scatter, are
/// those of another law.
const FAR: f64 = 0.03;
/// See [`FAR`].
const NOISY: f64 = 2.0;

/// A value with its 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Known {
    /// The value; absent where it is infinite: throughput that never falls has no peak.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Lower end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end; absent where it is infinite.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
}

/// The law through the trials of a path.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LawSummary {
    /// Throughput at a load of 1, in the figure's unit.
    pub lambda: Known,
    /// The share that is done one after the other: contention.
    pub sigma: Known,
    /// What each pair costs to agree: coherence.
    pub kappa: Known,
    /// The load with the highest throughput.
    pub peak: Known,
    /// How far a trial typically lies from the law, as a share.
    pub residual_share: f64,
    /// How far trials of one load typically lie from their mean, as a share; absent with one trial a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter_share: Option<f64>,
    /// Whether trials lie about as near to the law as they scatter.
    pub fits: bool,
    /// The lowest load that was measured.
    pub measured_from: f64,
    /// The highest: beyond it the law is extrapolated.
    pub measured_to: f64,
    /// In words.
    pub text: String,
}

/// The law through what trials within bounds reached; `None` with too few of them, or too few different loads.
pub(super) fn of(trials: &[Trial<'_>], parameter: &str, seed: u64) -> Option<LawSummary> {
    let within = trials.iter().filter(|trial| trial.is_usable() && trial.step.within);
    let points: Vec<(f64, f64)> = within.filter_map(|trial| Some((trial.step.load, trial.step.value?))).collect();
    let fit = usl(&points, seed)?;
    let scatter = scatter(&points);
    let off = fit.residual_share;
    let fits = off <= FAR || scatter.is_some_and(|scatter| off <= NOISY * scatter);
    let figure = trials.first().map_or("", |trial| trial.step.figure.as_str());
    Some(LawSummary {
        lambda: known(fit.law.lambda, fit.lambda),
        sigma: known(fit.law.sigma, fit.sigma),
        kappa: known(fit.law.kappa, fit.kappa),
        peak: known(fit.law.peak(), fit.peak),
        residual_share: off,
        scatter_share: scatter,
        fits,
        measured_from: points.iter().map(|(load, _)| *load).fold(f64::INFINITY, f64::min),
        measured_to: fit.measured_to,
        text: text(&fit, figure, parameter, scatter, fits),
    })
}

/// How far trials of one load lie from their mean, over all loads: the deviation of the logarithms.
fn scatter(points: &[(f64, f64)]) -> Option<f64> {
    let mut loads: Vec<f64> = points.iter().map(|(load, _)| *load).collect();
    loads.sort_unstable_by(f64::total_cmp);
    loads.dedup();
    let degrees = points.len() - loads.len();
    let squares = loads.iter().map(|load| {
        let logs: Vec<f64> = points.iter().filter(|(at, _)| at == load).map(|(_, value)| value.ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>()
    });
    (degrees > 0).then(|| (squares.sum::<f64>() / degrees as f64).sqrt())
}

fn known(value: f64, Interval { low, high }: Interval) -> Known {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    Known { value: finite(value), low: finite(low), high: finite(high) }
}

fn text(fit: &UslFit, figure: &str, parameter: &str, scatter: Option<f64>, fits: bool) -> String {
    let scatter = scatter
        .map_or(String::new(), |scatter| format!(", where those of one load scatter by {} %", percentage(scatter)));
    let off = format!("trials lie {} % off it{scatter}", percentage(fit.residual_share));
    if !fits {
        return format!("the Universal Scalability Law does not fit: {off}; a hard limit is no such law");
    }
    let unit = super::words::unit_name(figure);
    let shares = |value: f64, Interval { low, high }: Interval| {
        let digits = |value: f64| plain(value * 100.0);
        format!("{} % [{}, {}]", digits(value), digits(low), digits(high))
    };
    let peak = fit.law.peak();
    let ends = |high: String| format!("[{:.0}, {high}]", fit.peak.low);
    let highest = if peak.is_finite() {
        let high = if fit.peak.high.is_finite() { format!("{:.0}", fit.peak.high) } else { "no end seen".to_owned() };
        let far = if peak > fit.measured_to { ", beyond what was measured" } else { "" };
        format!("highest at {} {}{far}", load(parameter, peak.round()), ends(high))
    } else {
        "no fall in sight".to_owned()
    };
    format!(
        "Universal Scalability Law: {} at {}, contention {}, coherence {} a pair, {highest}; {off}",
        by_name(unit, fit.law.lambda),
        load(parameter, 1.0),
        shares(fit.law.sigma, fit.sigma),
        shares(fit.law.kappa, fit.kappa),
    )
}

impl LawSummary {
    /// What the law says of a load; `None` where a parameter is not finite.
    pub(crate) fn at(&self, load: f64) -> Option<f64> {
        let law = Usl { lambda: self.lambda.value?, sigma: self.sigma.value?, kappa: self.kappa.value? };
        Some(law.at(load)).filter(|value| value.is_finite())
    }
}
