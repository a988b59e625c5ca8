//! The settings of a learner: what each is called, what it does and which values it takes.

use crate::settings::{Setting, SettingGroup};

/// Q.
pub const N_ATOMS: Setting = Setting::number(
    "n_atoms",
    "Atoms per class",
    "More atoms describe a class more finely and cost more time",
    (1.0, 1e5),
    (1.0, 100.0),
    30.0,
)
.whole()
.symbol("Q");

/// s.
pub const SPARSITY: Setting = Setting::number(
    "sparsity",
    "Atoms per code",
    "How many atoms may describe one sample; at most Q",
    (1.0, 1e5),
    (1.0, 30.0),
    5.0,
)
.whole()
.symbol("s");

/// How codes are found.
pub const PURSUIT: Setting = Setting::choice(
    "pursuit",
    "Pursuit",
    "How the sparse code of a sample is found. Default: order-recursive.",
    &["Ormp", "Omp"],
);

/// Where codes stop.
pub const ERROR_LIMIT: Setting = Setting::number(
    "error_limit",
    "Error limit",
    "Coding stops when this share of the sample is left",
    (0.0, 1.0),
    (1e-12, 1e-1),
    1e-6,
)
.logarithmic();

/// M.
pub const BATCH_SIZE: Setting = Setting::number(
    "batch_size",
    "Mini-batch",
    "Samples of a class learned together",
    (1.0, 1e6),
    (1.0, 100.0),
    10.0,
)
.whole()
.symbol("M");

/// L_max.
pub const BUDGET: Setting = Setting::number(
    "budget",
    "Budget",
    "Most samples a class keeps; at least Q; time grows with its square",
    (1.0, 1e7),
    (20.0, 1000.0),
    200.0,
)
.whole()
.logarithmic()
.symbol("L_max");

/// Which samples a dictionary starts from.
pub const START: Setting = Setting::choice(
    "start",
    "Start",
    "Which samples a dictionary starts from. Default: far from each other.",
    &["Random", "FarthestFirst", "Given"],
);

/// Samples that the start is chosen from.
pub const POOL: Setting = Setting::number(
    "start.pool",
    "Pool",
    "Samples among which the first atoms are chosen",
    (1.0, f64::INFINITY),
    (1.0, 500.0),
    100.0,
)
.whole();

/// The kernel.
pub const KERNEL: Setting = Setting::choice(
    "kernel",
    "Kernel",
    "How samples are compared. Default: normalised polynomial.",
    &[
        "Linear",
        "Polynomial",
        "NormalisedPolynomial",
        "Gaussian",
        "Laplacian",
    ],
);

/// The power of a polynomial kernel.
pub const DEGREE: Setting = Setting::number(
    "kernel.degree",
    "Degree",
    "The power of the polynomial",
    (1.0, 20.0),
    (1.0, 6.0),
    2.0,
)
.whole();

/// The constant of a polynomial kernel.
pub const OFFSET: Setting = Setting::number(
    "kernel.offset",
    "Offset",
    "Added to the inner product",
    (0.0, f64::INFINITY),
    (0.0, 10.0),
    1.0,
);

/// σ of the Gaussian and the Laplacian kernel.
pub const WIDTH: Setting = Setting::number(
    "kernel.width",
    "Width",
    "The distance over which samples resemble each other; more than 0. A number, or OfMedian(m): m times the median distance of training samples",
    (0.0, f64::INFINITY),
    (1e-3, 1e3),
    1.0,
)
.logarithmic()
.symbol("σ");

/// How λ goes to 1.
pub const FORGETTING_SHAPE: Setting = Setting::choice(
    "forgetting.shape",
    "Shape of λ",
    "How λ rises from its start value to 1. Default: linear.",
    &[
        "Constant",
        "Step",
        "Linear",
        "Quadratic",
        "Cubic",
        "Exponential",
    ],
);

/// λ₀.
pub const START_VALUE: Setting = Setting::number(
    "forgetting.start_value",
    "Start value",
    "Weight of the past during the first mini-batches; more than 0",
    (0.0, 1.0),
    (0.8, 1.0),
    0.95,
)
.symbol("λ₀");

/// How long λ takes to be 1.
pub const RAMP_SHARE: Setting = Setting::number(
    "forgetting.ramp_share",
    "Ramp",
    "Share of the mini-batches until λ is 1",
    (0.0, 1.0),
    (0.0, 1.0),
    0.8,
);

/// γ.
pub const REGULARISATION: Setting = Setting::number(
    "regularisation",
    "Regularisation",
    "Keeps weakly determined atoms from growing without bound",
    (0.0, 1e6),
    (0.0, 1.0),
    0.0,
)
.symbol("γ");

