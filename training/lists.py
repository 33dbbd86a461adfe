"""What is trained on: questions with one right passage and wrong ones."""

import json
import lzma
import random
import re

import numpy as np
import torch

import data
from machine import DEVICE, SMALL, say
from texts import plan

NEGATIVES, RANDOM_NEGATIVES = 6, 1
LISTED = 1 + NEGATIVES + RANDOM_NEGATIVES

# How often a question is drawn from each source.
SHARES = {
    "chats": 0.14, "chats in context": 0.13, "made": 0.03, "made in context": 0.03,
    "docstring": 0.11, "faq": 0.06, "heading": 0.08, "cloze": 0.06, "prose": 0.02, "describe": 0.02, "gloss": 0.01,
    "scifact": 0.09, "cosqa": 0.09, "chroma-chunking": 0.04, "title": 0.04, "own sentence": 0.05, "own docstring": 0.03,
}
CHATS = ("chats", "chats in context", "made", "made in context")


def read_pairs(path):
    """Collections of weak pairs. Documentation of all kinds shares one pool of passages for the negatives."""
    kinds = {}
    for line in lzma.open(path, "rt"):
        pair = json.loads(line)
        kinds.setdefault(pair["kind"], []).append((pair["q"], pair["p"]))
    for kind, pairs in kinds.items():
        yield of_pairs(kind, pairs[:60] if SMALL else pairs)


def of_pairs(name, pairs):
    return data.Collection(name, [p for _, p in pairs], [name] * len(pairs), [(q, {at: 1}, "train", name) for at, (q, _) in enumerate(pairs)])


def from_corpora(judged):
    """Title → abstract, sentence → the rest, docstring → function; without passages that are held out."""
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
                told = re.split(r"\.\s|\n\s*\n|:param|@", found[2].strip())[0] if found else ""
                if 3 <= len(told.split()) <= 30:
                    functions.append((" ".join(told.split()), text[: found.start()] + text[found.end() :]))
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
        yield of_pairs(name, pairs[:60] if SMALL else pairs)


class Lists:
    """Draws a question with one right passage and wrong ones, all as numbers into the texts."""

    def __init__(self, collections, offsets, q_vectors, p_vectors, q_offsets, found):
        """`found`: what the product's hybrid finds, {(set, question): passages}."""
        self.sources, self.names = [], []
        for each in collections:
            asked = [at for at, question in enumerate(each.questions) if question[2] == "train"]
            if each.name not in SHARES or not asked:
                continue
            self.sources.append(self.prepare(each, asked, offsets[each.name], q_offsets[each.name], q_vectors, p_vectors, found))
            self.names.append(each.name)
            say("lists", each.name, len(asked), "questions")
        self.turns = [[] for _ in self.sources]

    def prepare(self, each, asked, offset, q_offset, q_vectors, p_vectors, found):
        ready = []
        groups = {}
        for at in asked:
            groups.setdefault(each.questions[at][3], []).append(at)
        chat = each.name in CHATS
        unseen = data.held_out(each) if each.name in data.PARTLY_TRAINED else set()
        for group, questions in groups.items():
            members = np.array([at for at in each.members[group] if at not in unseen]) + offset
            pool = p_vectors[torch.tensor(members, device=DEVICE)]
            for start in range(0, len(questions), 512):
                some = questions[start : start + 512]
                near = q_vectors[torch.tensor(some, device=DEVICE) + q_offset] @ pool.T
                top = near.float().topk(min(64, len(members)), dim=1)
                firsts = torch.tensor(np.searchsorted(members, [next(iter(each.questions[at][1])) + offset for at in some]), device=DEVICE)
                right_cosines = near.gather(1, firsts[:, None]).float().cpu().numpy()[:, 0]
                likeness = torch.einsum("qtd,qd->qt", pool[top.indices], pool[firsts]).float().cpu().numpy()
                top_at, top_cosine = top.indices.cpu().numpy(), top.values.cpu().numpy()
                for row, at in enumerate(some):
                    right = np.array([number + offset for number in each.questions[at][1]])
                    wrong = members[top_at[row]]
                    keep = ~np.isin(wrong, right)
                    if each.name not in (*CHATS, "scifact", "chroma-chunking"):
                        # Not judged: what is nearer than the right one is often right too, and so is its near copy.
                        keep &= likeness[row] < 0.96
                        keep &= (top_cosine[row] < right_cosines[row]) | (np.random.random(len(wrong)) < 0.3)
                    wrong = wrong[keep][: 24 if chat else 48]
                    # What the hybrid finds is what will be reranked.
                    hybrid = [number for number in found.get((each.name, each.questions[at][0]), []) if number not in unseen]
                    hybrid = np.setdiff1d(np.array(hybrid[:30], dtype=np.int64) + offset, np.concatenate([right, members[top_at[row]][~keep]]))
                    ready.append((at + q_offset, right, np.union1d(wrong, hybrid), beside(right, members) if chat else [], members))
        return ready

    def draw(self, shares):
        """The turns beside the answer speak of the same, and one behind it is read in its context: they are drawn often."""
        source = np.random.choice(len(self.sources), p=shares)
        if not self.turns[source]:
            self.turns[source] = list(np.random.permutation(len(self.sources[source])))
        asked, right, wrong, beside, members = self.sources[source][self.turns[source].pop()]
        chosen = [np.random.choice(right)]
        near = [each for each in beside if np.random.random() < 0.5]
        hard = min(NEGATIVES - len(near), len(wrong))
        chosen.extend([*near, *(np.random.choice(wrong, hard, replace=False) if hard else [])])
        while len(chosen) < LISTED:
            one = np.random.choice(members)
            if one not in right:
                chosen.append(one)
        return asked, chosen

    def batch(self, count):
        shares = np.array([SHARES[name] for name in self.names])
        drawn = [self.draw(shares / shares.sum()) for _ in range(count)]
        asked = np.repeat([each[0] for each in drawn], LISTED)
        return asked, np.concatenate([each[1] for each in drawn]).astype(np.int64)


def beside(right, members):
    """The turns before and behind an answer, two at most."""
    near = {each + step for each in right for step in (-1, 1)} - set(right)
    return [each for each in sorted(near) if members[0] <= each <= members[-1]][:2]


class Places:
    """Where texts lie, without the device, for the processes that draw."""

    def __init__(self, texts):
        self.starts, self.lengths = texts.starts, texts.lengths


class Steps(torch.utils.data.IterableDataset):
    def __init__(self, lists, questions, passages, count, seed):
        self.lists, self.questions, self.passages, self.count, self.seed = lists, Places(questions), Places(passages), count, seed

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        np.random.seed(self.seed + (worker.id if worker else 0))
        while True:
            yield plan(self.questions, self.passages, *self.lists.batch(self.count))
