"""Figures on the questions that are kept out of training, over what the product's hybrid finds for them."""

import json
import lzma

import numpy as np
import torch

import data
from machine import SMALL, say
from texts import Texts, logits_of, plan

WEIGHTS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
TOP = 20
AT_ONCE = 20000  # pairs


class Dev:
    def __init__(self, path, offsets, tokenizer, passages, question_pieces):
        rows = data.candidates(path, offsets)
        self.rows, self.offsets, self.passages = rows[::201] if SMALL else rows, offsets, passages
        self.texts = Texts([row["text"] for row in self.rows], tokenizer, question_pieces)

    def logits(self, model, passages, rows):
        asked = np.array([number for number in rows for _ in self.rows[number]["candidates"][:TOP]])
        shown = np.array([at + self.offsets[self.rows[number]["from"]] for number in rows for at, _ in self.rows[number]["candidates"][:TOP]])
        with torch.no_grad():
            parts = [logits_of(model, self.texts, passages, plan(self.texts, passages, asked[at : at + AT_ONCE], shown[at : at + AT_ONCE])) for at in range(0, len(asked), AT_ONCE)]
        flat, found = torch.cat(parts).float().cpu().tolist(), []
        for number in rows:
            count = len(self.rows[number]["candidates"][:TOP])
            found.append([round(each, 3) for each in flat[:count]])
            flat = flat[count:]
        return found

    def quick(self, model, name):
        """The best mean of the sets over the weights, short turns in their context as the product lets the model read them."""
        read = set(row["from"] for row in self.rows)
        rows = [number for number, row in enumerate(self.rows) if f"{row['from']} in context" not in read]
        was = model.training
        model.eval()
        logits = self.logits(model, self.passages, rows)
        model.train(was)
        figures = {weight: data.measured([self.rows[number] for number in rows], logits, TOP, weight) for weight in WEIGHTS}
        weight, best = max(figures.items(), key=lambda each: data.chosen_by(each[1]))
        say(name, "dev", round(data.chosen_by(best), 4), "at", weight, {name: own[0] for name, own in best.items()})
        return data.chosen_by(best)

    def report(self, model, name, out, lengths):
        """Everything, with passages of each length; the best weight is told, and the logits of the first length are kept."""
        everything, figures = range(len(self.rows)), {}
        for longest in lengths:
            logits = self.logits(model, self.passages.up_to(longest), everything)
            if longest == lengths[0]:
                figures["hybrid"] = data.measured(self.rows, logits, 0, 0)
                say("hybrid", round(data.chosen_by(figures["hybrid"]), 4), figures["hybrid"])
                with lzma.open(out / f"{name}-logits.json.xz", "wt") as file:
                    json.dump([[row["from"], row["id"], own] for row, own in zip(self.rows, logits)], file)
            figures[f"alone, {longest} pieces"] = data.measured(self.rows, logits, TOP, 1, fused=0)
            weighed = {f"{weight}, {longest} pieces": data.measured(self.rows, logits, TOP, weight) for weight in WEIGHTS}
            best, own = max(weighed.items(), key=lambda each: data.chosen_by(each[1]))
            say(name, best, round(data.chosen_by(own), 4), own)
            figures |= weighed
        return figures
