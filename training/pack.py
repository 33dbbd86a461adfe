"""Packs the files for the GPU machine.

python3 pack.py PAIRS.jsonl JUDGED_FOLDER WRITTEN_FOLDER OUT_FOLDER

WRITTEN_FOLDER has chats/, which written.py made, and asked/, which is in written/.
"""

import json
import lzma
import sys
from pathlib import Path

import data

PAIRS_MAX = {"docstring": 24000, "heading": 22000}


def main():
    pairs, judged_folder, written, out = (Path(each) for each in sys.argv[1:5])
    kinds = {}
    for line in open(pairs):
        pair = json.loads(line)
        kinds.setdefault(pair["kind"], []).append(pair)
    with lzma.open(out / "pairs.jsonl.xz", "wt", preset=3) as file:
        for kind, pairs_of_kind in sorted(kinds.items()):
            selected = data.shuffled(pairs_of_kind, f"{data.SEED}/{kind}")[: PAIRS_MAX.get(kind)]
            selected.sort(key=lambda pair: pair["source"])
            for pair in selected:
                file.write(json.dumps({"kind": kind, "q": pair["q"], "p": pair["p"]}, ensure_ascii=False) + "\n")
            print(kind, len(pairs_of_kind), "selected", len(selected))
    sets = [data.load_judged(judged_folder, name) for name in ("scifact", "cosqa", "chroma-chunking", "cranfield", "locomo", "long-messages")]
    for each in sets:
        data.add_written_questions(written / "asked", each)
    sets.append(data.load_judged(written, "chats"))
    data.save(sets, out / "judged.xz")
    for each in sets:
        splits = [split for _, _, split, _ in each.questions]
        print(each.name, len(each.passages), {split: splits.count(split) for split in sorted(set(splits))})


main()
