"""Runs an exported model over the hybrid's best 20, one unpadded pair at a time as the product does.

python3 measure.py MODEL.onnx GTE_FOLDER JUDGED.xz CANDIDATES.json.xz OUT.json.xz [--splits choose,dev,foreign] [--most N]

Writes the logits and prints nDCG@10 before and after for each set.
"""

import argparse
import json
import lzma
import os
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import data

TOP = 20
WEIGHTS = (0.02, 0.03, 0.05, 0.07, 0.1, 0.15, 0.2)
held = {}


def start(model, gte, judged):
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    held["session"] = onnxruntime.InferenceSession(model, options)
    held["tokenizer"] = Tokenizer.from_file(str(Path(gte) / "tokenizer.json"))
    held["tokenizer"].no_padding()
    held["tokenizer"].no_truncation()
    held["sets"] = {each.name: each for each in data.load(judged)}


def pieces(text, longest):
    return held["tokenizer"].encode(text[: longest * 12], add_special_tokens=False).ids[:longest]


def logits_of(row):
    question = [101, *pieces(held["sets"][row["of"]].questions[row["question"]][0], 64), 102]
    found = []
    for number, *_ in row["candidates"][:TOP]:
        passage = [*pieces(held["sets"][row["set"]].passages[number], 256), 102]
        ids = np.array([question + passage])
        types = np.array([[0] * len(question) + [1] * len(passage)])
        found.append(round(float(held["session"].run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types})[0][0, 0]), 4))
    return found


def main():
    parser = argparse.ArgumentParser()
    for name in ("model", "gte", "judged", "candidates", "out"):
        parser.add_argument(name)
    parser.add_argument("--splits", default="choose,dev,foreign")
    parser.add_argument("--most", type=int, default=10**9)
    told = parser.parse_args()
    sets = {each.name: each for each in data.load(told.judged)}
    counts, rows = {}, []
    for line in lzma.open(told.candidates, "rt"):
        row = json.loads(line)
        key = (row["set"], row["split"])
        if row["split"] in told.splits.split(",") and counts.get(key, 0) < told.most:
            counts[key] = counts.get(key, 0) + 1
            rows.append(row)
    with ProcessPoolExecutor(os.cpu_count(), initializer=start, initargs=(told.model, told.gte, told.judged)) as pool:
        logits = list(pool.map(logits_of, rows, chunksize=8))
    with lzma.open(told.out, "wt") as file:
        json.dump([[row["set"], row["of"], row["question"], own] for row, own in zip(rows, logits)], file)
    for weight in (0, *WEIGHTS):
        figures = {}
        for row, own in zip(rows, logits):
            if row["split"] == "foreign":
                continue
            name = f"{row['set']} {row['split']}"
            if row["set"] == "written":
                name += " " + sets["written"].questions[row["question"]][3].split("-")[0]
            scored = sorted(zip(row["candidates"], own), key=lambda each: -(each[0][1] + weight * each[1]))
            ranking = [each[0][0] for each in scored] + [each[0] for each in row["candidates"][TOP:]]
            relevant = {int(at): gain for at, gain in row["relevant"].items()}
            figures.setdefault(name, []).append((data.ndcg(ranking, relevant), sum(at in relevant for at in ranking[:5]) / len(relevant)))
        print(weight, {name: [round(float(each), 4) for each in np.mean(own, 0)] for name, own in sorted(figures.items())}, flush=True)


if __name__ == "__main__":
    main()
