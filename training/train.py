"""Trains the teacher (12 layers, from gte-small) and the student (6 layers) on one GPU.

python3 train.py DATA_FOLDER GTE_FOLDER WORK_FOLDER [teacher] [student]

DATA_FOLDER has judged.xz and pairs.jsonl.xz (pack.py) and candidates.jsonl.xz (bench/quality/candidates.ts). WORK_FOLDER keeps what
was prepared, teacher.pt and student.pt: a stage that is run again goes on from there. TEACHER_S and STUDENT_S say how many
seconds each stage has, LIMIT_S how many everything has.

The student starts as every second layer of the teacher, with CONTINUE=MODEL.onnx as that exported student. It learns from the
teacher in WORK_FOLDER; without one, from the labels.
"""

import json
import os
import random
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

import data
from chats import made_chats
from cross_encoder import CrossEncoder, load_exported, load_quantised, student_of
from dev import Dev
from lists import LISTED, Lists, Steps, from_corpora, read_pairs
from machine import DEVICE, LOW, SMALL, STARTED, left, say
from texts import Texts, logits_of, vectors_of

FOLDER, GTE, WORK = (Path(each) for each in sys.argv[1:4])
STAGES = sys.argv[4:] or ["teacher", "student"]
number = lambda name, usual: float(os.environ.get(name, usual))
TEACHER_S, STUDENT_S, DEV_EVERY_S = number("TEACHER_S", 560), number("STUDENT_S", 600), number("DEV_EVERY_S", 45)
RATE = number("RATE", 0)  # otherwise each stage's own
QUESTIONS = int(number("QUESTIONS", 4 if SMALL else 64))  # in a step
QUESTION_PIECES, PASSAGE_PIECES, SHORTER = 64, int(number("PASSAGE_PIECES", 320)), 256
KEPT = [int(each) for each in os.environ.get("KEPT", "1,3,5,7,9,11").split(",")]
WARM_UP, AVERAGED = 150, 0.998  # steps; of the averaged weights, what a step leaves
random.seed(data.SEED)
np.random.seed(data.SEED)
torch.manual_seed(data.SEED)
torch.backends.cuda.matmul.allow_tf32 = True


class Prepared:
    """Everything that training reads, as numbers. Made once for each WORK_FOLDER."""

    def __init__(self, tokenizer):
        judged = list(data.load(FOLDER / "judged.xz"))
        made = made_chats(1 if SMALL else 1200)
        if SMALL:
            for each in judged:
                each.questions = [question for question in each.questions if question[2] == "train"][:40] or each.questions[:40]
        chats = [data.in_context(each) for each in (*judged, made) if any(at is not None for at in each.before)]
        collections = judged + [made] + chats + list(read_pairs(FOLDER / "pairs.jsonl.xz")) + list(from_corpora(judged))
        self.offsets, q_offsets, all_passages, all_questions = {}, {}, [], []
        for each in collections:
            self.offsets[each.name], q_offsets[each.name] = len(all_passages), len(all_questions)
            all_passages.extend(each.passages)
            all_questions.extend(text for text, *_ in each.questions)
        say(len(all_passages), "passages", len(all_questions), "questions")
        self.passages, self.questions = Texts(all_passages, tokenizer, PASSAGE_PIECES), Texts(all_questions, tokenizer, QUESTION_PIECES)
        say("tokenised", int(self.passages.lengths.sum()), "pieces")
        embedder = load_quantised(str(GTE / "model.onnx")).to(DEVICE).to(LOW).eval()
        p_vectors, q_vectors = vectors_of(embedder, self.passages), vectors_of(embedder, self.questions)
        say("embedded")
        found = data.found_for_training(FOLDER / "candidates.jsonl.xz")
        self.lists = Lists(collections, self.offsets, q_vectors, p_vectors, q_offsets, found)


def prepared(tokenizer):
    path = WORK / "prepared.pt"
    if not path.exists():
        torch.save(Prepared(tokenizer), path)
    # Read back also the first time: what is drawn does not depend on whether it was there.
    return torch.load(path, map_location=DEVICE, weights_only=False)


