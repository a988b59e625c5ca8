//! What happened to a sample in training, in words: why it was kept, why not, why it left.

use crate::ui::numbers::{percent, short};
use atomscope_engine::experiment::ProfileEvent;
use atomscope_engine::learner::{Admission, Rejection, Removal};

/// An event with its reason.
pub(super) fn event_text(event: ProfileEvent) -> String {
    match event {
        ProfileEvent::Start => "a start sample of the dictionary".into(),
        ProfileEvent::Admitted(how) => format!("admitted{}", admission_text(how)),
        ProfileEvent::Rejected(reason) => format!("not kept: {}", rejection_text(reason)),
        ProfileEvent::Removed(reason) => format!("removed: {}", removal_text(reason)),
    }
}

fn admission_text(how: Admission) -> String {
    match how {
        Admission::Unmeasured => String::new(),
        Admission::Coherent(value) => {
            format!(
                ": no kept sample is like it, largest coherence {}",
                short(value)
            )
        }
        Admission::Represented(share) => {
            format!(
                ": the dictionary represented only {} of it",
                percent(share.max(0.0))
            )
        }
        Admission::Projected(share) => {
            format!(": the kept samples spanned only {} of it", percent(share))
        }
        Admission::Outside(share) => {
            format!(
                ": {} % of it was new to the kept samples",
                short(100.0 * share)
            )
        }
    }
}

fn rejection_text(reason: Rejection) -> String {
    match reason {
        Rejection::Coherent(value) => {
            format!(
                "a kept sample is too much like it, coherence {}",
                short(value)
            )
        }
        Rejection::Represented(share) => {
            format!("the dictionary represents {} of it already", percent(share))
        }
        Rejection::Projected(share) => {
            format!("the kept samples span {} of it already", percent(share))
        }
        Rejection::InSpan(share) => format!(
            "only {} % of it is new to the kept samples; it was still learned from",
            short(100.0 * share)
        ),
        Rejection::DependentCode => {
            "its code is linearly dependent on others of the mini-batch".into()
        }
        Rejection::NoCode => "no code could be found for it".into(),
        Rejection::Zero => "all its values are zero".into(),
    }
}

fn removal_text(reason: Removal) -> String {
    match reason {
        Removal::Oldest => "the oldest".into(),
        Removal::LeastContribution(value) => format!("least contribution {}", short(value)),
        Removal::LeastLoss(value) => format!("least loss {}", short(value)),
        Removal::Smallest(value) => format!("smallest part {}", short(value)),
        Removal::Forced => "to stay within the budget".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_share_that_was_enough_is_not_told_as_none() {
        let text = event_text(ProfileEvent::Admitted(Admission::Outside(1.3e-4)));
        assert!(text.contains("0.013 %"), "{text}");
    }

    #[test]
    fn every_event_says_why() {
        let text = event_text(ProfileEvent::Rejected(Rejection::Represented(0.983)));
        assert_eq!(
            text,
            "not kept: the dictionary represents 98.3 % of it already"
        );
        let text = event_text(ProfileEvent::Removed(Removal::LeastLoss(0.0123)));
        assert_eq!(text, "removed: least loss 0.012");
        let text = event_text(ProfileEvent::Admitted(Admission::Outside(0.123)));
        assert_eq!(text, "admitted: 12.3 % of it was new to the kept samples");
        let text = event_text(ProfileEvent::Admitted(Admission::Unmeasured));
        assert_eq!(text, "admitted");
    }
}
