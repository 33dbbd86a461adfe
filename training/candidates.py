"""What the hybrid would hand to the reranker: for each question its best 50, with the scores of both legs.

Each collection is also asked some questions of the others, which it cannot answer (split "foreign").

python3 candidates.py JUDGED.xz VECTORS.npz OUT.json.xz
"""

import json
import lzma
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from data import SEED, Words, hybrid, load, shuffled

DEPTH = 50


def candidates_of(job):
    name, passages, numbers, vectors, questions = job
    words = Words(passages)
    rows = []
    for of, index, text, relevant, split, vector in questions:
        shares = words.shares(text)
        cosines = (vectors @ vector).tolist()
        best = hybrid(shares, cosines, code=1.0 if name == "cosqa" else 0.0)[: DEPTH if split != "foreign" else 20]
        rows.append({
            "set": name, "of": of, "question": index, "split": split,
            "relevant": {str(numbers_at): gain for numbers_at, gain in relevant.items()},
            "candidates": [
                [numbers[number], round(score, 5), round(shares.get(number, (0, 0))[0], 5), round(shares.get(number, (0, 0))[1], 5), round(cosines[number], 5)]
                for number, score in best
            ],
        })
    return rows


FOREIGN = 40  # questions for each collection


def jobs(judged, vectors, splits):
    collections = list(load(judged))
    held = {each.name: [vectors[f"{each.name}/{part}"].astype(np.float32) for part in ("passages", "questions")] for each in collections}
    chosen = [
        (each.name, at, text, {}, "foreign", held[each.name][1][at])
        for each in collections
        for at, (text, _, split, _) in enumerate(each.questions)
        if split == "choose" or (split == "dev" and each.name != "cranfield")
    ]
    for each in collections:
        passages, questions = held[each.name]
        others = [question for question in shuffled(chosen, f"{SEED}/{each.name}") if question[0] != each.name]
        if each.name == "locomo":
            others = [question for question in others if question[0] != "written"]
        for place, (group, numbers) in enumerate(each.members.items()):
            asked = [
                (each.name, at, text, relevant, split, questions[at])
                for at, (text, relevant, split, of) in enumerate(each.questions)
                if of == group and split in splits
            ]
            if any(split in ("dev", "choose") for *_, split, _ in asked):
                count = FOREIGN if len(each.members) < 4 else 4
                asked.extend(others[place * count : (place + 1) * count])
            for start in range(0, len(asked), 150):
                yield each.name, [each.passages[number] for number in numbers], numbers, passages[numbers], asked[start : start + 150]


def main():
    judged, vectors, out = sys.argv[1:4]
    with ProcessPoolExecutor(8) as pool, lzma.open(out, "wt", preset=3) as file:
        for rows in pool.map(candidates_of, jobs(judged, np.load(vectors), ("dev", "choose", "train", "test"))):
            for row in rows:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
