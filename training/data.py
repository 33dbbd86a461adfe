"""What is trained on and measured with, in one shape: collections of passages with questions."""

import hashlib
import json
import lzma
import math
import random
import re
from collections import Counter
from pathlib import Path

SEED = 20261115
KEPT_OUT = 0.3  # share of the dev questions that choose the model and fit the calibration


def part_of(text, share):
    return int(hashlib.md5(f"{SEED}{text}".encode()).hexdigest(), 16) % 1000 < share * 1000


class Collection:
    """Passages, and questions as (text, {passage: gain}, split, group). A question sees the passages of its group."""

    def __init__(self, name, passages, groups, questions):
        self.name, self.passages, self.groups, self.questions = name, passages, groups, questions
        self.members = {}
        for at, group in enumerate(groups):
            self.members.setdefault(group, []).append(at)


def judged(folder, name):
    rows = lambda part: [json.loads(line) for line in open(Path(folder) / name / f"{part}.jsonl")]
    corpus = rows("corpus")
    at = {row["id"]: number for number, row in enumerate(corpus)}
    group = lambda row: row.get("meta", {}).get("thread_id", "") if name == "locomo" else ""
    relevant = {}
    for row in rows("qrels"):
        if row["doc_id"] in at:
            relevant.setdefault(row["query_id"], {})[at[row["doc_id"]]] = row["relevance"]
    questions = []
    for row in rows("queries"):
        if row["id"] not in relevant or (name == "locomo" and row["meta"]["category"] == 5):
            continue
        split = row.get("meta", {}).get("split", "test")
        if split == "dev" and name in ("scifact", "cosqa", "chroma-chunking"):
            split = "choose" if part_of(row["id"], KEPT_OUT) else "train"
        questions.append((row["text"], relevant[row["id"]], split, group(row)))
    passages = [f"{row['title']}\n{row['text']}" if row.get("title") else row["text"] for row in corpus]
    return Collection(name, passages, [group(row) for row in corpus], questions)


def written(folder, kept_out=0.15):
    """Conversations as a memory keeps them: a passage for each turn."""
    passages, groups, questions = [], [], []
    for path in sorted(Path(folder).glob("*.jsonl")):
        for line in open(path):
            if not line.strip():
                continue
            chat = json.loads(line)
            start = len(passages)
            for turn in chat["turns"]:
                passages.append(f"{turn['speaker']}: {turn['text']}")
                groups.append(chat["id"])
            split = "choose" if part_of(chat["id"], kept_out) else "train"
            for each in chat["questions"]:
                answers = {start + number: 1 for number in each["answers"] if 0 <= number < len(chat["turns"])}
                if answers:
                    questions.append((each["q"], answers, split, chat["id"]))
    return Collection("written", passages, groups, questions)


def save(collections, path):
    with lzma.open(path, "wt", preset=6) as file:
        for each in collections:
            json.dump([each.name, each.passages, each.groups, each.questions], file, ensure_ascii=False)
            file.write("\n")


def load(path):
    for line in lzma.open(path, "rt"):
        name, passages, groups, questions = json.loads(line)
        questions = [(text, {int(at): gain for at, gain in relevant.items()}, split, group) for text, relevant, split, group in questions]
        yield Collection(name, passages, groups, questions)


STOP = set("a an the of to in on for and or is are was were be been it its this that with as at by from".split())


def terms(text):
    """Close to the product's stems: lower case, plain plural and verb endings off."""
    found = []
    for word in re.findall(r"[a-z0-9]+", text.lower()):
        for ending, least in (("ies", 5), ("ing", 6), ("ed", 5), ("es", 5), ("s", 4)):
            if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
                word = word[: -len(ending)] + ("y" if ending == "ies" else "")
                break
        found.append(word.rstrip("e") if len(word) > 4 else word)
    return found


class Words:
    """BM25 over some passages, as a share of the most that the question could reach."""

    def __init__(self, passages, k1=1.2, b=0.75):
        self.k1 = k1
        self.postings, lengths = {}, []
        for number, text in enumerate(passages):
            counts = Counter(terms(text))
            lengths.append(sum(counts.values()))
            for term, count in counts.items():
                self.postings.setdefault(term, []).append((number, count))
        self.count = len(passages)
        mean = max(1, sum(lengths) / max(1, len(lengths)))
        self.norms = [k1 * (1 - b + b * length / mean) for length in lengths]

    def weight(self, term):
        found = len(self.postings.get(term, ()))
        return math.log(1 + (self.count - found + 0.5) / (found + 0.5))

    def shares(self, question):
        """{passage: (share of BM25, share of the matched IDF mass)}"""
        asked = {term for term in terms(question) if term not in STOP} or set(terms(question))
        most = sum(self.weight(term) for term in asked) or 1
        scores = {}
        for term in asked:
            weight = self.weight(term)
            for number, count in self.postings.get(term, ()):
                bm25, mass = scores.get(number, (0, 0))
                scores[number] = (bm25 + weight * count * (self.k1 + 1) / (count + self.norms[number]) / (self.k1 + 1), mass + weight)
        return {number: (bm25 / most, mass / most) for number, (bm25, mass) in scores.items()}


def hybrid(shares, cosines, code=0.0, depth=100):
    """The product's weighted sum over the best of both legs: [(passage, score)], the best first."""
    by_words = sorted(shares, key=lambda number: -shares[number][0])[:depth]
    by_meaning = sorted(range(len(cosines)), key=lambda number: -cosines[number])[:depth]
    candidates = list(dict.fromkeys(by_words + by_meaning))
    found = sorted((shares.get(number, (0, 0))[0] for number in candidates), reverse=True)
    flatness = (found[49] if len(found) > 49 else 0) / found[0] if found and found[0] else 0
    weight = min(0.95, max(0.05, 0.3 + 0.6 * flatness + 0.35 * code)) if found and found[0] else 1
    best = max(cosines)
    score = lambda number: (1 - weight) * shares.get(number, (0, 0))[0] + weight * max(0, 1 - (best - cosines[number]) / 0.25)
    return sorted(((number, score(number)) for number in candidates), key=lambda each: -each[1])


def ndcg(ranking, relevant):
    gains = [relevant.get(each, 0) for each in ranking[:10]]
    ideal = sorted(relevant.values(), reverse=True)[:10]
    total = lambda values: sum(gain / math.log2(at + 2) for at, gain in enumerate(values))
    return total(gains) / total(ideal)


def shuffled(items, seed):
    items = list(items)
    random.Random(seed).shuffle(items)
    return items
