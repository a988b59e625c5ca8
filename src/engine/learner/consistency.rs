//! Whether a saved state fits together and fits the settings: it may come from a damaged file.

use crate::math::Matrix;

use super::algorithm::Algorithm;
use super::dictionary::Dictionary;
use super::error::LearnError;
use super::evidence::EvidenceProfile;
use super::gradient::GradientProfile;
use super::krls::KrlsProfile;
use super::settings::LearnerSettings;
use super::sparse_coding::SparseCodes;
use super::{BaselineState, Decision, LearnerState, OnlineLogit};

/// Refuses a state whose parts do not belong together, naming the part.
pub(super) fn check_state(
    settings: &LearnerSettings,
    state: &LearnerState,
) -> Result<(), LearnError> {
    match state {
        LearnerState::Krls { profiles, decision } => profiles
            .iter()
            .try_for_each(|profile| check_krls(settings, profile))
            .and_then(|()| check_decision(decision, profiles.len())),
        LearnerState::Evidence { profiles, decision } => profiles
            .iter()
            .try_for_each(|profile| check_evidence(settings, profile))
            .and_then(|()| check_decision(decision, profiles.len())),
        LearnerState::Margin(state) => state
            .profiles
            .iter()
            .try_for_each(|profile| check_evidence(settings, profile))
            .and_then(|()| check_logit(&state.logit, state.profiles.len())),
        LearnerState::Batch { profiles, decision } => profiles
            .iter()
            .try_for_each(|profile| check_dictionary(settings, &profile.dictionary).map(|_| ()))
            .and_then(|()| check_decision(decision, profiles.len())),
        LearnerState::Gradient { profiles, decision } => profiles
            .iter()
            .try_for_each(|profile| check_gradient(settings, profile))
            .and_then(|()| check_decision(decision, profiles.len())),
        LearnerState::Baseline(state) => check_baseline(settings, state),
    }
}

fn bad<T>(reason: impl Into<String>) -> Result<T, LearnError> {
    Err(LearnError::BadState(reason.into()))
}

fn check_krls(settings: &LearnerSettings, profile: &KrlsProfile) -> Result<(), LearnError> {
    let n_kept = check_dictionary(settings, &profile.dictionary)?;
    let n_atoms = settings.n_atoms;
    matrix("kept_gram", &profile.kept_gram, n_kept, n_kept)?;
    matrix("code_precision", &profile.code_precision, n_atoms, n_atoms)?;
    matrix("code_gram", &profile.code_gram, n_atoms, n_atoms)?;
    if !profile.code_sizes.is_empty() {
        numbers("code_sizes", &profile.code_sizes, n_atoms)?;
    }
    numbers("sample_weights", &profile.sample_weights, n_kept)?;
    numbers("ridge", &profile.ridge, n_atoms)?;
    length("entered", profile.entered.len(), n_kept)?;
    check_codes(settings, &profile.codes, n_kept)
}

fn check_evidence(settings: &LearnerSettings, profile: &EvidenceProfile) -> Result<(), LearnError> {
    let n_kept = check_dictionary(settings, &profile.dictionary)?;
    let n_atoms = settings.n_atoms;
    if profile.dictionary.span.is_none() {
        return bad("span is missing");
    }
    matrix("evidence", &profile.evidence, n_atoms, n_atoms)?;
    numbers("errors", &profile.errors, n_kept)?;
    length("entered", profile.entered.len(), n_kept)?;
    match &profile.codes {
        Some(codes) => check_codes(settings, codes, n_kept),
        None if settings.algorithm.needs_kept_codes() => {
            bad("the codes that the pruning of the settings needs are missing")
        }
        None => Ok(()),
    }
}

fn check_gradient(settings: &LearnerSettings, profile: &GradientProfile) -> Result<(), LearnError> {
    let n_kept = check_dictionary(settings, &profile.dictionary)?;
    matrix("kept_gram", &profile.kept_gram, n_kept, n_kept)?;
    matrix("codes", &profile.codes, settings.n_atoms, n_kept)
}

