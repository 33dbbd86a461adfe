"""Filters a public collection of questions and passages by licence: training a shipped model must be permitted.

python3 public.py COLLECTION_FOLDER OUT_FOLDER

COLLECTION_FOLDER has train.jsonl.xz, with one passage a line: {"p": text, "q": questions it answers, "s": source, "g": conversation},
and drop.txt with the numbers of lines to leave out. Writes OUT_FOLDER/public.jsonl.xz.
"""

import json
import lzma
import sys
from pathlib import Path

# Unclear licences, embedded third-party texts, or our own conversations, which are packed separately.
EXCLUDED = {"acl", "pycode", "friendsqa", "ni-cosmosqa", "ni-tweetqa", "ni-mocha", "made", "written"}
PASSAGE_CHARS_MAX = 1500  # characters of a passage; training reads 320 word pieces


def kind_of(source):
    """Returns the kind of a source. Sources of one kind share a pool of passages for negatives."""
    return source.split("-")[0]


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    dropped = set(map(int, (folder / "drop.txt").read_text().split()))
    counts = {}
    with lzma.open(folder / "train.jsonl.xz", "rt") as lines, lzma.open(out / "public.jsonl.xz", "wt", preset=6) as file:
        for number, line in enumerate(lines):
            row = json.loads(line)
            if number in dropped or row["s"] in EXCLUDED or kind_of(row["s"]) in EXCLUDED:
                continue
            kind = kind_of(row["s"])
            counts[kind] = counts.get(kind, 0) + len(row.get("q", ()))
            row = {"kind": kind, "p": row["p"][:PASSAGE_CHARS_MAX], "q": row.get("q", []), "g": row.get("g", -1)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(counts)


main()
