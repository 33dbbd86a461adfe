"""Gathers the corpus: python3 bench/corpus/gather.py FOLDER

Downloads the packages of sources.json and unpacks their test documents. Another program extracts the
text of each, which is written to NAME.reference.txt beside it. Needs pdftotext, pandoc, antiword and soffice (Debian's poppler-utils,
pandoc, antiword, libreoffice-impress-nogui) and the PyPI packages of requirements.txt.
"""
import email
import email.policy
import hashlib
import io
import json
import re
import signal
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from pathlib import Path

FORMATS = "pdf docx doc xlsx xls pptx ppt odt ods odp epub rtf msg eml".split()
TIMEOUT_SECONDS = 30


def members(archive):
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            for name in packed.namelist():
                yield name, lambda: packed.read(name)
    else:
        with tarfile.open(archive) as packed:
            for member in packed:
                if member.isfile():
                    yield member.name, lambda: packed.extractfile(member).read()


def unpack(source, archive, folder):
    """Unpacks the documents of one package. A file that several packages contain is stored once."""
    seen = {path.name.split("-", 1)[0] for path in folder.glob("*/*")}
    for name, read in members(archive):
        kind = Path(name).suffix.lower().lstrip(".")
        if source.get("mails", "\0") in name and kind == "txt":
            kind = "eml"
        if kind not in FORMATS:
            continue
        data = read()
        digest = hashlib.sha256(data).hexdigest()[:12]
        if digest in seen or not data:
            continue
        seen.add(digest)
        target = folder / kind
        target.mkdir(parents=True, exist_ok=True)
        stem = re.sub(r"[^\w.-]+", "_", Path(name).stem)[:60]
        (target / f"{digest}-{source['name']}-{stem}.{kind}").write_bytes(data)


def run(*command):
    # Standard error is discarded, because some of these programs would fill its pipe.
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=TIMEOUT_SECONDS)
    if done.returncode != 0:
        raise ValueError("refused")
    return done.stdout.decode("utf8", "replace")


def pandoc(path):
    return run("pandoc", "--wrap=none", "-t", "plain", str(path))


def read_pptx(path):
    from pptx import Presentation

    lines = []

    def shape_text(shape):
        if shape.has_text_frame:
            lines.extend(paragraph.text for paragraph in shape.text_frame.paragraphs)
        if getattr(shape, "has_table", False) and shape.has_table:
            lines.extend(cell.text for row in shape.table.rows for cell in row.cells)
        for inner in getattr(shape, "shapes", []):
            shape_text(inner)

    for slide in Presentation(str(path)).slides:
        for shape in slide.shapes:
            shape_text(shape)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(lines)


def read_xlsx(path):
    import openpyxl

    book = openpyxl.load_workbook(path, data_only=True, read_only=True)
    return "\n".join(
        "\n".join([sheet.title, *(str(value) for row in sheet.iter_rows(values_only=True) for value in row if value is not None)])
        for sheet in book.worksheets
    )


def read_xls(path):
    import xlrd

    book = xlrd.open_workbook(path, logfile=io.StringIO())
    return "\n".join(
        "\n".join([sheet.name, *(str(value) for row in range(sheet.nrows) for value in sheet.row_values(row))])
        for sheet in book.sheets()
    )


def read_odf(path):
    from odf import opendocument, table, teletype, text

    document = opendocument.load(str(path))
    paragraphs = (text.P().qname, text.H(outlinelevel=1).qname)
    sheet = table.Table(name="x").qname
    lines = []

    def walk(node):
        if getattr(node, "qname", None) in paragraphs:
            lines.append(teletype.extractText(node))
            return
        if getattr(node, "qname", None) == sheet:
            lines.append(node.getAttribute("name") or "")
        for child in getattr(node, "childNodes", []):
            walk(child)

    walk(document.body)
    return "\n".join(lines)


def convert_ppt(path):
    """Converts a presentation with LibreOffice. The first call converts all of them."""
    folder = path.parent.parent.parent / "converted"
    if not folder.exists():
        folder.mkdir()
        signal.alarm(0)
        files = [str(each) for each in sorted(path.parent.glob("*.ppt"))]
        for first in range(0, len(files), 10):
            command = ["soffice", "--headless", "--convert-to", "odp", "--outdir", str(folder), *files[first : first + 10]]
            try:
                subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            except subprocess.TimeoutExpired:
                pass
    return folder / (path.stem + ".odp")


def read_rtf(path):
    from striprtf.striprtf import rtf_to_text

    return rtf_to_text(path.read_bytes().decode("latin1"), errors="ignore")


def read_msg(path):
    import extract_msg

    with extract_msg.openMsg(str(path)) as message:
        return "\n".join(str(part) for part in (message.sender, message.to, message.subject, message.body) if part)


def read_eml(path):
    message = email.message_from_bytes(path.read_bytes(), policy=email.policy.default)
    body = message.get_body(preferencelist=("plain",))
    parts = [message["from"], message["to"], message["subject"], body.get_content() if body else ""]
    return "\n".join(str(part) for part in parts if part)


READERS = {
    "pdf": lambda path: run("pdftotext", "-enc", "UTF-8", str(path), "-"),
    "docx": pandoc,
    "odt": pandoc,
    "epub": pandoc,
    # antiword prints [pic] for a picture.
    "doc": lambda path: run("antiword", "-m", "UTF-8", "-w", "0", str(path)).replace("[pic]", " "),
    "ppt": lambda path: read_odf(convert_ppt(path)),
    "pptx": read_pptx,
    "xlsx": read_xlsx,
    "xls": read_xls,
    "ods": read_odf,
    "odp": read_odf,
    "rtf": read_rtf,
    "msg": read_msg,
    "eml": read_eml,
}


def raise_timeout(*_):
    raise TimeoutError


def write_reference(path):
    target = path.with_name(path.name + ".reference.txt")
    if target.exists():
        return
    signal.signal(signal.SIGALRM, raise_timeout)
    signal.alarm(TIMEOUT_SECONDS)
    try:
        text = READERS[path.suffix.lstrip(".")](path)
    except BaseException as error:  # Any failure of a reader counts as no text.
        if isinstance(error, KeyboardInterrupt):
            raise
        text = ""
    finally:
        signal.alarm(0)
    target.write_text(text, "utf8", errors="replace")


def main(folder):
    packages = folder / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    for source in json.loads((Path(__file__).parent / "sources.json").read_text()):
        archive = packages / source["url"].rsplit("/", 1)[1]
        if not archive.exists():
            print("fetching", source["name"], file=sys.stderr)
            with urllib.request.urlopen(source["url"], timeout=300) as answer:
                archive.write_bytes(answer.read())
        if hashlib.sha256(archive.read_bytes()).hexdigest() != source["sha256"]:
            raise SystemExit(f"{archive} does not match its checksum in sources.json. Delete it and try again.")
        done = archive.with_name(archive.name + ".unpacked")
        if not done.exists():
            unpack(source, archive, folder / "files")
            done.touch()
    for path in sorted((folder / "files").glob("*/*")):
        if not path.name.endswith(".reference.txt"):
            write_reference(path)


main(Path(sys.argv[1]))
