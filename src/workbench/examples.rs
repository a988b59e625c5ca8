//! The shipped sessions, which are part of the program: wherever it was installed, they open.

use super::Workbench;
use super::notices::Topic;
use atomscope_engine::session::Session;

/// A shipped session.
#[derive(Clone, Copy, Debug)]
pub struct Example {
    /// The name of its file without the ending.
    pub name: &'static str,
    text: &'static str,
}

macro_rules! example {
    ($name:literal) => {
        Example {
            name: $name,
            text: include_str!(concat!("../../sessions/", $name, ".ron")),
        }
    };
}

/// All of them, by name.
pub const EXAMPLES: [Example; 19] = [
    example!("bonn-epilepsy"),
    example!("drifting-feeder"),
    example!("drifting-feeder-constant"),
    example!("drifting-feeder-forgetting"),
    example!("feeder-faults"),
    example!("isolet-margin"),
    example!("isolet-paper"),
    example!("network-faults"),
    example!("schizophrenia-eeg"),
    example!("schizophrenia-eeg-as-published"),
    example!("simulated-eeg"),
    example!("ssvep-bci"),
    example!("usps-evidence"),
    example!("usps-kmod"),
    example!("usps-margin"),
    example!("usps-okdlfb"),
    example!("usps-okdlrs"),
    example!("usps-paper"),
    example!("usps-skdl"),
];

impl Workbench {
    /// Opens a shipped session; one that names data files looks for them where data were found before.
    pub(super) fn open_example(&mut self, example: Example) {
        match Session::built_in(example.text) {
            Ok(session) => self.show_session(session),
            Err(error) => self.notices.fail(Topic::Session, &error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_session_is_part_of_the_program() {
        let folder = std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/sessions"));
        let shipped = folder.read_dir().expect("sessions are shipped");
        assert_eq!(shipped.count(), EXAMPLES.len());
        for example in EXAMPLES {
            let session = Session::built_in(example.text).expect("it opens");
            assert!(!session.title.is_empty(), "{}", example.name);
            assert!(session.path().is_none(), "saving asks for a place");
        }
    }
}
