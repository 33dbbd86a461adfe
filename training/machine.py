"""The training machine and its time limit."""

import os
import time

import torch

STARTED = time.time()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LOW = torch.bfloat16 if DEVICE == "cuda" else torch.float32
SMALL = os.environ.get("SMALL") == "1"  # a few pairs, to see that it runs
LIMIT_S = float(os.environ.get("LIMIT_S", 1e9))  # of everything: what is left decides how long a stage may take
AFTERWARDS_S = 60  # figures, export and packing


def left():
    """Seconds of training left."""
    return LIMIT_S - AFTERWARDS_S - (time.time() - STARTED)


def say(*what):
    print(f"[{time.time() - STARTED:5.0f}s]", *what, flush=True)
