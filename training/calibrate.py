"""Fits relevance (0 to 1) to judged pairs: of results with .8 about four in five should be relevant.

python3 calibrate.py CANDIDATES.json.xz LOGITS.json.xz WEIGHT OUT.json

Fitted on the kept-out dev questions of SciFact, CoSQA, chunks and the written chats and on questions that the collection
cannot answer; LoCoMo dev and Cranfield dev are only measured. Every question counts the same. What is shown is what counts:
the best 10 of the reranked 20 (or of the hybrid).
"""

import json
import lzma
import sys

import numpy as np

FITTED = ("scifact", "cosqa", "chroma-chunking", "written")
SHOWN = 10
# gap: how far the cosine is behind the best of the list. The same of the logit was tried beside it: no gain, a worse cut.
FEATURES = {"reranked": ("logit", "share", "cosine"), "plain": ("share", "cosine", "gap")}


def read(candidates, logits):
    own = {(row[0], row[1], row[2]): row[3] for row in json.load(lzma.open(logits, "rt"))}
    for line in lzma.open(candidates, "rt"):
        row = json.loads(line)
        key = (row["set"], row["of"], row["question"])
        if key in own and row["split"] in ("choose", "dev", "foreign"):
            yield row, own[key]


def shown(rows, weight, kind):
    """[features], relevant, question weight, set, question: one for each pair that a search would show."""
    for number, (row, logits) in enumerate(rows):
        found = [
            {"id": at, "score": score, "share": share, "cosine": cosine, "logit": logit}
            for (at, score, share, mass, cosine), logit in zip(row["candidates"][:20], logits)
        ]
        best = max(each["cosine"] for each in found)
        for each in found:
            each["gap"] = best - each["cosine"]
        found.sort(key=lambda each: -(each["score"] + (weight * each["logit"] if kind != "plain" else 0)))
        for each in found[:SHOWN]:
            yield [each[name] for name in FEATURES[kind]], float(str(each["id"]) in row["relevant"]), 1 / SHOWN, row["set"] + (" foreign" if row["split"] == "foreign" else ""), number


def fit(x, y, w, ridge=1e-3):
    mean, spread = x.mean(0), x.std(0) + 1e-9
    z = np.hstack([np.ones((len(x), 1)), (x - mean) / spread])
    beta = np.zeros(z.shape[1])
    for _ in range(60):
        p = 1 / (1 + np.exp(-z @ beta))
        gradient = z.T @ (w * (y - p)) - ridge * np.r_[0, beta[1:]]
        hessian = (z * (w * p * (1 - p))[:, None]).T @ z + ridge * np.eye(z.shape[1])
        beta += np.linalg.solve(hessian, gradient)
    slope = beta[1:] / spread
    return np.r_[beta[0] - (slope * mean).sum(), slope]


def probability(x, beta):
    return 1 / (1 + np.exp(-(beta[0] + x @ beta[1:])))


def calibration_error(p, y, bins=10):
    """Bins of equal mass."""
    order = np.argsort(p)
    return sum(len(part) * abs(p[part].mean() - y[part].mean()) for part in np.array_split(order, bins)) / len(p)


def main():
    candidates, logits, weight, out = sys.argv[1:5]
    rows = list(read(candidates, logits))
    result = {}
    for kind in FEATURES:
        pairs = list(shown(rows, float(weight), kind))
        x, y, w = (np.array([pair[at] for pair in pairs]) for at in range(3))
        sets, numbers = np.array([pair[3] for pair in pairs]), np.array([pair[4] for pair in pairs])
        fitted = np.isin(np.char.replace(sets, " foreign", ""), FITTED)
        folds, held = numbers % 5, np.zeros(len(y))
        for fold in range(5):
            beta = fit(x[fitted & (folds != fold)], y[fitted & (folds != fold)], w[fitted & (folds != fold)])
            held[folds == fold] = probability(x[folds == fold], beta)
        beta = fit(x[fitted], y[fitted], w[fitted])
        held[~fitted] = probability(x[~fitted], beta)
        own = {"intercept": round(float(beta[0]), 4)} | {name: round(float(each), 4) for name, each in zip(FEATURES[kind], beta[1:])}
        measured = {"fitted, cross-validated by question": round(calibration_error(held[fitted], y[fitted]), 4)}
        for name in sorted(set(sets)):
            here = sets == name
            measured[name] = {"ece": round(calibration_error(held[here], y[here]), 4), "mean": round(held[here].mean(), 3), "relevant": round(y[here].mean(), 3)}
        judged = ~np.char.endswith(sets, "foreign")
        for cut in (0.01, 0.015, 0.02, 0.03, 0.05, 0.08, 0.1):
            lost = ((held < cut) & (y > 0) & judged).sum() / max(1, (y * judged).sum())
            gone = ((held < cut) & ~judged).sum() / max(1, (~judged).sum())
            measured[f"cut {cut}"] = {"relevant lost": round(float(lost), 4), "foreign gone": round(float(gone), 4)}
        result[kind] = {"coefficients": own, "measured": measured}
    json.dump(result, open(out, "w"), indent=1)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