/// When atoms are scaled.
pub const NORMALISATION: Setting = Setting::choice(
    "normalisation",
    "Scaling of atoms",
    "When atoms are scaled to length 1; decisions do not change. Default: when out of range.",
    &["Never", "WhenPruned", "EveryBatches", "WhenOutOfRange"],
);

/// β.
pub const CALIBRATION: Setting = Setting::number(
    "calibration",
    "Calibration",
    "Divides residuals by the usual residual of the class; 0 turns it off",
    (0.0, 2.0),
    (0.0, 2.0),
    0.0,
)
.symbol("β");

/// The head.
pub const HEAD: Setting = Setting::choice(
    "head",
    "Head",
    "Which score decides: the decision layer S, joint readouts J or E added to it, the layer as it begins with E where samples are few, E alone with a weak or a strong ridge, or the nearest mean N. Default: S4E for new experiments; where a file names none, what the algorithm says.",
    &[
        "SecondLook",
        "S",
        "S4J",
        "S4E",
        "FewSamples",
        "E",
        "E1",
        "N",
    ],
);

/// The gate.
pub const GATE: Setting = Setting::switch(
    "gate",
    "Gate",
    "Offsets of the decision count less for samples that fit no dictionary: keeps decisions when features are missing. Default: on for new experiments.",
);

/// The algorithm.
pub const ALGORITHM: Setting = Setting::choice(
    "algorithm",
    "Algorithm",
    "How the dictionaries are learned",
    &[
        "Krls",
        "Evidence",
        "Margin",
        "Kmod",
        "Ksvd",
        "Skdl",
        "Okdlrs",
        "Okdlfb",
        "NearestMean",
        "KernelRidge",
        "Svm",
    ],
);

/// The threshold of KRLS.
pub const GROWING_THRESHOLD: Setting = Setting::number(
    "algorithm.growing.threshold",
    "Growing threshold",
    "A sample is kept if its measure stays below",
    (0.0, 1.0),
    (0.0, 1.0),
    0.95,
);

/// How far below the budget pruning goes.
pub const HEADROOM: Setting = Setting::number(
    "algorithm.headroom",
    "Headroom",
    "How many samples below the budget pruning goes; at most the budget less Q",
    (0.0, 1e7),
    (0.0, 50.0),
    10.0,
)
.whole();

/// ν.
pub const NOVELTY: Setting = Setting::number(
    "algorithm.novelty",
    "Novelty",
    "A sample is kept if more than this share of it is new",
    (1e-12, 1.0),
    (1e-6, 0.5),
    1e-3,
)
.logarithmic()
.symbol("ν");

/// κ.
pub const MEMORY_OF_ERRORS: Setting = Setting::number(
    "algorithm.memory_of_errors",
    "Memory of errors",
    "How strongly hard samples are preferred to be kept; 0 turns it off",
    (0.0, 1e9),
    (0.0, 1000.0),
    300.0,
)
.symbol("κ");

/// Whether the online decision layer decides.
pub const DECISION_LAYER: Setting = Setting::switch(
    "algorithm.decision_layer",
    "Online decision layer",
    "Learns to decide between the classes; otherwise the smallest residual decides",
);

/// Whether hard samples weigh more.
pub const ERROR_WEIGHTS: Setting = Setting::switch(
    "algorithm.error_weights",
    "Error weights",
    "Samples that are hard to classify weigh more in the dictionary",
);

/// Whether doubtful samples are looked at again.
pub const SECOND_LOOK: Setting = Setting::switch(
    "algorithm.second_look",
    "Second look",
    "Doubtful samples are compared once more with the two best classes",
);

const RIDGE: Setting = Setting::number(
    "algorithm.ridge",
    "Ridge",
    "Added to the diagonal before solving, as a share of its mean",
    (1e-15, 1.0),
    (1e-12, 1.0),
    1e-2,
)
.logarithmic();

/// The ridge of KMOD.
pub const KMOD_RIDGE: Setting = RIDGE.of("Kmod");

/// The ridge of kernel ridge regression.
pub const KERNEL_RIDGE: Setting = RIDGE.of("KernelRidge").within(1e-12, 1e3);

/// The threshold of sKDL and OKDLFB.
pub const METHOD_THRESHOLD: Setting = Setting::number(
    "algorithm.threshold",
    "Growing threshold",
    "A sample is kept if it resembles what is kept less than this",
    (0.0, 1.0),
    (0.5, 1.0),
    0.999,
);

const CODE_PENALTY: Setting = Setting::number(
    "algorithm.code_penalty",
    "Penalty of codes",
    "How sparse the codes are while learning",
    (0.0, 1.0),
    (1e-6, 1.0),
    0.05,
)
.logarithmic()
.symbol("λ₁");

/// λ₁ of sKDL.
pub const SKDL_CODE_PENALTY: Setting = CODE_PENALTY.of("Skdl");

