"""Samples training lists: a question with one right passage and several wrong ones."""

import json
import lzma
import random
import re

import numpy as np
import torch

import data
from hybrid import Words
from machine import DEVICE, SMALL, log
from texts import plan

NEGATIVES, RANDOM_NEGATIVES = 6, 1
HARD = 2  # hard negatives per question when training vectors
LIST_LENGTH = 1 + NEGATIVES + RANDOM_NEGATIVES

# How often a question is drawn from each source.
SHARES = {
    "chats": 0.12, "made": 0.03, "sgd": 0.05, "topical": 0.06, "qmsum": 0.02, "molweni": 0.01, "dstc9": 0.03,
    "docstring": 0.14, "faq": 0.03, "heading": 0.04, "cloze": 0.03, "describe": 0.01, "doc": 0.07, "tldr": 0.03,
    "elife": 0.05, "scitldr": 0.02, "covidqa": 0.01, "pubmedqa": 0.01, "medquad": 0.03, "selqa": 0.02, "qamr": 0.02, "policyqa": 0.02, "ni": 0.06,
    "scifact": 0.06, "cosqa": 0.09, "chroma-chunking": 0.04, "title": 0.03, "own sentence": 0.04, "own docstring": 0.06,
}
# Cross-encoders also read short turns after the previous turn; the embedding model reads turns alone.
IN_CONTEXT = {"chats in context": 0.08, "made in context": 0.02}
CHATS = ("chats", "chats in context", "made", "made in context")
JUDGED = (*CHATS, "scifact", "chroma-chunking")


def read_pairs(path):
    """Reads the pairs made by rule as one collection per kind. Negatives come from the same collection."""
    kinds = {}
    for line in lzma.open(path, "rt"):
        pair = json.loads(line)
        kinds.setdefault(pair["kind"], []).append((pair["q"], pair["p"]))
    for kind, pairs in kinds.items():
        yield collection_of(kind, pairs[:60] if SMALL else pairs)


def read_public(path):
    """Reads public questions as one collection per kind. Negatives come from the same collection."""
    kinds = {}
    for line in lzma.open(path, "rt"):
        row = json.loads(line)
        passages, questions, conversations = kinds.setdefault(row["kind"], ([], [], []))
        questions.extend((text, {len(passages): 1}, "train", row["kind"]) for text in row["q"])
        passages.append(row["p"])
        conversations.append(row["g"])
    for kind, (passages, questions, conversations) in kinds.items():
        yield data.Collection(kind, passages, [kind] * len(passages), questions, conversations=conversations)


def collection_of(name, pairs):
    return data.Collection(name, [p for _, p in pairs], [name] * len(pairs), [(q, {at: 1}, "train", name) for at, (q, _) in enumerate(pairs)])


def from_corpora(judged):
    """Makes pairs from passages that are not held out: title → abstract, sentence → the rest, docstring → function."""
    titles, rests, functions = [], [], []
    rng = random.Random(f"{data.SEED}/corpora")
    for each in judged:
        if each.name not in data.PARTLY_TRAINED:
            continue
        unseen = data.held_out(each) | {at for _, relevant, split, _ in each.questions if split == "test" for at in relevant}
        for at, text in enumerate(each.passages):
            if at in unseen:
                continue
            if each.name == "cosqa":
                found = re.search(r'("""|\'\'\')(.+?)\1\n?', text, re.S)
                summary = re.split(r"\.\s|\n\s*\n|:param|@", found[2].strip())[0] if found else ""
                if 3 <= len(summary.split()) <= 30:
                    functions.append((" ".join(summary.split()), text[: found.start()] + text[found.end() :]))
                continue
            title, body = text.split("\n", 1) if each.name == "scifact" else ("", text)
            if title:
                titles.append((title, body))
            parts = re.split(r"(?<=[.!?])\s+(?=[A-Z])", body)
            if len(parts) > 3:
                chosen = rng.randrange(len(parts))
                if 6 <= len(parts[chosen].split()) <= 35:
                    rests.append((parts[chosen], " ".join(parts[:chosen] + parts[chosen + 1 :])))
    for name, pairs in (("title", titles), ("own sentence", rests), ("own docstring", functions)):
        yield collection_of(name, pairs[:60] if SMALL else pairs)


