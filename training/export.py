"""Writes a trained model as an int8 ONNX model: a small graph, and its weights in OUT.onnx.data.

python3 export.py WEIGHTS.pt OUT.onnx vectors|logits DATA_FOLDER BASE_FOLDER

`vectors` uses the graph of the model in BASE_FOLDER with the trained weights, with one scale per matrix column. `logits` builds a graph
from ONNX Runtime's fused operators, with one number per pair. Its word embeddings have one scale per row, its matrices one per
column. Matrices use 7 bits, so that processors without VNNI don't saturate. Pooling and head stay fp32. The input of a matrix has a
single scale, so a channel with a far larger range would cost the others their precision. Such channels are divided before the matrices
`up` and `down`, whose rows are multiplied by the same factors.
"""

import hashlib
import os
import re
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from cross_encoder import LINEARS, OTHERS

HEADS = 12
CALIBRATION_PAIRS = 120  # pairs that determine the divisors of channels
RANGE_MAX = 2  # channels whose range exceeds this many times the median are divided
SEPARATE_BYTES_MIN = 4096  # min bytes of weights in the separate file; smaller ones stay in the graph
HEAD = ["pool", "logits", "pool_MatMul", "logits_MatMul"]  # not quantised; the quantiser turns a Gemm into a MatMul


class Graph:
    def __init__(self):
        self.nodes, self.initializers = [], []

    def hold(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.array(array, order="C"), name))
        return name

    def add(self, kind, inputs, name, domain="", outputs=1, **attributes):
        output_names = [name] + [f"{name}_{at}" for at in range(1, outputs)]
        self.nodes.append(helper.make_node(kind, inputs, output_names, name=name, domain=domain, **attributes))
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
    onnx_graph = helper.make_graph(graph.nodes, "reranker", inputs, [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 1])], graph.initializers)
    return helper.make_model(onnx_graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)], ir_version=8)


def with_trained_weights(base, state):
    """Returns the base model with the trained weights."""
    model = onnx.load(base)
    initializers = {each.name: each for each in model.graph.initializer}
    get = lambda name: state[name].float().numpy()

    def set_initializer(name, values):
        original = numpy_helper.to_array(initializers[name])
        initializers[name].CopyFrom(numpy_helper.from_array(np.array(values, dtype=original.dtype, order="C").reshape(original.shape), name))

    for node in model.graph.node:
        found = re.search(r"layer\.(\d+)/(.+?)/MatMul", node.name)
        if node.op_type == "MatMulInteger" and found and found[2] in LINEARS:
            name, weights = node.input[1].removesuffix("_quantized"), get(f"layers.{found[1]}.{LINEARS[found[2]]}.weight").T
            scales = np.abs(weights).max(0) / 127
            set_initializer(f"{name}_scale", scales)
            set_initializer(f"{name}_zero_point", np.zeros(len(scales)))
            set_initializer(f"{name}_quantized", np.rint(weights / scales))
    for at in range(12):
        for onnx_name, own_name in OTHERS.items():
            set_initializer(f"encoder.layer.{at}.{onnx_name}", get(f"layers.{at}.{own_name}"))
    set_initializer("embeddings.LayerNorm.weight", get("norm.weight"))
    set_initializer("embeddings.LayerNorm.bias", get("norm.bias"))
    for onnx_name, own_name in {"word": "words", "position": "places", "token_type": "types"}.items():
        name, rows = f"embeddings.{onnx_name}_embeddings.weight", get(f"{own_name}.weight")
        scale = (rows.max() - rows.min()) / 255
        zero = np.rint(-rows.min() / scale)
        set_initializer(f"{name}_scale", scale)
        set_initializer(f"{name}_zero_point", zero)
        set_initializer(f"{name}_quantized", np.clip(np.rint(rows / scale) + zero, 0, 255))
    return model


def pairs_to_read(folder, base):
    """Returns inputs for calibration: training questions, each with a passage that answers it."""
    import data
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(Path(base) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    pieces = lambda text, most: tokenizer.encode(text[: most * 12], add_special_tokens=False).ids[:most]
    answered = [(text, each.passages[next(iter(relevant))]) for each in data.load(Path(folder) / "judged.xz") for text, relevant, split, _ in each.questions if split == "train"]
    for question, passage in data.shuffled(answered, data.SEED)[:CALIBRATION_PAIRS]:
        head = [101, *pieces(question, 64), 102]
        ids = np.array([[*head, *pieces(passage, 256), 102]])
        types = (np.arange(ids.shape[1])[None] >= len(head)).astype(np.int64)
        yield {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}


def factors_of(model, path, inputs):
    """Computes the divisors of the channels that the matrices `up` and `down` read."""
    import onnxruntime

    sources = {node.name: node.input[0] for node in model.graph.node if node.name.startswith(("up", "down"))}
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in sources.values())
    onnx.save(probe, path)
    session = onnxruntime.InferenceSession(path)
    ranges = {name: 0 for name in sources}
    for each in inputs:
        found = session.run([*sources.values()], each)
        ranges = {name: np.maximum(ranges[name], np.abs(states[0]).max(0)) for name, states in zip(sources, found)}
    return {name: np.maximum(1, each / (RANGE_MAX * np.median(each))) for name, each in ranges.items()}


def quantise(source, target):
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(source, target, op_types_to_quantize=["MatMul", "Attention"], per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, nodes_to_exclude=HEAD, extra_options={"DefaultTensorType": TensorProto.FLOAT})


def save(model, path):
    """Saves the large weights next to the graph. The runtime maps the file, so threads and processes share one copy."""
    weights = Path(path + ".data")
    with open(weights, "wb") as file:
        # Float weights first: the runtime maps only aligned ones.
        for each in sorted(model.graph.initializer, key=lambda each: each.data_type != TensorProto.FLOAT):
            each.doc_string = ""
            if len(each.raw_data) < SEPARATE_BYTES_MIN:
                continue
            location = {"location": weights.name, "offset": file.tell(), "length": len(each.raw_data)}
            file.write(each.raw_data)
            each.ClearField("raw_data")
            each.data_location = TensorProto.EXTERNAL
            each.external_data.extend(onnx.StringStringEntryProto(key=key, value=str(value)) for key, value in location.items())
    # Drops the shapes of intermediate results, which the runtime infers.
    del model.graph.value_info[:]
    Path(path).write_bytes(model.SerializeToString())
    for each in (Path(path), weights):
        print(each, each.stat().st_size, hashlib.sha256(each.read_bytes()).hexdigest())


def main():
    import torch

    weights, out, kind, folder, base = sys.argv[1:6]
    state = torch.load(weights, map_location="cpu")
    if kind == "vectors":
        save(with_trained_weights(str(Path(base) / "model.onnx"), state), out)
        return
    model = build(state, factors_of(build(state), out, pairs_to_read(folder, base)))
    onnx.save(model, out + ".tmp")
    quantise(out + ".tmp", out)
    os.remove(out + ".tmp")
    save(onnx.load(out), out)


main()