/// λ₁ of OKDLFB.
pub const OKDLFB_CODE_PENALTY: Setting = CODE_PENALTY.of("Okdlfb").within(0.0, 1e6);

/// λ₂.
pub const ATOM_PENALTY: Setting = Setting::number(
    "algorithm.atom_penalty",
    "Penalty of atoms",
    "How sparse the coefficients of an atom are",
    (0.0, 1.0),
    (1e-6, 0.1),
    1e-4,
)
.logarithmic()
.symbol("λ₂");

/// η_w.
pub const CODE_RATE: Setting = Setting::number(
    "algorithm.code_rate",
    "Rate of codes",
    "Length of the steps towards a code; a share of the longest sure step unless as published",
    (1e-15, 1.0),
    (1e-7, 1.0),
    1.0,
)
.logarithmic()
.symbol("η_w");

/// η_u.
pub const ATOM_RATE: Setting = Setting::number(
    "algorithm.atom_rate",
    "Rate of atoms",
    "Length of the steps towards an atom; a share of the longest sure step unless as published",
    (1e-15, 1.0),
    (1e-7, 1.0),
    1.0,
)
.logarithmic()
.symbol("η_u");

/// ρ of OKDLRS.
pub const CAUTION: Setting = Setting::number(
    "algorithm.caution",
    "Caution",
    "By what factor steps are shorter than the sure ones",
    (1.0, 1e3),
    (1.0, 10.0),
    1.1,
)
.symbol("ρ");

/// μ_m.
pub const LEAST_CURVATURE: Setting = Setting::number(
    "algorithm.least_curvature",
    "Least curvature",
    "No step is longer than its reciprocal; 0 sets no limit",
    (0.0, 1e6),
    (0.0, 10.0),
    0.0,
)
.symbol("μ_m");

/// Most alternations of OKDLRS.
pub const ALTERNATIONS: Setting = Setting::number(
    "algorithm.alternations",
    "Alternations",
    "Most steps of codes and atoms in turn for one mini-batch",
    (1.0, 1e5),
    (1.0, 500.0),
    50.0,
)
.whole()
.logarithmic();

/// μ of OKDLFB.
pub const DECAY: Setting = Setting::number(
    "algorithm.decay",
    "Decay",
    "How strongly atoms are drawn towards zero",
    (0.0, 1.0),
    (0.0, 0.5),
    1e-3,
)
.symbol("μ");

/// ρ of OKDLFB.
pub const STEP_RATE: Setting = Setting::number(
    "algorithm.rate",
    "Rate",
    "Length of a gradient step; a share of the longest sure step unless as published",
    (1e-9, 1.0),
    (1e-4, 1.0),
    0.1,
)
.logarithmic()
.symbol("ρ");

/// C.
pub const COST: Setting = Setting::number(
    "algorithm.cost",
    "Cost",
    "Penalty of a sample on the wrong side of its margin, relative to the size of the kernel",
    (1e-6, 1e6),
    (1e-2, 1e3),
    10.0,
)
.logarithmic()
.symbol("C");

/// The tolerance of the support vector machines.
pub const TOLERANCE: Setting = Setting::number(
    "algorithm.tolerance",
    "Tolerance",
    "By how much the optimality conditions may be violated at the end",
    (1e-9, 0.1),
    (1e-6, 0.1),
    1e-3,
)
.logarithmic();

/// All of them, in the order of the window.
pub const SETTINGS: SettingGroup = SettingGroup {
    place: "learner",
    settings: &[
        &ALGORITHM,
        &KERNEL,
        &DEGREE,
        &OFFSET,
        &WIDTH,
        &N_ATOMS,
        &SPARSITY,
        &BATCH_SIZE,
        &PURSUIT,
        &ERROR_LIMIT,
        &START,
        &POOL,
        &NORMALISATION,
        &GROWING_THRESHOLD,
        &NOVELTY,
        &BUDGET,
        &HEADROOM,
        &FORGETTING_SHAPE,
        &START_VALUE,
        &RAMP_SHARE,
        &REGULARISATION,
        &CALIBRATION,
        &HEAD,
        &GATE,
        &DECISION_LAYER,
        &ERROR_WEIGHTS,
        &MEMORY_OF_ERRORS,
        &SECOND_LOOK,
        &KMOD_RIDGE,
        &KERNEL_RIDGE,
        &METHOD_THRESHOLD,
        &SKDL_CODE_PENALTY,
        &OKDLFB_CODE_PENALTY,
        &ATOM_PENALTY,
        &CODE_RATE,
        &ATOM_RATE,
        &CAUTION,
        &LEAST_CURVATURE,
        &ALTERNATIONS,
        &DECAY,
        &STEP_RATE,
        &COST,
        &TOLERANCE,
    ],
};
