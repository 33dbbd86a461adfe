"""Turns packages into question → passage pairs by rule, without human labelling.

python3 make_pairs.py PACKAGES_FOLDER OUT.jsonl

- docstring: the first sentence of a Python docstring → the function without that sentence
- heading: the heading of a section in documentation (Markdown, reStructuredText) → the section
- cloze: a sentence → the rest of its paragraph
"""

import ast
import hashlib
import io
import json
import random
import re
import sys
import tarfile
import zipfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

SEED = 20261115
PASSAGE_CHARS_MAX = 1100  # characters of a passage; about 256 word pieces
GENERIC = set(
    """installation install installing usage license licence contributing contributors changelog api example examples
    introduction overview features todo credits authors author acknowledgements requirements documentation docs support
    getting started quickstart quick start notes note description options methods parameters returns see also references
    table of contents contents summary development testing tests build building links resources status badges donate
    sponsors backers community security thanks related faq properties props events arguments syntax about configuration""".split()
)
STOP = set("a an the of to in on for and or is are was were be been it its this that with as at by from how do does i you we can".split())


def clean(text):
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<!--.*?-->", " ", text, flags=re.S)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"<[^>\n]{1,200}>", " ", text)
    text = re.sub(r":[a-z:]+:`~?([^`<]+)(?: <[^`]*>)?`", r"\1", text)
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[ \t]+", " ", text))
    return text.strip()


def truncate(text):
    if len(text) <= PASSAGE_CHARS_MAX:
        return text
    end = max(text.rfind("\n", 0, PASSAGE_CHARS_MAX), text.rfind(". ", 0, PASSAGE_CHARS_MAX) + 1)
    return text[: end if end > PASSAGE_CHARS_MAX // 2 else PASSAGE_CHARS_MAX].strip()


def is_english(text):
    letters = sum(each.isascii() and (each.isalpha() or each == " ") for each in text)
    return len(text) > 0 and letters / len(text) > 0.6


def sentences(paragraph):
    return [each.strip() for each in re.split(r"(?<=[.!?])\s+(?=[A-Z\"“])", paragraph.strip()) if each.strip()]


def docstrings(source, rng):
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or not ast.get_docstring(node):
            continue
        opening = " ".join(ast.get_docstring(node).split("\n\n")[0].split())
        first = sentences(opening)[0].rstrip(".") if sentences(opening) else ""
        words = first.split()
        if not 4 <= len(words) <= 30 or not is_english(first) or len(node.body) < 2:
            continue
        head = lines[node.lineno - 1 : node.body[0].lineno - 1]
        body = lines[node.body[0].end_lineno : node.end_lineno]
        code = "\n".join(head + docstring_rest(node, opening, rng) + body)
        indent = len(lines[node.lineno - 1]) - len(lines[node.lineno - 1].lstrip())
        code = "\n".join(line[indent:] if line[:indent].strip() == "" else line for line in code.splitlines())
        if not 80 <= len(code):
            continue
        phrase = first[:1].lower() + first[1:]
        question = rng.choice([first, first, phrase, f"python {phrase.lower()}", f"{phrase.lower()} python", f"how to {phrase.lower()} in python"])
        yield {"kind": "docstring", "q": question, "p": truncate(code)}


def docstring_rest(node, opening, rng):
    """Returns the docstring without its first sentence, for half of the functions: real code often has such comments."""
    rest = [*sentences(opening)[1:], *ast.get_docstring(node).split("\n\n")[1:]]
    if not rest or rng.random() < 0.5:
        return []
    indent = " " * node.body[0].col_offset
    return [f'{indent}"""', *(indent + line for part in rest for line in part.splitlines()), f'{indent}"""']


def sections_of(text):
    """Yields (headings above, heading, body) for each section of Markdown or reStructuredText."""
    text = text.replace("\r\n", "\n")
    text = re.sub(r"^(?P<head>[^\n]{3,90})\n(?P<bar>[=\-~^\"'#*+]{3,})[ ]*$", lambda m: f"\n{'#' * (1 + '=-~^'.find(m['bar'][0]) % 4)} {m['head']}", text, flags=re.M)
    parts = re.split(r"^(#{1,5})[ \t]+(.+?)[ \t#]*$", text, flags=re.M)
    ancestors = []
    for at in range(1, len(parts) - 2, 3):
        level, heading, body = len(parts[at]), clean(parts[at + 1]), parts[at + 2]
        heading = re.sub(r"[`*_]|\(#[^)]*\)|\{#.*?\}", "", heading).strip()
        ancestors = [each for each in ancestors if each[0] < level]
        yield [each[1] for each in ancestors], heading, body
        ancestors.append((level, heading))


def from_sections(sections, name, rng):
    for ancestors, heading, body in sections:
        body = clean(body)
        words = re.findall(r"[A-Za-z']+", heading.lower())
        if body.startswith("Table of Contents") or re.search(r"release|version \d|^\d+\.\d+", heading.lower()):
            continue
        if len(body) < 140 or not is_english(body[:PASSAGE_CHARS_MAX]) or not words or len(heading) > 120:
            continue
        is_generic = all(word in GENERIC for word in words) or len(words) == 1
        parent = ancestors[-1] if ancestors and ancestors[-1].lower() != heading.lower() else name
        question = f"{parent} {heading}" if is_generic else heading if rng.random() < 0.6 else f"{parent}: {heading}"
        if is_generic and rng.random() < 0.6:
            continue
        passage = truncate(body)
        if heading.endswith("?"):
            yield {"kind": "faq", "q": heading, "p": passage}
        elif re.match(r"(how|what|why|when|where|who|which|can|does|do|is|are)\b", heading.lower()):
            yield {"kind": "faq", "q": heading, "p": passage}
        else:
            yield {"kind": "heading", "q": keywords(question) if rng.random() < 0.15 else question, "p": passage}
        yield from cloze(body, rng, 0.35)


def keywords(text):
    words = [word for word in re.findall(r"[\w'-]+", text.lower()) if word not in STOP]
    return " ".join(words) if len(words) > 1 else text


def cloze(body, rng, share):
    for paragraph in re.split(r"\n\s*\n", body):
        paragraph = " ".join(paragraph.split())
        if "```" in paragraph or len(paragraph) < 260 or not is_english(paragraph) or rng.random() > share:
            continue
        parts = sentences(paragraph)
        if len(parts) < 3:
            continue
        at = rng.randrange(len(parts))
        words = parts[at].split()
        if not 5 <= len(words) <= 35:
            continue
        rest = truncate(" ".join(parts[:at] + parts[at + 1 :]))
        question = parts[at] if rng.random() < 0.6 else keywords(parts[at])
        yield {"kind": "cloze", "q": question, "p": rest}


def members(path):
    """Yields (name, text) of the files that are used."""
    included = re.compile(r"\.(py|md|rst|markdown)$|/docs?/.*\.txt$", re.I)
    skipped = re.compile(r"(^|/)(tests?|testing|_vendor|vendor|node_modules|locale|fixtures|licenses?)/|changelog|changes|history|license|copying|authors|security\.md|code_of_conduct", re.I)
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    if included.search(info.filename) and not skipped.search(info.filename) and info.file_size < 400_000:
                        yield info.filename, archive.read(info).decode("utf-8", "replace")
        else:
            with tarfile.open(path) as archive:
                for info in archive:
                    if info.isfile() and included.search(info.name) and not skipped.search(info.name) and info.size < 400_000:
                        yield info.name, archive.extractfile(info).read().decode("utf-8", "replace")
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError, KeyError):
        return


