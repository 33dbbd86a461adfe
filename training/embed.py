"""Embeds texts with an exported model as the product does, one by one: embed.py MODEL.onnx BASE_FOLDER TEXTS.jsonl OUT.npz

A line of TEXTS.jsonl is a text as JSON. OUT.npz has `codes` (int8) and `scales`: a vector is its codes times its scale.
"""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

SEP = 102  # id of the [SEP] token
worker = {}


def start(model, base):
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    worker["session"] = onnxruntime.InferenceSession(model, options)
    worker["tokenizer"] = Tokenizer.from_file(f"{base}/tokenizer.json")
    worker["tokenizer"].no_padding()
    worker["tokenizer"].no_truncation()


def vector_of(text):
    ids = worker["tokenizer"].encode(text[:8000]).ids
    ids = np.array([ids if len(ids) <= 512 else [*ids[:511], SEP]])
    states = worker["session"].run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)})[0][0]
    mean = states.mean(0)
    return mean / np.linalg.norm(mean)


def main():
    model, base, path, out = sys.argv[1:5]
    texts = [json.loads(line) for line in open(path)]
    with ProcessPoolExecutor(min(16, len(os.sched_getaffinity(0))), initializer=start, initargs=(model, base)) as pool:
        vectors = np.array(list(pool.map(vector_of, texts, chunksize=64)))
    scales = np.abs(vectors).max(1) / 127
    np.savez(out, codes=np.rint(vectors / scales[:, None]).astype(np.int8), scales=scales.astype(np.float32))


main()
