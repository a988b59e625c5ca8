//! In the steady state a mini-batch allocates nothing, and neither does classifying a sample.
//! The test runs in a process of its own, because it counts what the whole process allocates.

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};

use atomscope_engine::evaluation::Classifier;
use atomscope_engine::learner::{
    Kernel, LearnerSettings, Progress, SampleStream, StepReport, Supply, start_learner,
};
use atomscope_engine::math::Matrix;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

struct Counting;

#[expect(
    unsafe_code,
    reason = "an allocator that counts cannot be written otherwise"
)]
// SAFETY: every call is passed on unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations() -> usize {
    ALLOCATIONS.load(Ordering::Relaxed)
}

/// Three classes of noisy sines.
fn samples() -> Matrix {
    Matrix::from_fn(32, 900, |i, j| {
        let (class, t) = (j % 3, i as f64 / 32.0);
        let noise = ((i * 7919 + j * 104_729) % 1000) as f64 / 1000.0;
        ((class + 1) as f64 * (t + 0.01 * j as f64)).sin() + 0.6 * noise
    })
}

/// Set in the process that counts.
const ALONE: &str = "ATOMSCOPE_TEST_ALLOCATIONS";

#[test]
fn a_settled_learner_allocates_nothing() {
    if std::env::var_os(ALONE).is_some() {
        count_allocations();
        return;
    }
    let test = "allocation::a_settled_learner_allocates_nothing";
    let output = Command::new(std::env::current_exe().expect("this test"))
        .args([test, "--exact", "--nocapture", "--test-threads=1"])
        .env(ALONE, "1")
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(text.contains("1 passed"), "{text}");
}

fn count_allocations() {
    let samples = samples();
    for settings in [
        LearnerSettings::as_published(),
        LearnerSettings::paper_text(),
        LearnerSettings::evidence_preserving(),
        LearnerSettings::margin_aware(),
    ] {
        for kernel in [
            settings.kernel,
            Kernel::Gaussian { width: 2.0 },
            Kernel::Laplacian { width: 9.0 },
        ] {
            let settings = LearnerSettings {
                kernel,
                budget: 80,
                ..settings.clone()
            };
            let orders = (0..3).map(|c| (c..900).step_by(3).collect()).collect();
            let mut stream = SampleStream::new(samples.view(), orders, Supply::Repeat);
            let (mut learner, _) = start_learner(&settings, &mut stream, 1).expect("sound");
            let mut report = StepReport::default();
            let n_rounds = 700;
            for round in 0..n_rounds {
                let before = allocations();
                learner
                    .step(Progress { round, n_rounds }, &mut stream, &mut report)
                    .expect("sound samples");
                let used = allocations() - before;
                let repaired = report.classes.iter().any(|c| !c.health.repairs.is_empty());
                assert!(
                    used == 0 || round < 300 || repaired,
                    "{:?} with {kernel:?}: {used} allocations in round {round}",
                    settings.algorithm
                );
            }
            let classifier = Classifier::of(learner.as_ref());
            let all: Vec<usize> = (0..900).collect();
            let mut work = classifier.work();
            let mut verdicts = Vec::with_capacity(2 * all.len());
            for pass in 0..2 {
                let before = allocations();
                classifier
                    .classify(samples.view(), &all, &mut work, &mut verdicts)
                    .expect("sound samples");
                assert!(
                    pass == 0 || allocations() == before,
                    "classifying allocates"
                );
            }
        }
    }
}
