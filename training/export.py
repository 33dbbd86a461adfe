"""Writes the student as an int8 ONNX model.

python3 export.py STUDENT.pt OUT.onnx [--fp32] [--reduce-range] [--keep NODE,NODE] [--level GTE_FOLDER DATA_FOLDER]

The graph is built by hand from ONNX Runtime's fused operators. The word embeddings have a scale for each row, the weights
one for each column; pooling and head stay fp32, and so does every node named with --keep. What a matrix reads has one scale, which
a single channel ten times as wide as the others spoils: with --level such channels are divided before `up` and `down`, and the
matrix has the factors.
"""

import argparse
import hashlib
import json
import lzma
import os
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

import data
import measure

HEADS = 12
LEVELLED_BY = 80  # questions
WIDEST = 2  # times the median of the channels
MAPPED = 4096  # bytes of weights that the product maps (src/search/models/mapped-weights.ts)
HEAD = ["pool", "logits", "pool_MatMul", "logits_MatMul"]  # the quantiser makes a MatMul of a Gemm


class Graph:
    def __init__(self):
        self.nodes, self.held = [], []

    def hold(self, name, array):
        self.held.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, kind, inputs, name, domain="", outputs=1, **attributes):
        made = [name] + [f"{name}_{at}" for at in range(1, outputs)]
        self.nodes.append(helper.make_node(kind, inputs, made, name=name, domain=domain, **attributes))
        return name


def build(state, factors=None):
    graph = Graph()
    get = lambda name: state[name].float().numpy()

    def product(source, name, weights):
        if factors:
            source = graph.add("Mul", [source, graph.hold(f"{name}.levels", 1 / factors[name])], f"{name}_levelled")
            weights = weights * factors[name][:, None]
        return graph.add("MatMul", [source, graph.hold(f"{name}.w", weights)], name)

    layers = 1 + max(int(name.split(".")[1]) for name in state if name.startswith("layers."))

    words = get("words.weight")
    scales = np.maximum(np.abs(words).max(1, keepdims=True), 1e-8) / 127
    rows = graph.add("Gather", [graph.hold("words", np.rint(words / scales).astype(np.int8)), "input_ids"], "word_rows")
    rows = graph.add("Cast", [rows], "word_floats", to=TensorProto.FLOAT)
    scale = graph.add("Gather", [graph.hold("word_scales", scales.astype(np.float32)), "input_ids"], "word_scale_rows")
    x = graph.add("Mul", [rows, scale], "word_states")
    types = graph.add("Gather", [graph.hold("types", get("types.weight")), "token_type_ids"], "type_states")
    x = graph.add("Add", [x, types], "typed")
    shape = graph.add("Shape", ["input_ids"], "shape")
    length = graph.add("Slice", [shape, graph.hold("one", np.array([1])), graph.hold("two", np.array([2]))], "length")
    places = graph.add("Slice", [graph.hold("places", get("places.weight")[:512]), graph.hold("zero", np.array([0])), length, graph.hold("axis", np.array([0]))], "place_states")
    x = graph.add("Add", [x, places], "placed")
    x = graph.add("LayerNormalization", [x, graph.hold("norm.w", get("norm.weight")), graph.hold("norm.b", get("norm.bias"))], "embedded", axis=-1, epsilon=1e-12)
    mask = graph.add("Cast", ["attention_mask"], "mask", to=TensorProto.INT32)
    for at in range(layers):
        own = lambda name: get(f"layers.{at}.{name}")
        hold = lambda name, array: graph.hold(f"l{at}.{name}", array)
        weights = np.concatenate([own(f"{part}.weight").T for part in ("query", "key", "value")], axis=1)
        biases = np.concatenate([own(f"{part}.bias") for part in ("query", "key", "value")])
        attended = graph.add("Attention", [x, hold("qkv", weights), hold("qkv.b", biases), mask], f"attention{at}", domain="com.microsoft", num_heads=HEADS)
        out = graph.add("MatMul", [attended, hold("out", own("out.weight").T)], f"out{at}")
        x = graph.add("SkipLayerNormalization", [out, x, hold("norm1.w", own("norm1.weight")), hold("norm1.b", own("norm1.bias")), hold("out.b", own("out.bias"))], f"between{at}", domain="com.microsoft", epsilon=1e-12)
        up = product(x, f"up{at}", own("up.weight").T)
        up = graph.add("BiasGelu", [up, hold("up.b", own("up.bias"))], f"gelu{at}", domain="com.microsoft")
        down = product(up, f"down{at}", own("down.weight").T)
        x = graph.add("SkipLayerNormalization", [down, x, hold("norm2.w", own("norm2.weight")), hold("norm2.b", own("norm2.bias")), hold("down.b", own("down.bias"))], f"after{at}", domain="com.microsoft", epsilon=1e-12)
    first = graph.add("Gather", [x, graph.hold("first", np.array(0))], "first_state", axis=1)
    pooled = graph.add("Tanh", [graph.add("Gemm", [first, graph.hold("pool.w", get("pool.weight")), graph.hold("pool.b", get("pool.bias"))], "pool", transB=1)], "pooled")
    graph.add("Gemm", [pooled, graph.hold("head.w", get("head.weight")), graph.hold("head.b", get("head.bias"))], "logits", transB=1)
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask", "token_type_ids")]
    made = helper.make_graph(graph.nodes, "reranker", inputs, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])], graph.held)
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def factors_of(model, path, gte, folder):
    """What the channels that `up` and `down` read are divided by, from passages of questions that are trained on."""
    sources = {node.name: node.input[0] for node in model.graph.node if node.name.startswith(("up", "down"))}
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    shown.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in sources.values())
    onnx.save(shown, path)
    measure.start(path, gte, folder)
    rows = [json.loads(line) for line in lzma.open(Path(folder) / "candidates.jsonl.xz", "rt")]
    rows = data.shuffled([row for row in rows if data.is_trained(row)], data.SEED)[:LEVELLED_BY]
    widest = {name: 0 for name in sources}
    for row in rows:
        found = measure.held["session"].run([*sources.values()], measure.pair({**row, "from": row["set"]}, row["candidates"][0][0]))
        widest = {name: np.maximum(widest[name], np.abs(each[0]).max(0)) for name, each in zip(sources, found)}
    return {name: np.maximum(1, each / (WIDEST * np.median(each))) for name, each in widest.items()}


