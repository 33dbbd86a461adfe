"""Loads training and evaluation data into one format: collections of passages with questions."""

import hashlib
import json
import lzma
import math
import random
from pathlib import Path

SEED = 20261115
HELD_OUT_SHARE = 0.3  # share of the dev questions used to choose the model and fit the calibration
PARTLY_TRAINED = ("scifact", "cosqa", "chroma-chunking")  # training uses the rest of their dev questions


def is_in_share(text, share):
    return int(hashlib.md5(f"{SEED}{text}".encode()).hexdigest(), 16) % 1000 < share * 1000


class Collection:
    """Passages, and questions as (text, {passage: gain}, split, group). A question searches the passages of its group.

    `before`: for each passage, the previous one in the same session, or None. `conversations`: the conversation of each passage,
    or -1. It is set only if a question also searches passages of other conversations.
    """

    def __init__(self, name, passages, groups, questions, before=None, conversations=None):
        self.name, self.passages, self.groups, self.questions = name, passages, groups, questions
        self.before = before or [None] * len(passages)
        self.conversations = conversations or [-1] * len(passages)
        self.members = {}
        for at, group in enumerate(groups):
            self.members.setdefault(group, []).append(at)


def load_judged(folder, name):
    rows = lambda part: [json.loads(line) for line in open(Path(folder) / name / f"{part}.jsonl")]
    corpus = rows("corpus")
    index_by_id = {row["id"]: number for number, row in enumerate(corpus)}
    session = lambda row: (row.get("meta", {}).get("thread_id"), row.get("meta", {}).get("session"))
    group = lambda row: row.get("meta", {}).get("thread_id", "")
    relevant = {}
    for row in rows("qrels"):
        if row["doc_id"] in index_by_id:
            relevant.setdefault(row["query_id"], {})[index_by_id[row["doc_id"]]] = row["relevance"]
    questions = []
    for row in rows("queries"):
        if row["id"] not in relevant or (name == "locomo" and row["meta"]["category"] == 5):
            continue
        split = row.get("meta", {}).get("split", "test")
        if split == "dev" and name in PARTLY_TRAINED:
            split = "dev" if is_in_share(row["id"], HELD_OUT_SHARE) else "train"
        questions.append((row["text"], relevant[row["id"]], split, group(row)))
    passages = [f"{row['title']}\n{row['text']}" if row.get("title") else row["text"] for row in corpus]
    before = [number - 1 if number and group(row) and session(corpus[number - 1]) == session(row) else None for number, row in enumerate(corpus)]
    return Collection(name, passages, [group(row) for row in corpus], questions, before)


def held_out(collection):
    """Returns the passages that answer only test or dev questions. Training uses them neither as positives nor as negatives.

    As negatives, the model would learn to rank them too low; as positives, its test results would be too good.
    """
    answers = lambda *splits: {at for _, relevant, split, _ in collection.questions if split in splits for at in relevant}
    return answers("test", "dev") - answers("train")


def add_written_questions(folder, collection):
    """Adds the questions that were written for passages of the collection, from files with lines "passage | question"."""
    unseen = held_out(collection)
    for path in sorted(Path(folder).glob(f"{collection.name}-*.txt")):
        for line in path.read_text("utf-8").splitlines():
            number, _, text = line.partition("|")
            if number.strip().isdigit() and text.strip() and int(number) not in unseen:
                collection.questions.append((text.strip(), {int(number): 1}, "train", ""))


SHORT_CHARS_MAX, CONTEXT_CHARS = 400, 160


def in_context(collection):
    """Prefixes each short passage with the end of the previous one, as the product does for short turns."""

    def with_context(text, before):
        if before is None or len(text) > SHORT_CHARS_MAX or len(collection.passages[before]) > SHORT_CHARS_MAX:
            return text
        return f"{collection.passages[before][-CONTEXT_CHARS:]} » {text}"

    passages = [with_context(text, before) for text, before in zip(collection.passages, collection.before)]
    return Collection(f"{collection.name} in context", passages, collection.groups, collection.questions, collection.before)


def save(collections, path):
    with lzma.open(path, "wt", preset=3) as file:
        for each in collections:
            json.dump([each.name, each.passages, each.groups, each.questions, each.before], file, ensure_ascii=False)
            file.write("\n")


def load(path):
    for line in lzma.open(path, "rt"):
        name, passages, groups, questions, before = json.loads(line)
        questions = [(text, {int(at): gain for at, gain in relevant.items()}, split, group) for text, relevant, split, group in questions]
        yield Collection(name, passages, groups, questions, before)


def ndcg(ranking, relevant):
    gains = [relevant.get(each, 0) for each in ranking[:10]]
    ideal = sorted(relevant.values(), reverse=True)[:10]
    total = lambda values: sum(gain / math.log2(at + 2) for at, gain in enumerate(values))
    return total(gains) / total(ideal)


def shuffled(items, seed):
    items = list(items)
    random.Random(seed).shuffle(items)
    return items


MEASURED_ONLY = ("locomo", "long-messages")  # their licences do not permit training


def selection_metric(figures):
    """Returns the metric by which weights are selected: the mean nDCG@10 over the sets that may be used for it."""
    values = [value for name, value in figures.items() if name not in MEASURED_ONLY]
    return sum(values) / len(values)
