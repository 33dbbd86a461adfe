"""Trains the teacher (12 layers, from gte-small) and the student (6 layers, from the teacher) on one GPU.

python3 train.py DATA_FOLDER GTE_FOLDER OUT_FOLDER

DATA_FOLDER has judged.xz and pairs.jsonl.xz (pack.py) and candidates.jsonl.xz (bench/quality/candidates.ts). Time decides how
long each stage runs: TEACHER_S and STUDENT_S (seconds). With CONTINUE=MODEL.onnx there is no teacher: that student is trained on
with the labels.
"""

import json
import lzma
import os
import random
import re
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import data
from chats import made_chats
from cross_encoder import load_exported, load_quantised, student_of

STARTED = time.time()
FOLDER, GTE, OUT = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LOW = torch.bfloat16 if DEVICE == "cuda" else torch.float32
SMALL = os.environ.get("SMALL") == "1"  # a few steps on a few pairs, to see that it runs
TEACHER_S, STUDENT_S = float(os.environ.get("TEACHER_S", 560)), float(os.environ.get("STUDENT_S", 600))
QUESTIONS = int(os.environ.get("QUESTIONS", 4 if SMALL else 64))  # in a step
NEGATIVES, RANDOM_NEGATIVES = 6, 1
LISTED = 1 + NEGATIVES + RANDOM_NEGATIVES
QUESTION_PIECES, PASSAGE_PIECES = 64, 256
CLS, SEP = 101, 102
MOST_TOKENS = 65536  # in one forward pass
KEPT = [int(each) for each in os.environ.get("KEPT", "1,3,5,7,9,11").split(",")]

# How often a question is drawn from each source.
SHARES = {
    "chats": 0.15, "chats in context": 0.13, "made": 0.05, "made in context": 0.04,
    "docstring": 0.12, "faq": 0.07, "heading": 0.1, "cloze": 0.06, "prose": 0.03, "describe": 0.02, "gloss": 0.01,
    "scifact": 0.08, "cosqa": 0.08, "chroma-chunking": 0.04, "title": 0.02, "own sentence": 0.03, "own docstring": 0.02,
}
CHATS = ("chats", "chats in context", "made", "made in context")
random.seed(data.SEED)
np.random.seed(data.SEED)
torch.manual_seed(data.SEED)
torch.backends.cuda.matmul.allow_tf32 = True


def say(*what):
    print(f"[{time.time() - STARTED:5.0f}s]", *what, flush=True)


class Texts:
    """Word pieces of many texts, flat on the device."""

    def __init__(self, texts, tokenizer, longest):
        pieces = []
        for start in range(0, len(texts), 20000):
            batch = [text[: longest * 12] for text in texts[start : start + 20000]]
            pieces.extend(each.ids[:longest] for each in tokenizer.encode_batch(batch, add_special_tokens=False))
        self.lengths = np.array([len(each) for each in pieces], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)[:-1]]).astype(np.int64)
        self.flat = torch.tensor(np.fromiter((one for each in pieces for one in each), dtype=np.int32, count=int(self.lengths.sum())), device=DEVICE)
        self.flat = torch.cat([self.flat, torch.zeros(1, dtype=torch.int32, device=DEVICE)])

    def at(self, starts, lengths, places):
        inside = (places >= 0) & (places < lengths)
        index = torch.where(inside, starts + places, self.flat.numel() - 1)
        return self.flat[index].long(), inside


