//! What is known of a fault record without a model, as files and lists tell it.

use serde::Serialize;

use crate::features::FeatureError;
use crate::features::fault::FaultRecipe;
use crate::records::Record;
use crate::simulate::feeder::FaultClass;

use super::analysis::FaultAnalysis;
use super::distance::{self, Distance, Method};
use super::impedance::Loop;
use super::line::Line;
use super::uncertainty::{Seen, add_intervals};

/// A distance as a share of the line, with the interval from simulation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DistanceEntry {
    /// Name of the method.
    pub method: &'static str,
    /// Share of the line.
    pub value: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// The closed-form part of a record's entry.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct FaultSummary {
    /// The bay that was judged.
    pub bay: Option<String>,
    /// `no fault`, `SLG`, `LL`, `LLG`, `LLL`; nothing without a verdict.
    pub type_rule: Option<&'static str>,
    /// `A` … `ABC`; nothing without a fault.
    pub phases: Option<String>,
    /// Inception after the first sample.
    pub inception_s: Option<f64>,
    /// Clearing after the first sample.
    pub clearing_s: Option<f64>,
    /// Distances, where the line is known.
    pub distance: Vec<DistanceEntry>,
    /// What was assumed, and why something is missing.
    pub warnings: Vec<String>,
}

impl FaultSummary {
    /// Of a record, whatever can be said of it.
    pub fn of(record: &Record, recipe: &FaultRecipe, line: Option<&Line>) -> Self {
        match FaultAnalysis::of(record, recipe) {
            Ok(analysis) => Self::of_analysis(&analysis, line),
            Err(error) => Self::without(&error),
        }
    }

    /// Where nothing can be said, why.
    pub fn without(error: &FeatureError) -> Self {
        Self {
            warnings: vec![error.to_string()],
            ..Self::default()
        }
    }

    /// Of an analysis.
    pub fn of_analysis(analysis: &FaultAnalysis, line: Option<&Line>) -> Self {
        let mut warnings = analysis.warnings.clone();
        let verdict = analysis.verdict;
        let faulted = verdict.filter(|verdict| verdict.class != FaultClass::NoFault);
        let distances = line
            .map(|line| analysis.distances(line))
            .unwrap_or_default();
        if let (Some(line), false) = (line, distances.is_empty()) {
            warnings.extend(line_notes(line));
        }
        let entry = |distance: &Distance| DistanceEntry {
            method: distance.method.name(),
            value: distance.value,
            low: distance.interval.map(|(low, _)| low),
            high: distance.interval.map(|(_, high)| high),
        };
        Self {
            bay: Some(analysis.bay.name.clone()),
            type_rule: verdict.map(|verdict| verdict.class.name()),
            phases: faulted.map(|verdict| verdict.phase_letters()),
            inception_s: analysis.inception_s,
            clearing_s: analysis.clearing_s,
            distance: distances.iter().map(entry).collect(),
            warnings,
        }
    }
}

fn line_notes(line: &Line) -> Option<String> {
    line.z0_ohm_per_km
        .is_none()
        .then(|| format!("line {:?} gives no z0: three times z1 was taken", line.name))
}

impl FaultAnalysis {
    /// Distances from this end with their intervals; none without a fault.
    pub fn distances(&self, line: &Line) -> Vec<Distance> {
        let (Some(verdict), Some(inception_s)) = (self.verdict, self.inception_s) else {
            return Vec::new();
        };
        let mut found = distance::of_record(
            &self.signals,
            (inception_s, self.clearing_s),
            self.frequency_hz,
            &verdict,
            line,
        );
        if let Some(seen) = self.seen(line) {
            add_intervals(&mut found, &seen, line);
        }
        found
    }

    /// Type and loop impedance, as far as there is a fault.
    pub fn seen(&self, line: &Line) -> Option<Seen> {
        let verdict = self.verdict?;
        let of = Loop::of(&verdict)?;
        let ends = distance::ends_after(
            &self.signals,
            (self.inception_s?, self.clearing_s),
            self.frequency_hz,
        );
        let end = ends.get(ends.len() / 2)?;
        let loop_z = of.impedance(end.voltages, end.currents, line.k0())?;
        Some(Seen { verdict, loop_z })
    }

    /// Distance from this end with the record of the other end, which shows the fault from `far_inception_s` on.
    pub fn two_ended_at(
        &self,
        (far, far_inception_s): (&Self, f64),
        line: &Line,
        is_synchronised: bool,
    ) -> Option<Distance> {
        let verdict = self.verdict?;
        let near_ends = distance::ends_after(
            &self.signals,
            (self.inception_s?, self.clearing_s),
            self.frequency_hz,
        );
        let far_ends = distance::ends_after(
            &far.signals,
            (far_inception_s, far.clearing_s),
            far.frequency_hz,
        );
        let (z1, k0) = (line.z1(), line.k0());
        let shares = near_ends.iter().zip(&far_ends);
        let shares = shares.filter_map(|(near, far)| match is_synchronised {
            true => distance::synchronised(near, far, &verdict, z1, k0),
            false => distance::unsynchronised(near, far, &verdict, z1),
        });
        let method = match is_synchronised {
            true => Method::Synchronised,
            false => Method::Unsynchronised,
        };
        let mut found = [Distance {
            method,
            value: distance::median(shares.collect())?,
            interval: None,
        }];
        add_intervals(&mut found, &self.seen(line)?, line);
        let [found] = found;
        Some(found)
    }
}
