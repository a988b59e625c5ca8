"""A classifier trained by Atomscope, usable without Atomscope.

    import this_file as model
    model.predict(X)            # labels, one per row of X
    model.decision_function(X)  # scores; for two classes one number per row, positive for classes_[1]
    model.predict_set(X, 0.05)  # per row the labels that cannot be excluded at error level 0.05

X holds one sample per row and one feature per column, as they are before any scaling, in the order
of model.feature_names_in_. Only numpy and safetensors are needed. The model is at the end of this file.
"""

import base64
import json

import numpy as np
from safetensors.numpy import load

__all__ = ["AtomscopeClassifier", "classes_", "decision_function", "feature_names_in_", "model",
           "n_features_in_", "p_values", "predict", "predict_set"]

# Samples that are classified together.
_BLOCK = 256
# A kernel value k(x, x) below this is no signal.
_NO_SIGNAL = 1e-150


def _power(base, degree):
    value = base
    for _ in range(1, degree):
        value = value * base
    return value


def _in_lanes(terms):
    """Sums over the last axis in the order of the program: eight running sums, then their sum."""
    n = terms.shape[-1]
    padded = np.zeros(terms.shape[:-1] + (max(-(-n // 8), 1), 8))
    padded.reshape(terms.shape[:-1] + (-1,))[..., :n] = terms
    sums = np.add.accumulate(padded, axis=-2)[..., -1, :]
    quarters = sums[..., :4] + sums[..., 4:]
    return (quarters[..., 0] + quarters[..., 1]) + (quarters[..., 2] + quarters[..., 3])


def _halves(rows):
    """Leading digits of every row, so few that products of them add up without rounding, and the rest."""
    digits = (53 - int(np.ceil(np.log2(max(rows.shape[1], 1))))) // 2
    exponent = np.frexp(np.abs(rows).max(axis=1, initial=0.0))[1]
    shift = np.ldexp(1.5, np.maximum(52 + exponent - digits, -1022))[:, None]
    high = (rows + shift) - shift
    return high, rows - high


def _parts_of_products(rows, columns):
    """Inner products of every row with every column sample: most of each, exactly, and the rest."""
    (row_high, row_low), (column_high, column_low) = _halves(rows), _halves(columns)
    return row_high @ column_high.T, row_low @ column_high.T + rows @ column_low.T


def _parts_of_product(matrix, x):
    """The same of every row with one vector."""
    return (part[:, 0] for part in _parts_of_products(matrix, x[None]))


def _inner_products(rows, columns):
    """The same rounded once: distances are small differences of them."""
    leading, rest = _parts_of_products(rows, columns)
    return leading + rest


def _fused(a, b, c):
    """a b + c, rounded once."""
    product = a * b
    a_high, b_high = (134217729.0 * v - (134217729.0 * v - v) for v in (a, b))
    a_low, b_low = a - a_high, b - b_high
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    total = product + c
    part = total - product
    return total + ((product - (total - part)) + (c - part) + error)


def _exp(x):
    """e^x to the bits of the program: x = k ln 2 + r and the series of e^r."""
    values = np.empty(x.shape)
    # In pieces that stay in the cache.
    for piece, target in zip(np.array_split(x.ravel(), x.size // 4096 + 1),
                             np.array_split(values.reshape(-1), x.size // 4096 + 1)):
        inside = np.clip(piece, -708.0, 709.0)
        k = (inside * 1.4426950408889634 + 6755399441055744.0) - 6755399441055744.0
        r = _fused(k, -1.9082149292705877e-10, _fused(k, -0.6931471803691238, inside))
        series = np.full(piece.shape, 1.0 / 479001600.0)
        for factorial in (39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1, 1):
            series = _fused(series, r, 1.0 / factorial)
        target[:] = np.where(piece < -708.0, 0.0, np.ldexp(series, k.astype(int)))
    return values


class _Kernel:
    """k(x, y) of rows of features, to the bits of the program."""

    def __init__(self, description):
        if isinstance(description, str):
            description = {description: {}}
        ((self.kind, self.parameters),) = description.items()

    def own(self, rows):
        """k(x, x) of every row."""
        squares = _in_lanes(rows * rows)
        if self.kind == "Linear":
            return squares
        if self.kind in ("Gaussian", "Laplacian"):
            return np.ones(len(rows))
        raw = _power(self.parameters["offset"] + squares, self.parameters["degree"])
        return raw if self.kind == "Polynomial" else np.where(raw > 0.0, 1.0, 0.0)

    def __call__(self, rows, columns):
        """k of every row with every column sample: one row per row, one column per column sample."""
        if self.kind == "Laplacian":
            distances = [_in_lanes(np.abs(rows - column)) for column in columns]
            return _exp(-np.array(distances).T.reshape(len(rows), len(columns)) / self.parameters["width"])
        inner = _inner_products(rows, columns)
        if self.kind == "Linear":
            return inner
        if self.kind == "Gaussian":
            return self._gaussian(rows, columns, inner)
        offset, degree = self.parameters["offset"], self.parameters["degree"]
        values = _power(offset + inner, degree)
        if self.kind == "NormalisedPolynomial":
            row_scales, column_scales = (self._scales(samples, offset, degree) for samples in (rows, columns))
            values = values * (row_scales[:, None] * column_scales)
        return values

    @staticmethod
    def _scales(samples, offset, degree):
        raw = _power(offset + _in_lanes(samples * samples), degree)
        return np.where(raw > 0.0, 1.0 / np.sqrt(np.where(raw > 0.0, raw, 1.0)), 0.0)

    def _gaussian(self, rows, columns, inner):
        factor = 1.0 / (2.0 * self.parameters["width"] * self.parameters["width"])
        sums = _in_lanes(rows * rows)[:, None] + _in_lanes(columns * columns)
        squared = np.maximum(sums - 2.0 * inner, 0.0)
        # Where the difference of large terms lost digits, it is taken from the features.
        lost = sums * factor * np.finfo(float).eps
        i, j = np.nonzero((lost > 1e-12) & (squared * factor < 50.0 + lost))
        for first in range(0, len(i), 4096):
            few = slice(first, first + 4096)
            squared[i[few], j[few]] = _in_lanes((rows[i[few]] - columns[j[few]]) ** 2)
        return _exp(-squared * factor)


def _residuals(atom_gram, products, own, sparsity, error_limit, order_recursive):
    """r² of every sample (row of `products` = h) after (order-recursive) matching pursuit."""
    lengths = np.diag(atom_gram)
    used = (lengths > 0.0) & np.isfinite(lengths) & (lengths >= 1e-24 * max(lengths.max(initial=0.0), 0.0))
    scales = np.where(used, 1.0 / np.sqrt(np.where(used, lengths, 1.0)), 0.0)
    gram = atom_gram * scales[:, None] * scales
    correlations = products * scales
    remainders = np.tile(used.astype(float), (len(products), 1))
    residual = own.copy()
    steps = min(sparsity, len(scales))
    directions = np.zeros((len(products), steps, len(scales)))
    for step in range(steps):
        candidates = remainders > 1e-10
        weights = np.where(candidates, remainders, 1.0) if order_recursive else 1.0
        promise = np.where(candidates, correlations**2, 0.0) / weights
        best = promise.argmax(axis=1)
        rows = np.flatnonzero((residual > error_limit * own) & (promise[np.arange(len(best)), best] > 0.0))
        if not len(rows):
            break
        atom = best[rows]
        length = np.sqrt(remainders[rows, atom])
        coefficient = correlations[rows, atom] / length
        direction = gram[:, atom].T.copy()
        for earlier in range(step):
            direction -= directions[rows, earlier, atom][:, None] * directions[rows, earlier]
        direction /= length[:, None]
        directions[rows, step] = direction
        correlations[rows] -= direction * coefficient[:, None]
        remainders[rows] -= direction**2
        remainders[rows, atom] = 0.0
        residual[rows] -= coefficient**2
    return np.maximum(residual, 0.0)


class AtomscopeClassifier:
    """The trained classifier: `settings` and `tensors` are described in Atomscope's guide."""

    def __init__(self, settings, tensors):
        self.settings = settings
        self.tensors = tensors
        self.classes_ = np.array(settings["classes"])
        self.feature_names_in_ = np.array(settings["features"], dtype=object)
        self.n_features_in_ = settings["preparation"]["n_features"]
        self._kernel = _Kernel(settings["kernel"])
        self._kept = [tensors[f"class{c}/kept"] for c in range(len(self.classes_))]
        self._pairs = {}

    # What scikit-learn's classifiers have.

    def predict(self, X):
        """The label of every sample."""
        return self.classes_[self.scores(X).argmax(axis=1)]

    def decision_function(self, X):
        """The score of every class, or for two classes how much that of the second is larger."""
        scores = self.scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict_set(self, X, epsilon=0.05):
        """Per sample the labels whose p value is above `epsilon`: the true one is missing from at most
        that share of the sets of samples like those of the training."""
        return [self.classes_[inside] for inside in self.p_values(X, epsilon) > epsilon]

    def score(self, X, y):
        """Share of samples whose label is predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    # What is behind it.

    def scores(self, X):
        """The score of every class (column) for every sample (row); the largest decides."""
        X = self.prepare(X)
        blocks = [self._score_block(X[first:first + _BLOCK]) for first in range(0, len(X), _BLOCK)]
        return np.vstack(blocks) if blocks else np.zeros((0, len(self.classes_)))

    def p_values(self, X, epsilon=0.05):
        """p of every class (column) for every sample (row)."""
        if "calibration/margins0" not in self.tensors:
            raise ValueError("the model was trained without calibration and cannot tell prediction sets")
        if not 0.0 < epsilon < 1.0:
            raise ValueError(f"epsilon must be between 0 and 1, but is {epsilon}")
        scores = self.scores(X) / self.settings["margin_unit"]
        margins = [self.tensors[f"calibration/margins{c}"] for c in range(len(self.classes_))]
        counts = np.array([len(own) for own in margins], float)
        effective = counts / self.tensors.get("calibration/weights", 1.0)
        pooled = self._pooled(effective, epsilon)
        shared = np.sort(np.concatenate([margins[c] for c in pooled] or [[]]))
        p = np.empty_like(scores)
        for c, own in enumerate(margins):
            others = np.delete(scores, c, axis=1).max(axis=1, initial=-np.inf)
            known, places = (shared, pooled) if c in pooled else (own, [c])
            below = np.searchsorted(known, scores[:, c] - others, side="right")
            # How many samples one of a new group stands for.
            weight = len(known) / effective[places].sum() if len(known) else 1.0
            p[:, c] = (weight + below) / (len(known) + weight)
        return p

    @staticmethod
    def _pooled(counts, epsilon):
        """The classes too small for a level of their own, joined by larger ones until they are enough."""
        pooled, total = [], 0.0
        for c in np.argsort(counts, kind="stable"):
            if counts[c] >= 2.0 / epsilon and not (pooled and total < 1.0 / epsilon):
                break
            pooled.append(c)
            total += counts[c]
        return pooled

    def prepare(self, X):
        """Samples with missing values filled in and features scaled, as the model saw them."""
        X = np.array(X, dtype=float)
        if X.ndim != 2:
            raise ValueError(f"X must have one sample per row and one feature per column, but has {X.ndim} dimension(s)")
        if X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but the model expects {self.n_features_in_}")
        missing = ~np.isfinite(X)
        if missing.any():
            fill = self.settings["preparation"]["fill"]
            if not fill:
                sample, feature = np.argwhere(missing)[0]
                raise ValueError(f"sample {sample} has no value for {self.feature_names_in_[feature]!r}, "
                                 "and the model was trained to fill in nothing")
            X = np.where(missing, np.array(fill), X)
        self._scale(X)
        if "missing/loadings" in self.tensors:
            for row in np.flatnonzero(missing.any(axis=1)):
                self._fill(X[row], missing[row])
        return X

    def _scale(self, X):
        scaling = self.settings["preparation"]["scaling"]
        if scaling == "UnitNorm":
            largest = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
            X /= np.where(largest > 0.0, largest, 1.0)
            lengths = np.sqrt(np.add.accumulate(X * X, axis=1)[:, -1:])
            X /= np.where(lengths > 0.0, lengths, 1.0)
        elif isinstance(scaling, dict):
            ((_, numbers),) = scaling.items()
            if "lowest" in numbers:
                np.clip(X, numbers["lowest"], numbers["highest"], out=X)
            factors = np.array(numbers["factors"])
            X -= np.array(numbers["offsets"])
            X *= factors
            X[:, factors == 0.0] = 0.0

    def _fill(self, sample, missing):
        """What missing features must have been, given the others: V a, a = (VₒᵀVₒ + s²I)⁻¹ Vₒᵀ zₒ.

        Every round solves for what the last one left, zₒ − Vₒa with twice the digits: the same bits in any order."""
        mean, sd = self.tensors["missing/mean"], self.tensors["missing/sd"]
        loadings, noise = self.tensors["missing/loadings"].T, self.settings["missing_noise"]
        seen, z = loadings[~missing], ((sample - mean) / sd)[~missing]
        square = seen.T @ seen + noise * np.eye(loadings.shape[1])
        a, correction = np.zeros((2, loadings.shape[1]))
        for _ in range(3):
            a = a + correction
            leading, part = _parts_of_product(seen, a)
            rest = z - leading
            taken = rest - z
            low = (z - (rest - taken)) - (leading + taken) - part
            leading, part = _parts_of_product(seen.T, rest)
            correction = np.linalg.solve(square, _fused(-noise, a, leading) + (part + seen.T @ low))
        leading, part = _parts_of_product(loadings, a)
        sample[missing] = ((leading + (part + loadings @ correction)) * sd + mean)[missing]

    def _score_block(self, X):
        settings, tensors = self.settings, self.tensors
        own = self._kernel.own(X)
        signal = own >= _NO_SIGNAL
        divisor = np.where(signal, own, 1.0)[:, None]
        n_classes = len(self.classes_)
        kernel_rows, products = [], []
        residual = np.zeros((len(X), n_classes))
        distance = np.zeros((len(X), n_classes))
        for c in range(n_classes):
            rows = self._kernel(X, self._kept[c])
            h = rows @ tensors[f"class{c}/coefficients"]
            residual[:, c] = _residuals(
                tensors[f"class{c}/atom_gram"], h, own, settings["sparsity"], settings["error_limit"],
                settings["pursuit"] == "Ormp")
            distance[:, c] = self._distance(c, own, rows)
            kernel_rows.append(rows)
            products.append(h)
        residual = np.where(signal[:, None], residual / divisor, 0.0)
        distance = np.where(signal[:, None], distance / divisor, 0.0)
        z1 = -np.log(np.maximum(residual, 1e-9))
        z2 = -np.log(np.maximum(distance, 1e-6))
        scores = self._decide(residual, z1, z2, products, own, signal)
        if "readout_weight" in settings:
            scores = settings["layer_weight"] * scores + settings["readout_weight"] * self._read_out(kernel_rows)
        elif "second_look" in settings:
            self._look_again(scores, kernel_rows)
        if "gate" in settings:
            self._pass_gate(scores, z1, z2, signal)
        return scores

    def _distance(self, c, own, rows):
        """Squared distance to the span of the kept samples, σ − ‖Tk‖²; 0 where no score needs it."""
        root, span = (self.tensors.get(f"class{c}/{name}") for name in ("span_root", "span"))
        if root is None:
            return 0.0 if span is None else own - np.einsum("ij,ij->i", rows @ span, rows)
        total, rest = own.copy(), np.zeros(len(own))
        for leading, low in zip(*(part.T for part in _parts_of_products(rows, root))):
            square = leading * leading
            following = total - square
            part = following - total
            rest += (total - (following - part)) - (square + part)
            rest -= _fused(leading, leading, -square) + low * (2.0 * leading + low)
            total = following
        return total + rest

    def _decide(self, residual, z1, z2, products, own, signal):
        decision = self.settings["decision"]
        kind = decision["kind"]
        if kind == "OnlineLogit":
            return decision["theta"][0] * z1 + decision["theta"][1] * z2 + np.array(decision["bias"])
        if kind == "CalibratedResidual":
            return -residual / np.maximum(np.array(decision["usual"]), 1e-9) ** decision["exponent"]
        if kind == "NearestMean":
            lengths = [self.tensors[f"class{c}/atom_gram"][0, 0] for c in range(len(products))]
            first = np.column_stack([h[:, 0] for h in products])
            near = (2.0 * first - np.array(lengths)) / np.where(signal, own, 1.0)[:, None] - 1.0
            return np.where(signal[:, None], near, -residual)
        if kind == "LargestSum":
            return np.sum(products, axis=0)
        if kind == "Duels":
            return self._duel(products, np.array(decision["bias"]))
        return -residual

    @staticmethod
    def _duel(products, bias):
        scores = np.zeros((len(products[0]), len(products)))
        for a in range(len(products)):
            for b in range(len(products)):
                if a != b:
                    duel = products[a][:, b] - products[b][:, a] + bias[a, b]
                    scores[:, a] += (duel > 0.0) + duel / (1.0 + np.abs(duel)) / (2 * len(products))
        return scores

    def _read_out(self, kernel_rows):
        """f of every class: a linear function of all kernel values."""
        sums = np.tile(np.array(self.settings["readout_offsets"]), (len(kernel_rows[0]), 1))
        for part, rows in enumerate(kernel_rows):
            weights = self.tensors[f"class{part}/readout"]
            if len(weights) == len(self.classes_):
                sums += rows @ weights.T
            else:
                sums[:, part] += rows @ weights[0]
        return sums

    def _look_again(self, scores, kernel_rows):
        """Doubtful samples: the two best classes are compared by kernel ridge regression."""
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        for i in np.flatnonzero(shares.max(axis=1) < 0.9):
            best = int(shares[i].argmax())
            others = shares[i].copy()
            others[best] = -1.0
            a, b = sorted((best, int(others.argmax())))
            pair_score = self._pair(a, b) @ np.concatenate([kernel_rows[a][i], kernel_rows[b][i]])
            pair_score = min(max(pair_score, -1.5), 1.5) if np.isfinite(pair_score) else 0.0
            scores[i, a] += self.settings["second_look"] * pair_score
            scores[i, b] -= self.settings["second_look"] * pair_score

    def _pair(self, a, b):
        """v = (K + ρσ̄I)⁻¹ [1; −1] over the kept samples of two classes, ρ = 0.01."""
        if (a, b) not in self._pairs:
            kept = np.vstack([self._kept[a], self._kept[b]])
            gram = self._kernel(kept, kept)
            signs = np.repeat([1.0, -1.0], [len(self._kept[a]), len(self._kept[b])])
            solution = np.zeros(len(kept))
            ridge = 0.01 * np.trace(gram) / len(kept)
            for _ in range(8):
                gram[np.diag_indices(len(kept))] += ridge
                try:
                    lower = np.linalg.cholesky(gram)
                except np.linalg.LinAlgError:
                    ridge *= 10.0
                    continue
                solution = np.linalg.solve(lower.T, np.linalg.solve(lower, signs))
                break
            self._pairs[a, b] = solution
        return self._pairs[a, b]

    def _pass_gate(self, scores, z1, z2, signal):
        """Where a sample fits no class as training samples did, learned offsets count less."""
        gate = self.settings["gate"]
        openness = np.minimum(np.maximum(z1.max(axis=1), 0.0) / gate["threshold"], 1.0) ** 2
        shut = np.flatnonzero(signal & (openness < 1.0))
        weight = max(sum(gate["theta"]), 0.1)
        share = openness[shut][:, None]
        scores[shut] = share * scores[shut] + (1.0 - share) * weight * (z1[shut] + 0.5 * z2[shut])