def train(model, ready, seconds, rate, loss_of, name, dev):
    """bf16 weights with fp32 copies that the optimiser works on, and their average. The rate follows the clock.

    Returns the weights that were best on the kept-out questions.
    """
    model.train()
    low = list(model.parameters())
    high = [each.detach().float().clone() for each in low]
    average = [each.clone() for each in high]
    for copy in high:
        copy.grad = torch.zeros_like(copy)
    head = [at for at, (what, _) in enumerate(model.named_parameters()) if what.startswith(("pool", "head"))]
    body = [at for at in range(len(high)) if at not in head]
    optimiser = torch.optim.AdamW([{"params": [high[at] for at in body], "scale": 1.0}, {"params": [high[at] for at in head], "scale": 3.0}], lr=rate, weight_decay=0.01, fused=DEVICE == "cuda")
    # Otherwise a stage that goes on would draw what it has drawn.
    steps = Steps(ready.lists, ready.questions, ready.passages, QUESTIONS, data.SEED + 1000 * len(model.layers) + 100 * len(list(WORK.glob("stage-*"))))
    drawn = iter(torch.utils.data.DataLoader(steps, batch_size=None, num_workers=1 if SMALL else 8, pin_memory=DEVICE == "cuda", prefetch_factor=2 if SMALL else 8))
    best = {"dev": -1.0}

    @torch.no_grad()
    def look(weights, what):
        torch._foreach_copy_(low, weights)
        found = dev.quick(model, f"{name}, {what}, step {step}")
        if found > best["dev"]:
            best.update(dev=found, weights=[each.clone() for each in weights])
            save(model, best["weights"], name)
        torch._foreach_copy_(low, high)

    step, skipped, losses = 0, 0, []
    look(high, "as it begins")
    begun, looked = time.time(), time.time()
    seconds = max(1, min(seconds, left()))
    while (done := (time.time() - begun) / seconds) < 1:
        for group in optimiser.param_groups:
            group["lr"] = rate * group["scale"] * min(1.0, (step + 1) / WARM_UP) * max(0.01, 1 - done)
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
            torch._foreach_lerp_(average, high, 1 - min(AVERAGED, (1 + step) / (10 + step)))
        losses.append(loss.detach())
        step += 1
        if step % 100 == 0:
            say(name, "step", step, "loss", round(torch.stack(losses[-100:]).mean().item(), 4))
        if time.time() - looked > DEV_EVERY_S:
            look(average, "averaged")
            looked = time.time()
    del drawn
    look(average, "averaged")
    look(high, "last")
    say(name, step, "steps", skipped, "skipped, best on dev", round(best["dev"], 4))
    with torch.no_grad():
        torch._foreach_copy_(low, best["weights"])
    save(model, best["weights"], name)
    (WORK / f"stage-{len(list(WORK.glob('stage-*')))}-{name}").touch()
    model.eval()
    return step


def save(model, weights, name):
    state = {what: each.cpu().to(torch.float16) for (what, _), each in zip(model.named_parameters(), weights)}
    torch.save(state, WORK / f"{name}.new")
    (WORK / f"{name}.new").rename(WORK / f"{name}.pt")


def saved(name, layers):
    model = CrossEncoder(layers)
    model.load_state_dict(torch.load(WORK / f"{name}.pt", map_location="cpu"))
    return model.float()


def lowered(model):
    """bf16, with the head in fp32."""
    model = model.to(DEVICE).to(LOW)
    model.pool.float()
    model.head.float()
    return model


def new_teacher():
    base = load_quantised(str(GTE / "model.onnx"))
    torch.manual_seed(data.SEED)
    for layer in (base.pool, base.head):
        torch.nn.init.normal_(layer.weight, std=0.02)
        torch.nn.init.zeros_(layer.bias)
    return base


def first_student():
    """The one that was begun, the one that is named, or every second layer of the teacher."""
    if (WORK / "student.pt").exists():
        return saved("student", len(KEPT)), 8e-5
    if os.environ.get("CONTINUE"):
        return load_exported(os.environ["CONTINUE"]), 6e-5
    return student_of(saved("teacher", 12), KEPT), 1e-4


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(GTE / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    ready = prepared(tokenizer)
    dev = Dev(FOLDER / "candidates.jsonl.xz", ready.offsets, tokenizer, ready.passages, QUESTION_PIECES)
    say("ready;", len(dev.rows), "questions to choose by")
    right = torch.zeros(QUESTIONS, dtype=torch.long, device=DEVICE)
    marks = F.one_hot(right, LISTED).float()
    report = {"seed": data.SEED, "device": torch.cuda.get_device_name() if DEVICE == "cuda" else "cpu", "questions_a_step": QUESTIONS, "steps": {}}
    logits_in = lambda model, planned: logits_of(model, ready.questions, ready.passages, planned).view(-1, LISTED)

    def by_labels(model, planned):
        logits = logits_in(model, planned)
        return F.cross_entropy(logits, right) + 0.3 * F.binary_cross_entropy_with_logits(logits, marks)

    teacher = lowered(saved("teacher", 12)).eval() if (WORK / "teacher.pt").exists() else None
    if "teacher" in STAGES:
        # Where both stages share what is left, the teacher leaves the student nearly half.
        seconds = min(TEACHER_S, left() * (0.55 if "student" in STAGES else 1))
        rate = RATE or (1e-4 if teacher is None else 6e-5)
        teacher = teacher or lowered(new_teacher())
        report["steps"]["teacher"] = train(teacher, ready, seconds, rate, by_labels, "teacher", dev)

    def by_teacher(model, planned):
        with torch.no_grad():
            taught = logits_in(teacher, planned)
        logits = logits_in(model, planned)
        spread = F.kl_div(F.log_softmax(logits, 1), F.softmax(taught, 1), reduction="batchmean")
        margins = F.mse_loss(logits[:, :1] - logits[:, 1:], taught[:, :1] - taught[:, 1:])
        return spread + 0.1 * F.mse_loss(logits, taught) + 0.05 * margins + 0.2 * F.cross_entropy(logits, right)

    models = {"teacher": teacher} if "teacher" in STAGES else {}
    if "student" in STAGES:
        student, rate = first_student()
        student = lowered(student)
        report["steps"]["student"] = train(student, ready, STUDENT_S, RATE or rate, by_teacher if teacher else by_labels, "student", dev)
        models["student"] = student
    for name, model in models.items():
        report[name] = dev.report(model, name, WORK, (SHORTER, PASSAGE_PIECES))
    report["seconds"] = round(time.time() - STARTED)
    (WORK / "report.json").write_text(json.dumps(report, indent=1))
    say("done")


main()