def quantise(source, target, reduce_range, kept):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, target, op_types_to_quantize=["MatMul", "Attention"], per_channel=True, reduce_range=reduce_range, weight_type=QuantType.QInt8, nodes_to_exclude=[*HEAD, *kept], extra_options={"DefaultTensorType": TensorProto.FLOAT})


def align(path):
    """Moves large weights of four bytes to places that are multiples of four, so that the product can map them from the file."""
    model = onnx.load(path)
    held = model.graph.initializer
    for before, each in zip(held, held[1:]):
        if each.data_type != TensorProto.FLOAT or len(each.raw_data) < MAPPED:
            continue
        for padding in range(5):
            before.doc_string = " " * padding
            if model.SerializeToString().find(each.raw_data) % 4 == 0:
                break
        else:
            raise ValueError(f"{each.name} cannot be aligned")
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("student")
    parser.add_argument("out")
    parser.add_argument("--fp32", action="store_true")
    parser.add_argument("--reduce-range", action="store_true")
    parser.add_argument("--keep", default="")
    parser.add_argument("--level", nargs=2, metavar=("GTE", "DATA"))
    told = parser.parse_args()
    state = torch.load(told.student, map_location="cpu")
    model = build(state)
    if told.level:
        model = build(state, factors_of(model, told.out, *told.level))
    if told.fp32:
        onnx.save(model, told.out)
    else:
        onnx.save(model, told.out + ".tmp")
        quantise(told.out + ".tmp", told.out, told.reduce_range, [each for each in told.keep.split(",") if each])
        os.remove(told.out + ".tmp")
        align(told.out)
    whole = Path(told.out).read_bytes()
    print(told.out, len(whole), hashlib.sha256(whole).hexdigest())


main()
