"""Evaluates models on held-out questions: vectors alone, and a model that reranks the best hybrid results."""

import numpy as np
import torch

import data
from hybrid import Words, fused
from machine import DEVICE, SMALL, log
from texts import logits_of, plan, vectors_of

WEIGHTS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1)
TOP = 20  # results that are reranked
PIECES_MAX = 320  # max word pieces of a passage
PAIRS_PER_BATCH = 20000  # pairs scored together


class Dev:
    def __init__(self, collections, offsets, q_offsets, passages, questions):
        self.passages, self.questions, self.offsets = passages, questions, offsets
        self.sets = []
        for each in collections:
            dev_questions = [at for at, question in enumerate(each.questions) if question[2] == "dev"]
            if dev_questions:
                self.sets.append((each, dev_questions[:2] if SMALL else dev_questions, offsets[each.name], q_offsets[each.name]))
        self.rows = []

    def groups(self):
        """Yields for each group: set, questions, text numbers of the questions, passages, text numbers of the passages."""
        for each, dev_questions, offset, q_offset in self.sets:
            groups = {}
            for at in dev_questions:
                groups.setdefault(each.questions[at][3], []).append(at)
            for group, question_indexes in groups.items():
                members = np.array(each.members[group])
                yield each, question_indexes, np.array(question_indexes) + q_offset, members, members + offset

    @torch.no_grad()
    def by_vectors(self, model, name):
        """Computes nDCG@10 of each set, with one vector per text."""
        found = {}
        was_training = model.training
        model.eval()
        for each, question_indexes, numbers, members, passage_numbers in self.groups():
            cosines = vectors_of(model, self.questions, numbers) @ vectors_of(model, self.passages, passage_numbers).T
            top = cosines.topk(min(10, len(members)), 1).indices.cpu().numpy()
            for at, row in zip(question_indexes, top):
                found.setdefault(each.name, []).append(data.ndcg(list(members[row]), each.questions[at][1]))
        model.train(was_training)
        figures = {name: round(sum(own) / len(own), 4) for name, own in found.items()}
        log(name, "dev", round(data.selection_metric(figures), 4), figures)
        return data.selection_metric(figures)

    @torch.no_grad()
    def find(self, model):
        """Computes the hybrid results of each question with this embedding model. They are reranked later."""
        self.rows = []
        for each, question_indexes, numbers, members, passage_numbers in self.groups():
            cosines = vectors_of(model, self.questions, numbers) @ vectors_of(model, self.passages, passage_numbers).T
            best = fused(Words(self.passages, passage_numbers).shares(self.questions, numbers), cosines).topk(min(50, len(members)), 1)
            read = self.offsets.get(f"{each.name} in context", self.offsets[each.name])
            for at, number, row, scores in zip(question_indexes, numbers, best.indices.cpu().numpy(), best.values.cpu().tolist()):
                self.rows.append((each.name, number, each.questions[at][1], members[row], scores, members[row] + read))

    @torch.no_grad()
    def by_logits(self, model, name):
        """Computes nDCG@10 of each set with the best results reranked, for the reranker weight with the best mean."""
        was_training = model.training
        model.eval()
        question_numbers = np.concatenate([np.full(len(row[3][:TOP]), row[1]) for row in self.rows])
        passage_numbers = np.concatenate([row[5][:TOP] for row in self.rows])
        passages = self.passages.up_to(PIECES_MAX)
        parts = [logits_of(model, self.questions, passages, plan(self.questions, passages, question_numbers[at : at + PAIRS_PER_BATCH], passage_numbers[at : at + PAIRS_PER_BATCH])) for at in range(0, len(question_numbers), PAIRS_PER_BATCH)]
        logits = torch.cat(parts).float().cpu().numpy()
        model.train(was_training)
        by_weight = {weight: self.ranked(logits, weight) for weight in (0, *WEIGHTS)}
        weight, best = max(by_weight.items(), key=lambda each: data.selection_metric(each[1]))
        log(name, "dev", round(data.selection_metric(best), 4), "at", weight, best, "hybrid", by_weight[0])
        return data.selection_metric(best)

    def ranked(self, logits, weight):
        figures, start = {}, 0
        for name, _, relevant, members, scores, _ in self.rows:
            own = logits[start : start + min(TOP, len(members))]
            start += len(own)
            order = np.argsort(-(np.array(scores[: len(own)]) + weight * own), kind="stable")
            figures.setdefault(name, []).append(data.ndcg([*members[: len(own)][order], *members[len(own) :]], relevant))
        return {name: round(sum(own) / len(own), 4) for name, own in figures.items()}

    def log_confidence(self, model, name):
        """Computes the mean probability of right and of wrong passages among the best results, from the logits alone."""
        right, wrong, passages = [], [], self.passages.up_to(PIECES_MAX)
        with torch.no_grad():
            for _, number, relevant, members, _, passage_numbers in self.rows[::3]:
                question_numbers = np.full(len(passage_numbers[:TOP]), number)
                probabilities = torch.sigmoid(logits_of(model, self.questions, passages, plan(self.questions, passages, question_numbers, passage_numbers[:TOP])).float()).cpu().numpy()
                for member, probability in zip(members, probabilities):
                    (right if member in relevant else wrong).append(probability)
        log(name, "mean probability of right", round(float(np.mean(right)), 3), "of wrong", round(float(np.mean(wrong)), 3), "right above .5", round(float(np.mean(np.array(right) > 0.5)), 3))