class Lists:
    """Draws questions with one right passage and several wrong ones. All are given as text numbers."""

    def __init__(self, collections, offsets, q_offsets, passages, questions, p_vectors, q_vectors):
        self.sources, self.names = [], []
        self.passages, self.questions, self.p_vectors, self.q_vectors = passages, questions, p_vectors, q_vectors
        for each in collections:
            train_questions = [at for at, question in enumerate(each.questions) if question[2] == "train"]
            if each.name not in SHARES | IN_CONTEXT or not train_questions:
                continue
            ready = self.prepare(each, train_questions, offsets[each.name], q_offsets[each.name])
            log("lists", each.name, len(ready), "questions")
            if ready:
                self.sources.append(ready)
                self.names.append(each.name)
        del self.passages, self.questions, self.p_vectors, self.q_vectors
        self.turns = [[] for _ in self.sources]

    def prepare(self, each, train_questions, offset, q_offset):
        """Returns for each question: its number, right passages, near wrong ones, adjacent turns, and all passages of its group."""
        ready, groups = [], {}
        for at in train_questions:
            groups.setdefault(each.questions[at][3], []).append(at)
        unseen = data.held_out(each) if each.name in data.PARTLY_TRAINED else set()
        turns_by_conversation = {}
        for at, conversation in enumerate(each.conversations):
            turns_by_conversation.setdefault(conversation, []).append(at + offset)
        for group, questions in groups.items():
            members = np.array([at for at in each.members[group] if at not in unseen]) + offset
            if len(members) < 2 * LIST_LENGTH:
                continue
            pool = self.p_vectors[torch.tensor(members, device=DEVICE)]
            words = Words(self.passages, members) if len(members) > 100 else None
            for start in range(0, len(questions), 512):
                batch = questions[start : start + 512]
                numbers = [at + q_offset for at in batch]
                cosines = self.q_vectors[torch.tensor(numbers, device=DEVICE)] @ pool.T
                near = cosines.float().topk(min(48, len(members)), dim=1).indices
                top = near if words is None else torch.cat([near, words.shares(self.questions, numbers).topk(24, dim=1).indices], 1)
                first = [next(iter(each.questions[at][1])) + offset for at in batch]
                firsts = torch.tensor(np.searchsorted(members, first), device=DEVICE)
                nearer = (cosines.gather(1, top) >= cosines.gather(1, firsts[:, None])).cpu().numpy()
                copies = (torch.einsum("qtd,qd->qt", pool[top], pool[firsts]) > 0.96).cpu().numpy()
                top = top.cpu().numpy()
                for row, at in enumerate(batch):
                    right = np.array([number + offset for number in each.questions[at][1]])
                    conversation = turns_by_conversation[each.conversations[right[0] - offset]] if each.conversations[right[0] - offset] >= 0 else []
                    is_doubtful = np.zeros(top.shape[1], bool)
                    if each.name not in JUDGED:
                        # A passage nearer than the right one is often right too, and so is a near-duplicate of the right one.
                        is_doubtful = copies[row] | (nearer[row] & (np.random.random(top.shape[1]) > 0.3))
                    wrong = np.union1d(members[top[row]][~is_doubtful], np.array(conversation, dtype=np.int64))
                    wrong = np.setdiff1d(wrong, right)
                    ready.append((at + q_offset, right, wrong, adjacent_turns(right, conversation or (members if each.name in CHATS else [])), members))
        return ready

    def draw(self, source):
        """Draws one list. Turns next to the answer are frequent negatives, because they share its topic."""
        if not self.turns[source]:
            self.turns[source] = list(np.random.permutation(len(self.sources[source])))
        question_number, right, wrong, adjacent, members = self.sources[source][self.turns[source].pop()]
        chosen = [np.random.choice(right)]
        near = [each for each in adjacent if np.random.random() < 0.5]
        hard = min(NEGATIVES - len(near), len(wrong))
        chosen.extend([*near, *(np.random.choice(wrong, hard, replace=False) if hard else [])])
        while len(chosen) < LIST_LENGTH:
            passage = np.random.choice(members)
            if passage not in right:
                chosen.append(passage)
        return question_number, chosen

    def batch(self, count, shares, single_source=False):
        """Draws questions [count] and their passages [count, LIST_LENGTH]; all from one source if `single_source` is set."""
        chances = np.array([shares.get(name, 0) * (len(own) >= count or not single_source) for name, own in zip(self.names, self.sources)])
        sources = np.random.choice(len(chances), 1 if single_source else count, p=chances / chances.sum())
        drawn = [self.draw(source) for source in np.resize(sources, count)]
        return np.array([each[0] for each in drawn]), np.array([each[1] for each in drawn], dtype=np.int64)


def adjacent_turns(right, members):
    """Returns the turns before and after an answer, at most two."""
    near = {each + step for each in right for step in (-1, 1)} - set(right)
    return [each for each in sorted(near) if len(members) and members[0] <= each <= members[-1]][:2]


class PairSteps(torch.utils.data.IterableDataset):
    """Yields steps for a model that reads a question and a passage together."""

    def __init__(self, lists, questions, passages, count, seed):
        self.lists, self.questions, self.passages, self.count, self.seed = lists, TextPositions(questions), TextPositions(passages), count, seed

    def __iter__(self):
        seed_worker(self.seed)
        while True:
            question_numbers, passage_numbers = self.lists.batch(self.count, SHARES | IN_CONTEXT)
            yield plan(self.questions, self.passages, np.repeat(question_numbers, LIST_LENGTH), passage_numbers.reshape(-1))


class VectorSteps(PairSteps):
    """Yields steps for a model that reads question and passage separately. Half of them use a single source, which is harder."""

    def __iter__(self):
        seed_worker(self.seed)
        while True:
            question_numbers, passage_numbers = self.lists.batch(self.count, SHARES, single_source=np.random.random() < 0.5)
            passage_numbers = passage_numbers[:, : 1 + HARD]
            yield question_numbers, passage_numbers, plan(self.questions, self.passages, np.repeat(question_numbers, 1 + HARD), passage_numbers.reshape(-1))


def seed_worker(seed):
    worker = torch.utils.data.get_worker_info()
    np.random.seed(seed + (worker.id if worker else 0))


class TextPositions:
    """Positions of texts, without the data on the GPU, for the sampling processes."""

    def __init__(self, texts):
        self.starts, self.lengths = texts.starts, texts.lengths
