"""Converts the conversations written for training to the format of the judged sets.

python3 written.py written/chats OUT_FOLDER/chats

A text file has conversations: a line "## kind-name", turns as "1 Nora: …", and questions as "? 1,7 | …" with the turns that
answer them. Some conversations are held out of training (split "dev").
"""

import json
import re
import sys
from pathlib import Path

from data import is_in_share

HELD_OUT_SHARE = 0.12


def conversations(folder):
    for path in sorted(Path(folder).glob("*.txt")):
        for part in re.split(r"^## +", path.read_text("utf-8"), flags=re.M)[1:]:
            name, *lines = [line.strip() for line in part.strip().splitlines()]
            turns = dict(match.groups() for line in lines if (match := re.match(r"(\d+)[ .|]+(\S.*)", line)))
            questions = [match.groups() for line in lines if (match := re.match(r"\?\s*([\d,\s]+)\|\s*(\S.*)", line))]
            yield name.strip(), turns, questions


def main():
    texts, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    counts, invalid = {}, 0
    with open(out / "corpus.jsonl", "w") as corpus, open(out / "queries.jsonl", "w") as queries, open(out / "qrels.jsonl", "w") as qrels:
        write = lambda file, row: file.write(json.dumps(row, ensure_ascii=False) + "\n")
        for name, turns, questions in conversations(texts):
            kind, split = name.split("-")[0], "dev" if is_in_share(name, HELD_OUT_SHARE) else "train"
            for number, text in turns.items():
                write(corpus, {"id": f"{name}/{number}", "text": text, "meta": {"thread_id": name, "session": 1}})
            for at, (numbers, question) in enumerate(questions):
                answers = [each for each in re.findall(r"\d+", numbers)]
                if not answers or any(each not in turns for each in answers):
                    invalid += 1
                    continue
                write(queries, {"id": f"{name}/q{at}", "text": question, "meta": {"split": split, "thread_id": name}})
                for each in answers:
                    write(qrels, {"query_id": f"{name}/q{at}", "doc_id": f"{name}/{each}", "relevance": 1})
                counts[(kind, split)] = counts.get((kind, split), 0) + 1
    print(counts, "skipped because of a wrong number:", invalid)


main()
