"""The training machine and its time limit."""

import os
import time

import torch

STARTED = time.time()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LOW_PRECISION = torch.bfloat16 if DEVICE == "cuda" else torch.float32
SMALL = os.environ.get("SMALL") == "1"  # a quick check on a few pairs
LIMIT_S = float(os.environ.get("LIMIT_S", 1e9))  # for the whole run; a stage gets at most the time left
AFTERWARDS_S = 60  # reserved for figures, export and packing


def seconds_left():
    """Returns the training time that is left."""
    return LIMIT_S - AFTERWARDS_S - (time.time() - STARTED)


def log(*values):
    print(f"[{time.time() - STARTED:5.0f}s]", *values, flush=True)
