"""A BERT network with one output logit. Its initial weights are those of gte-small, read from an int8 model."""

import re

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, INNER, VOCABULARY, POSITIONS = 384, 12, 1536, 30522, 512


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up, self.down = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)

    def forward(self, x, mask, drop):
        batch, length, _ = x.shape
        split = lambda each: each.view(batch, length, HEADS, WIDTH // HEADS).transpose(1, 2)
        attended = F.scaled_dot_product_attention(split(self.query(x)), split(self.key(x)), split(self.value(x)), attn_mask=mask)
        attended = attended.transpose(1, 2).reshape(-1, WIDTH)
        weights = [(each.weight, each.bias) for each in (self.out, self.norm1, self.up, self.down, self.norm2)]
        return after_attention(x.view(-1, WIDTH), attended, weights, drop if self.training else 0.0).view(batch, length, WIDTH)


def after_attention(x, attended, weights, drop):
    """Computes the part of a layer after the attention."""
    out, norm1, up, down, norm2 = weights
    x = F.layer_norm(x + F.dropout(F.linear(attended, *out), drop), (WIDTH,), *norm1, 1e-12)
    return F.layer_norm(x + F.dropout(F.linear(F.gelu(F.linear(x, *up)), *down), drop), (WIDTH,), *norm2, 1e-12)


class CrossEncoder(nn.Module):
    def __init__(self, layers, drop=0.05):
        super().__init__()
        self.drop = drop
        self.words, self.places, self.types = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(POSITIONS, WIDTH), nn.Embedding(2, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.pool, self.head = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)

    def states(self, ids, mask, types):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.norm(self.words(ids) + self.places(places)[None] + self.types(types))
        x = F.dropout(x, self.drop, self.training)
        attention_mask = mask[:, None, None, :].bool()
        for layer in self.layers:
            x = layer(x, attention_mask, self.drop)
        return x

    def forward(self, ids, mask, types):
        first = self.states(ids, mask, types)[:, 0]
        return self.head(torch.tanh(self.pool(first.to(self.pool.weight.dtype))))[:, 0]

    def vectors(self, ids, mask):
        """Returns the normalised mean over the word pieces, as the embedding model does."""
        x = self.states(ids, mask, torch.zeros_like(ids)).float()
        weights = mask[..., None].float()
        return F.normalize((x * weights).sum(1) / weights.sum(1), dim=-1)


LINEARS = {
    "attention/self/query": "query",
    "attention/self/key": "key",
    "attention/self/value": "value",
    "attention/output/dense": "out",
    "intermediate/dense": "up",
    "output/dense": "down",
}
OTHERS = {
    "attention.self.query.bias": "query.bias",
    "attention.self.key.bias": "key.bias",
    "attention.self.value.bias": "value.bias",
    "attention.output.dense.bias": "out.bias",
    "attention.output.LayerNorm.weight": "norm1.weight",
    "attention.output.LayerNorm.bias": "norm1.bias",
    "intermediate.dense.bias": "up.bias",
    "output.dense.bias": "down.bias",
    "output.LayerNorm.weight": "norm2.weight",
    "output.LayerNorm.bias": "norm2.bias",
}


def load_quantised(path, layers=12, drop=0.05):
    """Loads gte-small in fp32 from its dynamically quantised ONNX model. The head is untrained."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    initializers = {each.name: numpy_helper.to_array(each) for each in graph.initializer}

    def floats(name):
        scale, zero = initializers[f"{name}_scale"], initializers[f"{name}_zero_point"].astype(np.float32)
        return (initializers[f"{name}_quantized"].astype(np.float32) - zero) * scale

    state = {
        "words.weight": floats("embeddings.word_embeddings.weight"),
        "places.weight": floats("embeddings.position_embeddings.weight"),
        "types.weight": floats("embeddings.token_type_embeddings.weight"),
        "norm.weight": initializers["embeddings.LayerNorm.weight"],
        "norm.bias": initializers["embeddings.LayerNorm.bias"],
    }
    for node in graph.node:
        match = re.search(r"layer\.(\d+)/(.+?)/MatMul", node.name)
        if node.op_type != "MatMulInteger" or not match or match[2] not in LINEARS:
            continue
        weights = floats(node.input[1].removesuffix("_quantized"))
        state[f"layers.{match[1]}.{LINEARS[match[2]]}.weight"] = weights.T.copy()
    for at in range(12):
        for onnx_name, name in OTHERS.items():
            state[f"layers.{at}.{name}"] = initializers[f"encoder.layer.{at}.{onnx_name}"]
    model = CrossEncoder(layers, drop)
    result = model.load_state_dict({name: torch.tensor(np.array(value)) for name, value in state.items()}, strict=False)
    missing = [name for name in result.missing_keys if not name.startswith(("pool", "head"))]
    assert not missing, missing
    return model


def student_of(teacher, layer_indexes):
    """Creates a student with these layers of the teacher, its embeddings and its head."""
    student = CrossEncoder(len(layer_indexes), teacher.drop)
    for part in ("words", "places", "types", "norm", "pool", "head"):
        getattr(student, part).load_state_dict(getattr(teacher, part).state_dict())
    for at, layer in enumerate(layer_indexes):
        student.layers[at].load_state_dict(teacher.layers[layer].state_dict())
    return student
