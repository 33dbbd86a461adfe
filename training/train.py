"""Trains cross-encoders (the teachers), the embedding model and the reranker (the student) on one GPU.

python3 train.py DATA_FOLDER BASE_FOLDER WORK_FOLDER [teacher] [second-teacher] [embedding] [student]

DATA_FOLDER has judged.xz, pairs.jsonl.xz (pack.py) and public.jsonl.xz (public.py); BASE_FOLDER has the initial model. WORK_FOLDER
keeps prepared data and weights, which later stages and runs use: a student that exists already is trained further. SECOND_BASE is the
folder of the second teacher's initial model. TEACHER_S, EMBEDDING_S and STUDENT_S limit the seconds of each stage, LIMIT_S those of the
whole run.
"""

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
from chats import generate_chats
from cross_encoder import CrossEncoder, load_quantised, student_of
from dev import Dev
from lists import HARD, LIST_LENGTH, Lists, PairSteps, VectorSteps, from_corpora, read_pairs, read_public
from machine import DEVICE, LOW_PRECISION, SMALL, log, seconds_left
from texts import Texts, logits_of, vectors_of

FOLDER, BASE, WORK = (Path(each) for each in sys.argv[1:4])
STAGES = sys.argv[4:] or ["teacher", "embedding", "student"]
env_float = lambda name, default: float(os.environ.get(name, default))
TEACHERS = {"teacher": BASE, "second-teacher": Path(os.environ.get("SECOND_BASE", BASE))}
SECONDS = {**dict.fromkeys(TEACHERS, env_float("TEACHER_S", 240)), "embedding": env_float("EMBEDDING_S", 220), "student": env_float("STUDENT_S", 420)}
RATES = {**dict.fromkeys(TEACHERS, 1e-4), "embedding": env_float("EMBEDDING_RATE", 6e-5), "student": env_float("STUDENT_RATE", 1e-4)}
QUESTIONS = 4 if SMALL else 64  # questions per batch of the cross-encoders
BATCH = 8 if SMALL else int(env_float("BATCH", 768))  # questions per batch of the embedding model
TEMPERATURE, ANCHOR_WEIGHT = 0.02, env_float("ANCHOR", 10)
QUESTION_PIECES, PASSAGE_PIECES, VECTOR_PIECES = 64, 320, 256
LAYERS = 2 if SMALL else 12
STUDENT_LAYERS = (0, 1) if SMALL else (1, 3, 5, 7, 9, 11)  # the teacher's layers that the student starts from
WARM_UP, EMA_DECAY, DEV_EVERY_S = 60, 0.995, 60  # steps; per step; seconds
random.seed(data.SEED)
np.random.seed(data.SEED)
torch.manual_seed(data.SEED)
torch.backends.cuda.matmul.allow_tf32 = True


