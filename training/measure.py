"""Runs an exported model over the best 20 of the product's hybrid, one unpadded pair at a time as the product does.

python3 measure.py MODEL.onnx GTE_FOLDER DATA_FOLDER OUT.json.xz

Writes the logits and prints nDCG@10 and recall@5 for each set, before them what chooses the weights (data.py). PASSAGE_PIECES is
how many word pieces of a passage are read, SETS which sets.
"""

import json
import lzma
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import data

TOP = 20
PIECES = int(os.environ.get("PASSAGE_PIECES", 256))
WEIGHTS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
held = {}


def collections(folder):
    judged = list(data.load(Path(folder) / "judged.xz"))
    return {each.name: each for each in [*judged, *(data.in_context(each) for each in judged if any(at is not None for at in each.before))]}


def start(model, gte, folder):
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    held["session"] = onnxruntime.InferenceSession(model, options)
    held["tokenizer"] = Tokenizer.from_file(str(Path(gte) / "tokenizer.json"))
    held["tokenizer"].no_padding()
    held["tokenizer"].no_truncation()
    held["sets"] = collections(folder)


def pieces(text, longest):
    return held["tokenizer"].encode(text[: longest * 12], add_special_tokens=False).ids[:longest]


def pair(row, number):
    question = [101, *pieces(row["text"], 64), 102]
    passage = [*pieces(held["sets"][row["from"]].passages[number], PIECES), 102]
    ids = np.array([question + passage])
    types = np.array([[0] * len(question) + [1] * len(passage)])
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}


def logits_of(row):
    return [round(float(held["session"].run(None, pair(row, number))[0][0, 0]), 4) for number, _ in row["candidates"][:TOP]]


def main():
    model, gte, folder, out = sys.argv[1:5]
    rows = data.candidates(Path(folder) / "candidates.jsonl.xz", collections(folder))
    rows = [row for row in rows if row["set"] in os.environ.get("SETS", row["set"]).split(",")]
    with ProcessPoolExecutor(min(16, len(os.sched_getaffinity(0))), initializer=start, initargs=(model, gte, folder)) as pool:
        logits = list(pool.map(logits_of, rows, chunksize=8))
    with lzma.open(out, "wt") as file:
        json.dump([[row["from"], row["id"], own] for row, own in zip(rows, logits)], file)
    for weight in WEIGHTS:
        figures = data.measured(rows, logits, TOP, weight)
        print("int8", weight, round(data.chosen_by(figures), 4), figures, flush=True)


if __name__ == "__main__":
    main()