def plan(questions, passages, asked, shown):
    """Pairs in parts of like length, as [(where their pieces are, longest)], and how to restore the order given."""
    where = np.stack([questions.starts[asked], questions.lengths[asked], passages.starts[shown], passages.lengths[shown]])
    lengths = where[1] + where[3] + 3
    order = np.argsort(lengths, kind="stable")
    parts, start = [], 0
    while start < len(order):
        end = start
        while end < len(order) and (end - start + 1) * (lengths[order[end]] + 15) <= MOST_TOKENS:
            end += 1
        end = max(end, start + 1)
        own = order[start:end]
        parts.append((torch.from_numpy(where[:, own].copy()), int(-(-lengths[own].max() // 16) * 16)))
        start = end
    return parts, torch.from_numpy(np.argsort(order, kind="stable"))


def pair_batch(questions, passages, where, longest):
    """Input of the model for pairs, padded to the longest."""
    q_start, q_length, p_start, p_length = where.to(DEVICE, non_blocking=True)[:, :, None]
    places = torch.arange(longest, device=DEVICE)[None]
    q_ids, in_q = questions.at(q_start, q_length, places - 1)
    p_ids, in_p = passages.at(p_start, p_length, places - q_length - 2)
    total = q_length + p_length + 3
    ids = torch.where(in_q, q_ids, torch.where(in_p, p_ids, 0))
    ids = torch.where(places == 0, CLS, ids)
    ids = torch.where((places == q_length + 1) | (places == total - 1), SEP, ids)
    return ids, (places < total).long(), ((places > q_length + 1) & (places < total)).long()


def logits_of(model, questions, passages, planned):
    parts, back = planned
    found = [model(*pair_batch(questions, passages, where, longest)) for where, longest in parts]
    return torch.cat(found)[back.to(DEVICE, non_blocking=True)]


@torch.no_grad()
def vectors_of(model, texts):
    if SMALL:
        return torch.randn(len(texts.lengths), 384, device=DEVICE)
    order = np.argsort(texts.lengths, kind="stable")
    found = torch.empty(len(order), 384, device=DEVICE, dtype=LOW)
    for start in range(0, len(order), 512):
        chosen = order[start : start + 512]
        starts, lengths = torch.tensor(texts.starts[chosen], device=DEVICE)[:, None], torch.tensor(texts.lengths[chosen], device=DEVICE)[:, None]
        places = torch.arange(-(-(int(texts.lengths[chosen].max()) + 2) // 16) * 16, device=DEVICE)[None]
        ids, _ = texts.at(starts, lengths, places - 1)
        ids = torch.where(places == 0, CLS, torch.where(places == lengths + 1, SEP, ids))
        found[torch.tensor(chosen, device=DEVICE)] = model.vectors(ids, (places < lengths + 2).long()).to(LOW)
    return found


def read_pairs():
    """Collections of weak pairs. Documentation of all kinds shares one pool of passages for the negatives."""
    kinds = {}
    for line in lzma.open(FOLDER / "pairs.jsonl.xz", "rt"):
        pair = json.loads(line)
        kinds.setdefault(pair["kind"], []).append((pair["q"], pair["p"]))
    for kind, pairs in kinds.items():
        pairs = pairs[:60] if SMALL else pairs
        yield data.Collection(kind, [p for _, p in pairs], [kind] * len(pairs), [(q, {at: 1}, "train", kind) for at, (q, _) in enumerate(pairs)])


def from_corpora(judged):
    """Title → abstract, sentence → the rest, docstring → function; without passages that answer a test question."""
    titles, rests, functions = [], [], []
    rng = random.Random(f"{data.SEED}/corpora")
    for each in judged:
        if each.name not in ("scifact", "cosqa", "chroma-chunking"):
            continue
        tested = {at for _, relevant, split, _ in each.questions if split == "test" for at in relevant}
        for at, text in enumerate(each.passages):
            if at in tested:
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
        yield data.Collection(name, [p for _, p in pairs], [name] * len(pairs), [(q, {at: 1}, "train", name) for at, (q, _) in enumerate(pairs)])


class Lists:
    """Draws a question with one right passage and wrong ones, all as numbers into the texts."""

    def __init__(self, collections, offsets, q_vectors, p_vectors, q_offsets):
        self.sources, self.shares = [], []
        for each in collections:
            share = SHARES.get(each.name)
            asked = [at for at, question in enumerate(each.questions) if question[2] == "train"]
            if not share or not asked:
                continue
            self.sources.append(self.prepare(each, asked, offsets[each.name], q_offsets[each.name], q_vectors, p_vectors))
            self.shares.append(share)
            say("lists", each.name, len(asked), "questions")
        self.shares = np.array(self.shares) / sum(self.shares)
        self.turns = [[] for _ in self.sources]

    def prepare(self, each, asked, offset, q_offset, q_vectors, p_vectors):
        ready = []
        groups = {}
        for at in asked:
            groups.setdefault(each.questions[at][3], []).append(at)
        chat = each.name in CHATS
        for group, questions in groups.items():
            members = np.array(each.members[group]) + offset
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
                    ready.append((at + q_offset, right, wrong[keep][: 24 if chat else 48], beside(right, members) if chat else [], members))
        return ready

    def draw(self):
        """The turns beside the answer speak of the same, and one behind it is read in its context: they are drawn often."""
        source = np.random.choice(len(self.sources), p=self.shares)
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
        drawn = [self.draw() for _ in range(count)]
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
    def __init__(self, lists, questions, passages, seed):
        self.lists, self.questions, self.passages, self.seed = lists, Places(questions), Places(passages), seed

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        np.random.seed(self.seed + (worker.id if worker else 0))
        while True:
            yield plan(self.questions, self.passages, *self.lists.batch(QUESTIONS))


def train(model, lists, questions, passages, seconds, rate, loss_of, name):
    """bf16 weights with fp32 copies that the optimiser works on. The rate follows the clock."""
    model.train()
    low = list(model.parameters())
    high = [each.detach().float().clone() for each in low]
    for copy in high:
        copy.grad = torch.zeros_like(copy)
    head = [at for at, (what, _) in enumerate(model.named_parameters()) if what.startswith(("pool", "head"))]
    body = [at for at in range(len(high)) if at not in head]
    optimiser = torch.optim.AdamW([{"params": [high[at] for at in body], "scale": 1.0}, {"params": [high[at] for at in head], "scale": 3.0}], lr=rate, weight_decay=0.01, fused=DEVICE == "cuda")
    steps = Steps(lists, questions, passages, data.SEED + 1000 * len(model.layers))
    drawn = iter(torch.utils.data.DataLoader(steps, batch_size=None, num_workers=1 if SMALL else 8, pin_memory=DEVICE == "cuda", prefetch_factor=2 if SMALL else 8))
    begun, step, skipped, losses = time.time(), 0, 0, []
    while True:
        done = (time.time() - begun) / seconds
        if done >= 1 or (SMALL and step >= 4):
            break
        warm = min(1.0, (step + 1) / 150)
        for group in optimiser.param_groups:
            group["lr"] = rate * group["scale"] * warm * max(0.01, 1 - done)
        loss = loss_of(model, next(drawn))
        loss.backward()
        torch._foreach_copy_([copy.grad for copy in high], [each.grad for each in low])
        model.zero_grad(set_to_none=True)
        # A single overflow in bf16 would spoil everything.
        if torch.isfinite(torch.nn.utils.clip_grad_norm_(high, 1.0)):
            optimiser.step()
        else:
            skipped += 1
        with torch.no_grad():
            torch._foreach_copy_(low, high)
        losses.append(loss.detach())
        step += 1
        if step % 100 == 0:
            say(name, "step", step, "loss", round(torch.stack(losses[-100:]).mean().item(), 4))
    del drawn
    say(name, step, "steps", skipped, "skipped")
    model.eval()
    return {what: copy for (what, _), copy in zip(model.named_parameters(), high)}, step


def lowered(model):
    """bf16, with the head in fp32."""
    model = model.to(DEVICE).to(LOW)
    model.pool.float()
    model.head.float()
    return model


def main():
    tokenizer = Tokenizer.from_file(str(GTE / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    judged = list(data.load(FOLDER / "judged.xz"))
    made = made_chats(1 if SMALL else 1200)
    if SMALL:
        for each in judged:
            each.questions = each.questions[-40:]
    chats = [data.in_context(each) for each in (*judged, made) if any(at is not None for at in each.before)]
    collections = judged + [made] + chats + list(read_pairs()) + list(from_corpora(judged))
    offsets, q_offsets, all_passages, all_questions = {}, {}, [], []
    for each in collections:
        offsets[each.name], q_offsets[each.name] = len(all_passages), len(all_questions)
        all_passages.extend(each.passages)
        all_questions.extend(text for text, *_ in each.questions)
    say(len(all_passages), "passages", len(all_questions), "questions")
    passages, questions = Texts(all_passages, tokenizer, PASSAGE_PIECES), Texts(all_questions, tokenizer, QUESTION_PIECES)
    say("tokenised", int(passages.lengths.sum()), "pieces")
    continued = os.environ.get("CONTINUE")
    base = load_quantised(str(GTE / "model.onnx"))
    embedder = load_quantised(str(GTE / "model.onnx")).to(DEVICE).to(LOW).eval()
    p_vectors, q_vectors = vectors_of(embedder, passages), vectors_of(embedder, questions)
    say("embedded")
    lists = Lists(collections, offsets, q_vectors, p_vectors, q_offsets)
    right = torch.zeros(QUESTIONS, dtype=torch.long, device=DEVICE)
    marks = F.one_hot(right, LISTED).float()

    def by_labels(model, planned):
        logits = logits_of(model, questions, passages, planned).view(-1, LISTED)
        return F.cross_entropy(logits, right) + 0.3 * F.binary_cross_entropy_with_logits(logits, marks)

    if continued:
        student = lowered(load_exported(continued))
        student_masters, steps = train(student, lists, questions, passages, STUDENT_S, 6e-5, by_labels, "student")
        models, steps = {"student": student}, {"student": steps}
    else:
        for layer in (base.pool, base.head):
            torch.nn.init.normal_(layer.weight, std=0.02)
            torch.nn.init.zeros_(layer.bias)
        torch.manual_seed(data.SEED)
        teacher = lowered(base)
        masters, teacher_steps = train(teacher, lists, questions, passages, TEACHER_S, 1e-4, by_labels, "teacher")

        student = lowered(student_of(teacher, KEPT))
        with torch.no_grad():
            for name, each in student.named_parameters():
                source = name.split(".")
                if source[0] == "layers":
                    source[1] = str(KEPT[int(source[1])])
                each.copy_(masters[".".join(source)])
        teacher.eval()

        def by_teacher(model, planned):
            with torch.no_grad():
                taught = logits_of(teacher, questions, passages, planned).view(-1, LISTED)
            logits = logits_of(model, questions, passages, planned).view(-1, LISTED)
            spread = F.kl_div(F.log_softmax(logits, 1), F.softmax(taught, 1), reduction="batchmean")
            margins = F.mse_loss(logits[:, :1] - logits[:, 1:], taught[:, :1] - taught[:, 1:])
            return spread + 0.1 * F.mse_loss(logits, taught) + 0.05 * margins + 0.2 * F.cross_entropy(logits, right)

        student_masters, student_steps = train(student, lists, questions, passages, STUDENT_S, 1e-4, by_teacher, "student")
        models, steps = {"teacher": teacher, "student": student}, {"teacher": teacher_steps, "student": student_steps}
    state = {name: each.detach().cpu().to(torch.float16) for name, each in student_masters.items()}
    torch.save(state, "/tmp/student.pt")
    whole = Path("/tmp/student.pt").read_bytes()
    for at in range(0, len(whole), 15_000_000):
        (OUT / f"student.pt.{at // 15_000_000}").write_bytes(whole[at : at + 15_000_000])
    say("saved", len(whole))

    rows = data.candidates(FOLDER / "candidates.jsonl.xz", offsets)
    rows = rows[::40] if SMALL else rows
    texts = Texts([row["text"] for row in rows], tokenizer, QUESTION_PIECES)
    asked = np.array([number for number, row in enumerate(rows) for _ in row["candidates"]])
    shown = np.array([number + offsets[row["from"]] for row in rows for number, _ in row["candidates"]])
    report = {"seed": data.SEED, "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu", "steps": steps, "questions_a_step": QUESTIONS}
    for name, model in models.items():
        with torch.no_grad():
            flat = torch.cat([logits_of(model, texts, passages, plan(texts, passages, asked[at : at + 20000], shown[at : at + 20000])) for at in range(0, len(asked), 20000)]).float().cpu().tolist()
        logits, start = [], 0
        for row in rows:
            logits.append([round(each, 3) for each in flat[start : start + len(row["candidates"])]])
            start += len(row["candidates"])
        report[name] = {"hybrid": data.measured(rows, logits, 0, 0), "alone 50": data.measured(rows, logits, 50, 1, fused=0)}
        for top in (20, 50):
            for weight in (0.01, 0.02, 0.03, 0.05, 0.1):
                report[name][f"{top} best, {weight}"] = data.measured(rows, logits, top, weight)
        for title, figures in report[name].items():
            say(name, title, figures)
        with lzma.open(OUT / f"{name}-logits.json.xz", "wt") as file:
            json.dump([[row["from"], row["id"], own] for row, own in zip(rows, logits)], file)
    report["seconds"] = round(time.time() - STARTED)
    (OUT / "report.json").write_text(json.dumps(report, indent=1))
    say("done")


main()