class Prepared:
    """Everything that training reads: texts as word pieces, lists, and initial vectors."""

    def __init__(self, base):
        tokenizer = Tokenizer.from_file(str(BASE / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        judged = list(data.load(FOLDER / "judged.xz"))
        generated = generate_chats(1 if SMALL else 1200)
        if SMALL:
            for each in judged:
                each.questions = each.questions[:40]
        chats = [data.in_context(each) for each in (*judged, generated) if any(at is not None for at in each.before)]
        collections = [*judged, generated, *chats, *read_pairs(FOLDER / "pairs.jsonl.xz"), *read_public(FOLDER / "public.jsonl.xz"), *from_corpora(judged)]
        offsets, q_offsets, passages, questions = {}, {}, [], []
        for each in collections:
            offsets[each.name], q_offsets[each.name] = len(passages), len(questions)
            passages.extend(each.passages)
            questions.extend(text for text, *_ in each.questions)
        log(len(passages), "passages", len(questions), "questions")
        self.keys = torch.tensor([hash(text[:200]) for text in passages], device=DEVICE)
        self.passages, self.questions = Texts(passages, tokenizer, 510), Texts(questions, tokenizer, QUESTION_PIECES)
        log("tokenised", int(self.passages.lengths.sum()), "pieces")
        with torch.no_grad():
            short = self.passages.up_to(VECTOR_PIECES)
            self.p_vectors, self.q_vectors = vectors_of(base, short), vectors_of(base, self.questions)
        log("embedded")
        self.lists = Lists(collections, offsets, q_offsets, short, self.questions, self.p_vectors, self.q_vectors)
        self.dev = Dev(judged, offsets, q_offsets, self.passages, self.questions)


def load_prepared(base):
    path = WORK / "prepared.pt"
    if not path.exists():
        torch.save(Prepared(base), path)
        log("saved the prepared data")
    # Read back even if just written, so that sampling does not depend on whether the file existed.
    return torch.load(path, map_location=DEVICE, weights_only=False)


def train(name, model, steps, loss_of, evaluate_on):
    """Trains bf16 weights with fp32 copies for the optimiser, and averages them. The learning rate decays with the elapsed time.

    Stores the weights that were best on the held-out questions in the model and in WORK_FOLDER.
    """
    seconds, rate = max(1, min(SECONDS[name], seconds_left())), RATES[name]
    model.train()
    bf16_params = list(model.parameters())
    fp32_params = [each.detach().float().clone() for each in bf16_params]
    average = [each.clone() for each in fp32_params]
    for copy in fp32_params:
        copy.grad = torch.zeros_like(copy)
    head = [at for at, (param_name, _) in enumerate(model.named_parameters()) if param_name.startswith(("pool", "head"))]
    body = [at for at in range(len(fp32_params)) if at not in head]
    optimiser = torch.optim.AdamW([{"params": [fp32_params[at] for at in body], "scale": 1.0}, {"params": [fp32_params[at] for at in head], "scale": 3.0}], lr=rate, weight_decay=0.01, fused=DEVICE == "cuda")
    batches = iter(torch.utils.data.DataLoader(steps, batch_size=None, num_workers=1 if SMALL else 10, pin_memory=DEVICE == "cuda", prefetch_factor=2 if SMALL else 8))
    best = {"dev": -1.0}

    @torch.no_grad()
    def evaluate(weights, kind):
        torch._foreach_copy_(bf16_params, weights)
        score = evaluate_on(model, f"{name}, {kind}, step {step}")
        if score > best["dev"]:
            best.update(dev=score, weights=[each.clone() for each in weights])
        torch._foreach_copy_(bf16_params, fp32_params)

    step, skipped, losses, start = 0, 0, [], time.time()
    evaluated_at = start
    while (done := (time.time() - start) / seconds) < 1:
        for group in optimiser.param_groups:
            group["lr"] = rate * group["scale"] * min(1.0, (step + 1) / WARM_UP) * max(0.01, 1 - done)
        loss = loss_of(model, next(batches))
        loss.backward()
        for copy, each in zip(fp32_params, bf16_params):
            if each.grad is not None:
                copy.grad.copy_(each.grad)
        model.zero_grad(set_to_none=True)
        # Skips a step whose gradients overflowed in bf16: one such step would ruin the run.
        if torch.isfinite(torch.nn.utils.clip_grad_norm_(fp32_params, 1.0)):
            optimiser.step()
        else:
            skipped += 1
        with torch.no_grad():
            torch._foreach_copy_(bf16_params, fp32_params)
            torch._foreach_lerp_(average, fp32_params, 1 - min(EMA_DECAY, (1 + step) / (10 + step)))
        losses.append(loss.detach())
        step += 1
        if step % 50 == 0:
            log(name, "step", step, "loss", round(torch.stack(losses[-50:]).mean().item(), 4))
        if time.time() - evaluated_at > DEV_EVERY_S:
            evaluate(average, "averaged")
            evaluated_at = time.time()
    del batches
    evaluate(average, "averaged")
    evaluate(fp32_params, "last")
    with torch.no_grad():
        torch._foreach_copy_(bf16_params, best["weights"])
    log(name, step, "steps", skipped, "skipped, best on dev", round(best["dev"], 4))
    torch.save({param_name: each.cpu().to(torch.float16) for (param_name, _), each in zip(model.named_parameters(), best["weights"])}, WORK / f"{name}.pt")
    model.eval()


def load_weights(name, layers=LAYERS):
    model = CrossEncoder(layers)
    model.load_state_dict(torch.load(WORK / f"{name}.pt", map_location="cpu"))
    return to_gpu(model.float()).eval()


def to_gpu(model):
    """Moves the model to the GPU in bf16, with the head in fp32."""
    model.layers = model.layers[:LAYERS]
    model = model.to(DEVICE).to(LOW_PRECISION)
    model.pool.float()
    model.head.float()
    return model


class Teachers(torch.nn.Module):
    """Scores a pair with the mean logit of the teachers."""

    def __init__(self, models):
        super().__init__()
        self.models = torch.nn.ModuleList(models)

    def forward(self, *batch):
        return torch.stack([model(*batch).float() for model in self.models]).mean(0)


def new_head(model):
    for layer in (model.pool, model.head):
        torch.nn.init.normal_(layer.weight, std=0.02)
        torch.nn.init.zeros_(layer.bias)
    return model


def main():
    WORK.mkdir(parents=True, exist_ok=True)
    base = to_gpu(load_quantised(str(BASE / "model.onnx"))).eval()
    prepared = load_prepared(base)
    dev, lists = prepared.dev, prepared.lists
    passages = prepared.passages.up_to(PASSAGE_PIECES)
    correct_index = torch.zeros(QUESTIONS, dtype=torch.long, device=DEVICE)
    labels = F.one_hot(correct_index, LIST_LENGTH).float()
    logits_in = lambda model, planned: logits_of(model, prepared.questions, passages, planned).view(-1, LIST_LENGTH)
    pairs = lambda seed: PairSteps(lists, prepared.questions, passages, QUESTIONS, data.SEED + seed)
    dev.by_vectors(base, "base")

    def by_labels(model, planned):
        logits = logits_in(model, planned)
        return F.cross_entropy(logits, correct_index) + 0.3 * F.binary_cross_entropy_with_logits(logits, labels)

    dev.find(base)
    for at, (name, folder) in enumerate(TEACHERS.items()):
        if name in STAGES:
            teacher = to_gpu(new_head(load_quantised(str(folder / "model.onnx"))))
            train(name, teacher, pairs(1 + 10 * at), by_labels, dev.by_logits)
            dev.log_confidence(teacher, name)
    teacher = Teachers([load_weights(name) for name in TEACHERS if (WORK / f"{name}.pt").exists()])

    def by_contrast(model, batch):
        """Computes the embedding model's loss: in-batch contrast, divergence from the teacher, distance from the base model.

        Passages that the teacher scores about as high as the right one are not negatives.
        """
        question_numbers, passage_numbers, planned = batch
        question_numbers, passage_numbers = np.asarray(question_numbers), np.asarray(passage_numbers)
        with torch.no_grad():
            teacher_logits = logits_of(teacher, prepared.questions, passages, planned).view(-1, 1 + HARD).float()
        batch_passages = passage_numbers.T.reshape(-1)
        q, p = vectors_of(model, prepared.questions, question_numbers), vectors_of(model, prepared.passages.up_to(VECTOR_PIECES), batch_passages)
        scores = q @ p.T / TEMPERATURE
        count = len(question_numbers)
        keys, places = prepared.keys[torch.from_numpy(batch_passages).to(DEVICE)], torch.arange(count, device=DEVICE)
        not_negative = keys[None, :] == keys[:count, None]
        columns = torch.stack([places + count * at for at in range(1 + HARD)], 1)
        is_as_good = teacher_logits > teacher_logits[:, :1] - 1
        not_negative = not_negative.scatter(1, columns, not_negative.gather(1, columns) | is_as_good)
        not_negative[places, places] = False
        contrastive_loss = F.cross_entropy(scores.masked_fill(not_negative, -1e4), places)
        distillation_loss = F.kl_div(F.log_softmax(scores.gather(1, columns), 1), F.softmax(teacher_logits, 1), reduction="batchmean")
        q_base, p_base = prepared.q_vectors[torch.from_numpy(question_numbers).to(DEVICE)], prepared.p_vectors[torch.from_numpy(batch_passages).to(DEVICE)]
        anchor_loss = 0.5 * (1 - (q * q_base).sum(1)).mean() + 0.5 * (1 - (p * p_base).sum(1)).mean()
        return contrastive_loss + distillation_loss + ANCHOR_WEIGHT * anchor_loss

    if "embedding" in STAGES:
        model = to_gpu(load_quantised(str(BASE / "model.onnx"), drop=0.0))
        train("embedding", model, VectorSteps(lists, prepared.questions, passages, BATCH, data.SEED + 2), by_contrast, dev.by_vectors)
    embedding = load_weights("embedding") if (WORK / "embedding.pt").exists() else base
    dev.find(embedding)

    def by_teacher(model, planned):
        with torch.no_grad():
            teacher_logits = logits_in(teacher, planned)
        logits = logits_in(model, planned)
        distillation_loss = F.kl_div(F.log_softmax(logits, 1), F.softmax(teacher_logits, 1), reduction="batchmean")
        margins = F.mse_loss(logits[:, :1] - logits[:, 1:], teacher_logits[:, :1] - teacher_logits[:, 1:])
        return distillation_loss + 0.1 * F.mse_loss(logits, teacher_logits) + 0.05 * margins + 0.2 * F.cross_entropy(logits, correct_index)

    if "student" in STAGES:
        dev.by_logits(teacher, "teacher")
        student = load_weights("student", len(STUDENT_LAYERS)) if (WORK / "student.pt").exists() else to_gpu(student_of(load_weights("teacher").float(), STUDENT_LAYERS))
        train("student", student, pairs(3), by_teacher, dev.by_logits)
        dev.log_confidence(student, "student")
    log("done")


main()
