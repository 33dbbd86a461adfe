"""Stores texts as word pieces on the GPU, and runs models on them."""

import copy

import numpy as np
import torch

from machine import DEVICE, LOW_PRECISION, SMALL

CLS, SEP = 101, 102
TOKENS_MAX = 2048 if SMALL else 65536  # max tokens in one forward pass


class Texts:
    """The word pieces of many texts, in one tensor on the GPU."""

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
        is_inside = (places >= 0) & (places < lengths)
        index = torch.where(is_inside, starts + places, self.flat.numel() - 1)
        return self.flat[index].long(), is_inside

    def up_to(self, longest):
        """Returns the same texts, shortened to `longest` word pieces."""
        shorter = copy.copy(self)
        shorter.lengths = np.minimum(self.lengths, longest)
        return shorter


def plan(questions, passages, question_numbers, passage_numbers):
    """Groups pairs by similar length. Returns [(piece positions, longest)], and how to restore the order."""
    positions = np.stack([questions.starts[question_numbers], questions.lengths[question_numbers], passages.starts[passage_numbers], passages.lengths[passage_numbers]])
    lengths = positions[1] + positions[3] + 3
    order = np.argsort(lengths, kind="stable")
    parts, start = [], 0
    while start < len(order):
        end = start
        while end < len(order) and (end - start + 1) * (lengths[order[end]] + 15) <= TOKENS_MAX:
            end += 1
        end = max(end, start + 1)
        selected = order[start:end]
        parts.append((torch.from_numpy(positions[:, selected].copy()), int(-(-lengths[selected].max() // 16) * 16)))
        start = end
    return parts, torch.from_numpy(np.argsort(order, kind="stable"))


def pair_batch(questions, passages, positions, longest):
    """Returns the model's input for pairs, padded to the longest."""
    q_start, q_length, p_start, p_length = positions.to(DEVICE, non_blocking=True)[:, :, None]
    places = torch.arange(longest, device=DEVICE)[None]
    q_ids, in_q = questions.at(q_start, q_length, places - 1)
    p_ids, in_p = passages.at(p_start, p_length, places - q_length - 2)
    total = q_length + p_length + 3
    ids = torch.where(in_q, q_ids, torch.where(in_p, p_ids, 0))
    ids = torch.where(places == 0, CLS, ids)
    ids = torch.where((places == q_length + 1) | (places == total - 1), SEP, ids)
    return ids, (places < total).long(), ((places > q_length + 1) & (places < total)).long()


def logits_of(model, questions, passages, batch_plan):
    parts, inverse_order = batch_plan
    found = [model(*pair_batch(questions, passages, positions, longest)) for positions, longest in parts]
    return torch.cat(found)[inverse_order.to(DEVICE, non_blocking=True)]


def vectors_of(model, texts, numbers=None, pieces=TOKENS_MAX):
    """Computes the vectors of these texts, or of all, in their order: [texts, 384]."""
    if SMALL and not torch.is_grad_enabled():
        return torch.nn.functional.normalize(torch.randn(len(texts.lengths if numbers is None else numbers), 384, device=DEVICE), dim=-1)
    numbers = np.arange(len(texts.lengths)) if numbers is None else numbers
    lengths = texts.lengths[numbers] + 2
    order, parts, start = np.argsort(lengths, kind="stable"), [], 0
    while start < len(order):
        end = start + 1
        while end < len(order) and (end - start + 1) * (lengths[order[end]] + 15) <= pieces:
            end += 1
        selected = numbers[order[start:end]]
        starts, inner = (torch.tensor(each[selected], device=DEVICE)[:, None] for each in (texts.starts, texts.lengths))
        places = torch.arange(int(-(-lengths[order[end - 1]] // 16) * 16), device=DEVICE)[None]
        ids, _ = texts.at(starts, inner, places - 1)
        ids = torch.where(places == 0, CLS, torch.where(places == inner + 1, SEP, ids))
        parts.append(model.vectors(ids, (places < inner + 2).long()))
        start = end
    return torch.cat(parts)[torch.tensor(np.argsort(order, kind="stable"), device=DEVICE)]
