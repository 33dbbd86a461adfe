"""Simulates the product's hybrid search over word pieces, closely enough to choose negatives and to evaluate models."""

import numpy as np
import torch

from cross_encoder import VOCABULARY
from machine import DEVICE

SATURATION, LENGTH = 0.9, 0.4  # parameters of BM25
SPAN = 0.25  # a cosine this far below the best counts as 0
SEMANTIC = 0.7  # weight of semantic search, as for questions in the product


class Words:
    """BM25 over the word pieces of some passages."""

    def __init__(self, texts, members):
        pieces = texts.flat.cpu().numpy()
        rows, columns, counts, lengths = [], [], [], texts.lengths[members]
        for row, number in enumerate(members):
            piece_ids, count = np.unique(pieces[texts.starts[number] : texts.starts[number] + texts.lengths[number]], return_counts=True)
            rows.append(np.full(len(piece_ids), row))
            columns.append(piece_ids)
            counts.append(count)
        rows, columns, counts = np.concatenate(rows), np.concatenate(columns).astype(np.int64), np.concatenate(counts)
        frequencies = np.bincount(columns, minlength=VOCABULARY)
        self.rarity = np.log(1 + (len(members) - frequencies + 0.5) / (frequencies + 0.5))
        norm = 1 - LENGTH + LENGTH * lengths / max(1, lengths.mean())
        weights = self.rarity[columns] * counts * (SATURATION + 1) / (counts + SATURATION * norm[rows])
        indexes = torch.from_numpy(np.stack([rows, columns]))
        self.matrix = torch.sparse_coo_tensor(indexes, torch.from_numpy(weights).float(), (len(members), VOCABULARY)).to(DEVICE).coalesce().to_sparse_csr()

    def shares(self, questions, numbers):
        """Computes BM25 as a share of the highest possible score: [questions, passages]."""
        pieces = questions.flat.cpu().numpy()
        terms = torch.zeros(VOCABULARY, len(numbers))
        highest = torch.zeros(len(numbers))
        for column, number in enumerate(numbers):
            piece_ids = np.unique(pieces[questions.starts[number] : questions.starts[number] + questions.lengths[number]])
            terms[piece_ids, column] = 1
            highest[column] = float(self.rarity[piece_ids].sum()) * (SATURATION + 1)
        return (self.matrix @ terms.to(DEVICE)).T / highest.clamp(min=1e-6).to(DEVICE)[:, None]


def fused(shares, cosines):
    """Computes the product's weighted sum of keyword and vector scores, for rows of passages."""
    nearness = (1 - (cosines.max(1, keepdim=True).values - cosines) / SPAN).clamp(min=0)
    return (1 - SEMANTIC) * shares + SEMANTIC * nearness