fn check_baseline(settings: &LearnerSettings, state: &BaselineState) -> Result<(), LearnError> {
    let n_classes = state.dictionaries.len();
    let n_atoms = match settings.algorithm {
        Algorithm::NearestMean => 1,
        _ => n_classes,
    };
    for dictionary in &state.dictionaries {
        check_dictionary_of(settings, n_atoms, dictionary)?;
    }
    match (&settings.algorithm, &state.decision) {
        (Algorithm::NearestMean, Decision::NearestMean)
        | (Algorithm::KernelRidge { .. }, Decision::LargestSum) => Ok(()),
        (Algorithm::Svm { .. }, Decision::Duels { bias }) => {
            matrix("bias", bias, n_classes, n_classes)
        }
        _ => bad("decision belongs to another algorithm"),
    }
}

/// Returns the number of kept samples.
fn check_dictionary(
    settings: &LearnerSettings,
    dictionary: &Dictionary,
) -> Result<usize, LearnError> {
    check_dictionary_of(settings, settings.n_atoms, dictionary)
}

/// The same for another number of atoms.
fn check_dictionary_of(
    settings: &LearnerSettings,
    n_atoms: usize,
    dictionary: &Dictionary,
) -> Result<usize, LearnError> {
    if dictionary.kernel != settings.kernel {
        return bad(format!(
            "it was learned with {:?}, but the settings name {:?}",
            dictionary.kernel, settings.kernel
        ));
    }
    let n_kept = dictionary.kept.len();
    if n_kept == 0 || dictionary.kept.n_features() == 0 {
        return bad("kept is empty");
    }
    if !dictionary.kept.is_consistent() {
        return bad(
            "the parts of kept have different lengths, or contain values that are not finite",
        );
    }
    matrix("coefficients", &dictionary.coefficients, n_atoms, n_kept)?;
    matrix("atom_gram", &dictionary.atom_gram, n_atoms, n_atoms)?;
    if let Some(span) = &dictionary.span {
        matrix("span", span.inverse(), n_kept, n_kept)?;
    }
    Ok(n_kept)
}

fn check_codes(
    settings: &LearnerSettings,
    codes: &SparseCodes,
    n_kept: usize,
) -> Result<(), LearnError> {
    if codes.fits(settings.sparsity, settings.n_atoms, n_kept) {
        Ok(())
    } else {
        bad(format!(
            "codes must be {n_kept} of {} pairs over {} atoms",
            settings.sparsity, settings.n_atoms
        ))
    }
}

fn check_decision(decision: &Decision, n_classes: usize) -> Result<(), LearnError> {
    match decision {
        Decision::SmallestResidual => Ok(()),
        Decision::CalibratedResidual { usual, .. } => numbers("usual", usual, n_classes),
        Decision::OnlineLogit(logit) => check_logit(logit, n_classes),
        Decision::NearestMean | Decision::LargestSum | Decision::Duels { .. } => {
            bad("decision belongs to another algorithm")
        }
    }
}

fn check_logit(logit: &OnlineLogit, n_classes: usize) -> Result<(), LearnError> {
    numbers("theta", &logit.theta, 2)?;
    numbers("bias", &logit.bias, n_classes)?;
    matrix("curvature", &logit.curvature, 2 + n_classes, 2 + n_classes)
}

fn matrix(name: &str, found: &Matrix, rows: usize, cols: usize) -> Result<(), LearnError> {
    if (found.rows(), found.cols()) != (rows, cols) {
        return bad(format!(
            "{name} must be {rows} × {cols}, but is {} × {}",
            found.rows(),
            found.cols()
        ));
    }
    if found.is_finite() {
        Ok(())
    } else {
        bad(format!("{name} contains values that are not finite"))
    }
}

fn numbers(name: &str, found: &[f64], expected: usize) -> Result<(), LearnError> {
    length(name, found.len(), expected)?;
    if found.iter().all(|value| value.is_finite()) {
        Ok(())
    } else {
        bad(format!("{name} contains values that are not finite"))
    }
}

fn length(name: &str, found: usize, expected: usize) -> Result<(), LearnError> {
    if found == expected {
        Ok(())
    } else {
        bad(format!(
            "{name} must have {expected} entries, but has {found}"
        ))
    }
}