def from_package(path):
    rng = random.Random(f"{SEED}/{path.name}")
    name = path.name.removesuffix(".tar.gz").removesuffix(".whl")
    code, prose, read = [], [], 0
    for file, text in members(path):
        read += 1
        if read > 1500:
            break
        if file.endswith(".py"):
            if len(code) < 600:
                code.extend(docstrings(text, rng))
        elif len(prose) < 800:
            prose.extend(from_sections(sections_of(text), name, rng))
    rng.shuffle(code)
    rng.shuffle(prose)
    faq = [each for each in prose if each["kind"] == "faq"]
    other = [each for each in prose if each["kind"] != "faq"]
    return [{**each, "source": name} for each in code[:90] + faq[:60] + other[:90]]


def main():
    folder, out = Path(sys.argv[1]), Path(sys.argv[2])
    packages = sorted([*folder.glob("*.tar.gz"), *folder.glob("*.whl")])
    seen, counts = set(), {}
    with open(out, "w") as file, ProcessPoolExecutor(2) as pool:
        def write(pairs):
            for pair in pairs:
                keys = [hashlib.md5(pair[part][:300].lower().encode()).digest() for part in ("q", "p")]
                if any(key in seen for key in keys):
                    continue
                seen.update(keys)
                counts[pair["kind"]] = counts.get(pair["kind"], 0) + 1
                file.write(json.dumps(pair, ensure_ascii=False) + "\n")

        for done, pairs in enumerate(pool.map(from_package, packages, chunksize=4)):
            write(pairs)
            if done % 200 == 0:
                print(done, "of", len(packages), counts, flush=True)
    print(counts)
    list_sources(folder, out)


def list_sources(folder, out):
    """Writes sources.tsv next to the pairs: their packages, with version, licence and number of pairs."""
    pairs = Counter(json.loads(line)["source"] for line in open(out))
    sources = {row["name"]: row for row in map(json.loads, open(folder / "sources.jsonl"))}
    rows = [(name, sources[name]["version"], " ".join(sources[name]["licence"].split()).split("License :: OSI Approved :: ")[-1], count) for name, count in sorted(pairs.items())]
    with open(out.with_name("sources.tsv"), "w") as file:
        file.write("name\tversion\tlicence\tpairs\n")
        file.writelines("\t".join(map(str, row)) + "\n" for row in rows)


main()
