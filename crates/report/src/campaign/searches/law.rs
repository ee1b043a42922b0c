//! The Universal Scalability Law through the trials of a knee, with its parameters in words.

use hopbench_stats::{Interval, Usl, UslFit, usl};
use serde::Serialize;

use super::trials::Trial;
use super::words::load;
use crate::campaign::ends;
use crate::number::{by_name, counted, percentage, plain};

/// Loads whose medians lie further from the law than this share, and further than [`NOISY`] times what their trials' scatter
/// makes of them, are those of another law.
const FAR: f64 = 0.03;
/// See [`FAR`]: by chance one law in a hundred of those that hold.
const NOISY: f64 = 2.6;
/// Where trials of one load scatter by more than this share, nothing is said of whether they follow the law.
const SCATTERED: f64 = 0.20;

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
    /// How far a trial typically lies from the law, as a share; absent where there are too few for a law, as are all values
    /// of its parameters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_share: Option<f64>,
    /// How far the medians of loads lie from the law, as a share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off_share: Option<f64>,
    /// How far trials of one load typically lie from their median, as a share; absent with one trial a load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scatter_share: Option<f64>,
    /// Whether the medians of loads lie about as near to the law as their scatter allows; false, too, where trials scatter too
    /// much to say.
    pub fits: bool,
    /// Trials without throughput: they are not in the law.
    #[serde(skip_serializing_if = "is_none_of_them")]
    pub without_throughput: usize,
    /// The lowest load that was measured.
    pub measured_from: f64,
    /// The highest: beyond it the law is extrapolated.
    pub measured_to: f64,
    /// In words.
    pub text: String,
}

fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// The law through what trials within bounds reached; `None` with too few of them, or too few different loads, unless it is
/// only for trials without throughput that they are too few.
pub(super) fn of(trials: &[Trial<'_>], parameter: &str, seed: u64) -> Option<LawSummary> {
    let within = trials.iter().filter(|trial| trial.is_usable() && trial.step.within);
    let all: Vec<(f64, f64)> = within.filter_map(|trial| Some((trial.step.load, trial.step.value?))).collect();
    let points: Vec<(f64, f64)> = all.iter().copied().filter(|(_, value)| *value > 0.0).collect();
    let without_throughput = all.len() - points.len();
    let loads = || all.iter().map(|(load, _)| *load);
    let (measured_from, highest) = (loads().fold(f64::INFINITY, f64::min), loads().fold(0.0, f64::max));
    let Some(fit) = usl(&points, seed) else {
        // With any throughput there would have been one.
        let with_any: Vec<(f64, f64)> = all.iter().map(|(load, value)| (*load, value.max(1.0))).collect();
        usl(&with_any, seed).filter(|_| without_throughput > 0)?;
        return Some(LawSummary::nothing(without_throughput, measured_from, highest));
    };
    let (off, scatter) = (fit.off_share, fit.scatter_share);
    let tells = scatter.is_none_or(|scatter| scatter <= SCATTERED);
    let fits = tells && (off <= FAR || fit.off_by_chance_share.is_some_and(|chance| off <= NOISY * chance));
    let figure = trials.first().map_or("", |trial| trial.step.figure.as_str());
    let mut text = text(&fit, figure, parameter, tells, fits);
    if without_throughput > 0 {
        text.push_str(&format!("; without {}", stalled(without_throughput)));
    }
    Some(LawSummary {
        lambda: known(fit.law.lambda, fit.lambda),
        sigma: known(fit.law.sigma, fit.sigma),
        kappa: known(fit.law.kappa, fit.kappa),
        peak: known(fit.law.peak(), fit.peak),
        residual_share: Some(fit.residual_share),
        off_share: Some(off),
        scatter_share: scatter,
        fits,
        without_throughput,
        measured_from: points.iter().map(|(load, _)| *load).fold(f64::INFINITY, f64::min),
        measured_to: fit.measured_to,
        text,
    })
}

/// `2 trials that had no throughput`.
fn stalled(trials: usize) -> String {
    format!("{} that had no throughput", counted(trials as u64, "trial", "trials"))
}

fn known(value: f64, Interval { low, high }: Interval) -> Known {
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    Known { value: finite(value), low: finite(low), high: finite(high) }
}

fn text(fit: &UslFit, figure: &str, parameter: &str, tells: bool, fits: bool) -> String {
    let scatter = fit.scatter_share.map(percentage);
    let told =
        scatter.as_ref().map_or(String::new(), |scatter| format!(", where trials of one load scatter by {scatter} %"));
    let off = format!("medians of loads lie {} % off it{told}", percentage(fit.off_share));
    if !tells {
        let scatter = scatter.unwrap_or_default();
        return format!(
            "the trials scatter too much to say whether the Universal Scalability Law fits: those of one load by {scatter} %"
        );
    }
    if !fits {
        return format!("the Universal Scalability Law does not fit: {off}; a hard limit is no such law");
    }
    let unit = super::words::unit_name(figure);
    let shares = |value: f64, Interval { low, high }: Interval| {
        let digits = |value: f64| plain(value * 100.0);
        format!("{} % [{}]", digits(value), ends::of(value, low, high, digits).join(", "))
    };
    let peak = fit.law.peak();
    let around = |high: String| format!("[{:.0}, {high}]", fit.peak.low);
    let highest = if peak.is_finite() {
        let high = if fit.peak.high.is_finite() { format!("{:.0}", fit.peak.high) } else { "no end seen".to_owned() };
        let far = if peak > fit.measured_to { ", beyond what was measured" } else { "" };
        format!("highest at {} {}{far}", load(parameter, peak.round()), around(high))
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
    /// No law, because trials had no throughput.
    fn nothing(without_throughput: usize, measured_from: f64, measured_to: f64) -> Self {
        let unknown = Known { value: None, low: None, high: None };
        Self {
            lambda: unknown,
            sigma: unknown,
            kappa: unknown,
            peak: unknown,
            residual_share: None,
            off_share: None,
            scatter_share: None,
            fits: false,
            without_throughput,
            measured_from,
            measured_to,
            text: format!(
                "no Universal Scalability Law: without {} there are too few loads or trials",
                stalled(without_throughput)
            ),
        }
    }

    /// What the law says of a load; `None` where a parameter is not finite.
    pub(crate) fn at(&self, load: f64) -> Option<f64> {
        let law = Usl { lambda: self.lambda.value?, sigma: self.sigma.value?, kappa: self.kappa.value? };
        Some(law.at(load)).filter(|value| value.is_finite())
    }
}
