//! The file of measurements, one section for each: those that were measured now replace the old ones.

use std::fs;
use std::path::PathBuf;

/// One measurement that is written down.
pub(crate) struct Section {
    /// What `cargo bench -- results NAME` calls it.
    pub(crate) name: &'static str,
    /// The heading of the section, which also finds it in the file.
    pub(crate) title: &'static str,
    /// What is measured and in which unit.
    pub(crate) text: &'static str,
    /// Measures; nothing where the data are not there.
    pub(crate) measure: fn() -> Option<String>,
}

impl Section {
    /// The section as Markdown, with the machine it was measured on.
    pub(crate) fn markdown(&self) -> Option<String> {
        let table = (self.measure)()?;
        Some(format!(
            "## {}\n\n{} (`cargo bench -- results {}`; {})\n\n{table}\n",
            self.title,
            self.text,
            self.name,
            machine()
        ))
    }
}

/// Measures the sections and puts each into `RESULTS.md`, in place of what stood there or at the end.
pub(crate) fn write(sections: &[&Section]) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bench/RESULTS.md");
    for section in sections {
        let Some(new) = section.markdown() else {
            println!("{}: needs ATOMSCOPE_DATA, kept as it was", section.name);
            continue;
        };
        let old = fs::read_to_string(&path).expect("RESULTS.md is readable");
        fs::write(&path, replaced(&old, section.title, &new)).expect("RESULTS.md can be written");
        println!("{new}");
    }
}

fn replaced(old: &str, title: &str, new: &str) -> String {
    let heading = format!("## {title}\n");
    let Some(begin) = old.find(&heading) else {
        return format!("{}\n\n{new}", old.trim_end());
    };
    let after = begin + heading.len();
    let end = old[after..].find("\n## ").map(|at| after + at + 1);
    format!(
        "{}{new}{}",
        &old[..begin],
        end.map_or("", |end| &old[end..])
    )
}

/// Processor, number of cores and version of the program.
fn machine() -> String {
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1));
    let n_cores = std::thread::available_parallelism().map_or(1, usize::from);
    format!(
        "{} cores of {}, version {}",
        n_cores,
        model.unwrap_or("an unknown processor"),
        env!("CARGO_PKG_VERSION")
    )
}
