"""Writes the models the peers are measured with into models/: random weights, real shapes.

  text-head8.onnx, text-head4.onnx   SmolVLM-500M decoder, int4 blocks of 32, 8- or 4-bit head
  vision-<kind>.onnx                 SigLIP base patch16-512 tower: f32, dynamic, static, nbits8
  text-head8.gguf, text-head4.gguf   the same decoder for llama.cpp: Q4_0, head Q8_0 or Q4_0

The ONNX graphs hold the fused operators that published fast exports for the CPU hold, so that the peer is
measured at its best: packed Q/K/V, rotary embedding inside GroupQueryAttention, skip connections inside the
norms, logits of the last position only. Speed does not depend on the values of the weights; they are scaled
so that activations stay near one and no denormal or infinite number slows a kernel down.

Usage: python3 make_peer_models.py [name ...]     (packages: onnx, numpy, gguf)
"""

import sys
from pathlib import Path

import gguf
import numpy as np
import onnx
from onnx import TensorProto, helper

MODELS = Path(__file__).parent / "models"
BLOCK = 32  # weights per scale, in ONNX and in GGUF

# Text decoder of HuggingFaceTB/SmolVLM-500M-Instruct.
HIDDEN, FEED_FORWARD, LAYERS, VOCAB = 960, 2560, 32, 49280
HEADS, KV_HEADS, HEAD_DIM = 15, 5, 64
ROPE_THETA, RMS_EPSILON = 100000.0, 1e-5
MAX_POSITIONS = 2048  # rows of the rotary tables; more than any measurement uses

# Vision tower of the same model: SigLIP base, patch 16, 512 pixels.
V_HIDDEN, V_FEED_FORWARD, V_LAYERS, V_HEADS, V_PATCH, V_SIDE = 768, 3072, 12, 12, 16, 512
V_POSITIONS = (V_SIDE // V_PATCH) ** 2
V_EPSILON = 1e-6

# Spread of the weights as stored: uniform over 1..15 around 8, and over 1..255 around 128. The lowest code is left
# out, because a mean below the zero point adds up over the layers until every prompt gives the same answer.
NIBBLE_STD, BYTE_STD = 4.32, 73.6
STATIC_SCALE = 8 / 255  # static activation scale of the QDQ tower: covers -4..4 of normalised activations

rng: np.random.Generator  # seeded anew for each file


def random_codes(shape: tuple[int, ...], bits: int) -> np.ndarray:
    """Bytes that hold one 8-bit or two 4-bit codes each."""
    if bits == 8:
        return rng.integers(1, 256, shape, dtype=np.uint8)
    return rng.integers(1, 16, shape, dtype=np.uint8) | rng.integers(1, 16, shape, dtype=np.uint8) << 4


class Graph:
    """Collects nodes and initialisers; each method returns the name of the tensor it makes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.tensors: list[onnx.TensorProto] = []

    def constant(self, name: str, array: np.ndarray) -> str:
        self.tensors.append(onnx.numpy_helper.from_array(array, name))
        return name

    def node(
        self, op: str, inputs: list[str], output: str, extra: tuple[str, ...] = (), domain: str = "", **attributes
    ) -> str:
        self.nodes.append(
            helper.make_node(op, inputs, [output, *extra], name=output, domain=domain, **attributes)
        )
        return output

    def fused(self, op: str, inputs: list[str], output: str, extra: tuple[str, ...] = (), **attributes) -> str:
        return self.node(op, inputs, output, extra, domain="com.microsoft", **attributes)

    def matmul_nbits(self, name: str, x: str, rows: int, columns: int, bits: int) -> str:
        """x (…, columns) times a quantised (rows, columns) matrix; symmetric, so no zero points are stored."""
        blocks = columns // BLOCK
        std = NIBBLE_STD if bits == 4 else BYTE_STD
        weight = random_codes((rows, blocks, BLOCK * bits // 8), bits)
        scales = np.full((rows, blocks), columns**-0.5 / std, np.float32)
        return self.fused(
            "MatMulNBits",
            [x, self.constant(f"{name}.weight", weight), self.constant(f"{name}.scales", scales)],
            name,
            K=columns,
            N=rows,
            bits=bits,
            block_size=BLOCK,
            accuracy_level=4,  # int8 activations: the fastest the CPU provider has
        )

    def save(self, name: str, inputs: list[onnx.ValueInfoProto], outputs: list[onnx.ValueInfoProto]) -> None:
        graph = helper.make_graph(self.nodes, name, inputs, outputs, self.tensors)
        opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
        # Appending to an old data file would leave stale weights in front of the new ones.
        (MODELS / f"{name}.onnx.data").unlink(missing_ok=True)
        onnx.save_model(
            model, str(MODELS / f"{name}.onnx"), save_as_external_data=True, location=f"{name}.onnx.data"
        )


def value(name: str, kind: int, shape: list[int | str]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def rotary_tables() -> tuple[np.ndarray, np.ndarray]:
    """cos and sin, both (MAX_POSITIONS, HEAD_DIM / 2)."""
    frequencies = ROPE_THETA ** (-np.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    angles = np.outer(np.arange(MAX_POSITIONS), frequencies)
    return np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)


def make_text_onnx(name: str, head_bits: int) -> None:
    g = Graph()
    cos, sin = rotary_tables()
    g.constant("cos", cos)
    g.constant("sin", sin)
    ones = g.constant("norm.weight", np.ones(HIDDEN, np.float32))
    inputs = [
        value("input_ids", TensorProto.INT64, [1, "tokens"]),
        value("seqlens_k", TensorProto.INT32, [1]),
        value("total_sequence_length", TensorProto.INT32, []),
    ]
    outputs = [value("logits", TensorProto.FLOAT, [1, 1, VOCAB])]

    embedding = g.constant("embedding.weight", random_codes((VOCAB, HIDDEN), 8))
    embedding_scales = np.full((VOCAB, HIDDEN // BLOCK), 1 / BYTE_STD, np.float32)
    residual = g.fused(
        "GatherBlockQuantized",
        [embedding, "input_ids", g.constant("embedding.scales", embedding_scales)],
        "embedding",
        bits=8,
        block_size=BLOCK,
        gather_axis=0,
        quantize_axis=1,
    )
    norm = g.node(
        "SimplifiedLayerNormalization", [residual, ones], "norm.first", axis=-1, epsilon=RMS_EPSILON, stash_type=1
    )

    def skip_norm(label: str, added: str) -> None:
        nonlocal residual, norm
        total = f"{label}.residual"
        norm = g.fused(
            "SkipSimplifiedLayerNormalization",
            [residual, added, ones],
            f"{label}.norm",
            ("", "", total),
            epsilon=RMS_EPSILON,
        )
        residual = total

    for i in range(LAYERS):
        at = f"layers.{i}"
        qkv = g.matmul_nbits(f"{at}.qkv", norm, (HEADS + 2 * KV_HEADS) * HEAD_DIM, HIDDEN, 4)
        past = [f"past_key.{i}", f"past_value.{i}"]
        present = [f"present_key.{i}", f"present_value.{i}"]
        inputs += [value(n, TensorProto.FLOAT, [1, KV_HEADS, "past", HEAD_DIM]) for n in past]
        outputs += [value(n, TensorProto.FLOAT, [1, KV_HEADS, "present", HEAD_DIM]) for n in present]
        attention = g.fused(
            "GroupQueryAttention",
            [qkv, "", "", *past, "seqlens_k", "total_sequence_length", "cos", "sin"],
            f"{at}.attention",
            tuple(present),
            num_heads=HEADS,
            kv_num_heads=KV_HEADS,
            do_rotary=1,
        )
        skip_norm(f"{at}.attention", g.matmul_nbits(f"{at}.o", attention, HIDDEN, HEADS * HEAD_DIM, 4))
        gate = g.matmul_nbits(f"{at}.gate", norm, FEED_FORWARD, HIDDEN, 4)
        up = g.matmul_nbits(f"{at}.up", norm, FEED_FORWARD, HIDDEN, 4)
        silu = g.node("Mul", [gate, g.node("Sigmoid", [gate], f"{at}.sigmoid")], f"{at}.silu")
        product = g.node("Mul", [silu, up], f"{at}.product")
        skip_norm(f"{at}.mlp", g.matmul_nbits(f"{at}.down", product, HIDDEN, FEED_FORWARD, 4))

    last = g.node("Gather", [norm, g.constant("last", np.array([-1], np.int64))], "norm.last", axis=1)
    logits = g.matmul_nbits("head", last, VOCAB, HIDDEN, head_bits)
    g.node("Identity", [logits], "logits")
    g.save(name, inputs, outputs)


def vision_linear(g: Graph, kind: str, name: str, quantised: tuple[str, ...], rows: int, columns: int) -> str:
    """A (rows, columns) linear layer without its bias, which the fused operator after it adds."""
    if kind == "nbits8":
        return g.matmul_nbits(name, quantised[0], rows, columns, 8)
    scale = np.float32(columns**-0.5 / BYTE_STD)
    if kind == "f32":
        weight = (rng.standard_normal((columns, rows)) * columns**-0.5).astype(np.float32)
        return g.node("MatMul", [quantised[0], g.constant(f"{name}.weight", weight)], name)
    weight = g.constant(f"{name}.weight", rng.integers(-127, 128, (columns, rows), dtype=np.int8))
    if kind == "static":
        scales = g.constant(f"{name}.scales", np.full(rows, scale, np.float32))
        zeros = g.constant(f"{name}.zeros", np.zeros(rows, np.int8))
        dense = g.node("DequantizeLinear", [weight, scales, zeros], f"{name}.dense", axis=1)
        return g.node("MatMul", [quantised[0], dense], name)
    x, x_scale, x_zero = quantised
    zero = g.constant(f"{name}.zero", np.array(0, np.int8))
    product = g.node("MatMulInteger", [x, weight, x_zero, zero], f"{name}.int")
    scale_product = g.node("Mul", [x_scale, g.constant(f"{name}.scale", np.array(scale))], f"{name}.scale.product")
    return g.node("Mul", [g.node("Cast", [product], f"{name}.cast", to=TensorProto.FLOAT), scale_product], name)


def vision_quantise(g: Graph, kind: str, x: str) -> tuple[str, ...]:
    """Quantises the input of one or more linear layers once."""
    if kind == "dynamic":
        parts = (f"{x}.q", f"{x}.q.scale", f"{x}.q.zero")
        g.node("DynamicQuantizeLinear", [x], parts[0], parts[1:])
        return parts
    if kind == "static":
        scale = g.constant(f"{x}.q.scale", np.array(STATIC_SCALE, np.float32))
        zero = g.constant(f"{x}.q.zero", np.array(128, np.uint8))
        q = g.node("QuantizeLinear", [x, scale, zero], f"{x}.q")
        return (g.node("DequantizeLinear", [q, scale, zero], f"{x}.dq"),)
    return (x,)


def make_vision_onnx(name: str, kind: str) -> None:
    g = Graph()

    def vector(label: str, size: int, fill: float) -> str:
        return g.constant(label, np.full(size, fill, np.float32))

    filters = (rng.standard_normal((V_HIDDEN, 3, V_PATCH, V_PATCH)) * (3 * V_PATCH**2) ** -0.5).astype(np.float32)
    patches = g.node(
        "Conv",
        ["pixel_values", g.constant("patch.weight", filters), vector("patch.bias", V_HIDDEN, 0)],
        "patch",
        kernel_shape=[V_PATCH, V_PATCH],
        strides=[V_PATCH, V_PATCH],
    )
    shape = g.constant("patch.shape", np.array([1, V_HIDDEN, V_POSITIONS], np.int64))
    tokens = g.node("Transpose", [g.node("Reshape", [patches, shape], "patch.flat")], "patch.tokens", perm=[0, 2, 1])
    positions = (rng.standard_normal((1, V_POSITIONS, V_HIDDEN)) * 0.1).astype(np.float32)
    residual = g.node("Add", [tokens, g.constant("positions", positions)], "embedded")
    gamma, beta = vector("norm.gamma", V_HIDDEN, 1), vector("norm.beta", V_HIDDEN, 0)
    norm = g.node("LayerNormalization", [residual, gamma, beta], "norm.first", axis=-1, epsilon=V_EPSILON)

    def skip_norm(label: str, added: str) -> None:
        nonlocal residual, norm
        total = f"{label}.residual"
        bias = vector(f"{label}.bias", V_HIDDEN, 0)
        norm = g.fused(
            "SkipLayerNormalization",
            [added, residual, gamma, beta, bias],
            f"{label}.norm",
            ("", "", total),
            epsilon=V_EPSILON,
        )
        residual = total

    for i in range(V_LAYERS):
        at = f"layers.{i}"
        quantised = vision_quantise(g, kind, norm)
        q, k, v = (vision_linear(g, kind, f"{at}.{part}", quantised, V_HIDDEN, V_HIDDEN) for part in "qkv")
        bias = vector(f"{at}.qkv.bias", 3 * V_HIDDEN, 0)
        attention = g.fused("MultiHeadAttention", [q, k, v, bias], f"{at}.attention", num_heads=V_HEADS)
        quantised = vision_quantise(g, kind, attention)
        skip_norm(f"{at}.o.out", vision_linear(g, kind, f"{at}.o", quantised, V_HIDDEN, V_HIDDEN))
        quantised = vision_quantise(g, kind, norm)
        up = vision_linear(g, kind, f"{at}.up", quantised, V_FEED_FORWARD, V_HIDDEN)
        active = g.fused("FastGelu", [up, vector(f"{at}.up.bias", V_FEED_FORWARD, 0)], f"{at}.gelu")
        quantised = vision_quantise(g, kind, active)
        skip_norm(f"{at}.down.out", vision_linear(g, kind, f"{at}.down", quantised, V_HIDDEN, V_FEED_FORWARD))

    g.node("Identity", [norm], "last_hidden_state")
    g.save(
        name,
        [value("pixel_values", TensorProto.FLOAT, [1, 3, V_SIDE, V_SIDE])],
        [value("last_hidden_state", TensorProto.FLOAT, [1, V_POSITIONS, V_HIDDEN])],
    )


def byte_alphabet() -> list[str]:
    """The 256 characters that byte-level BPE writes bytes with: printable Latin-1 as is, others from U+0100 on."""
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(b if b in printable else next(others)) for b in range(256)]


def make_text_gguf(name: str, head: gguf.GGMLQuantizationType) -> None:
    types = gguf.GGMLQuantizationType
    writer = gguf.GGUFWriter(MODELS / f"{name}.gguf", "llama")
    writer.add_name(name)
    writer.add_context_length(8192)
    writer.add_embedding_length(HIDDEN)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD_DIM)
    writer.add_rope_freq_base(ROPE_THETA)
    writer.add_layer_norm_rms_eps(RMS_EPSILON)
    writer.add_vocab_size(VOCAB)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)

    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<unk>"]
    alphabet = byte_alphabet()
    pairs = [(a, b) for a in alphabet for b in alphabet][: VOCAB - len(special) - len(alphabet)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(special + alphabet + [a + b for a, b in pairs])
    writer.add_token_types(
        [gguf.TokenType.CONTROL] * len(special) + [gguf.TokenType.NORMAL] * (VOCAB - len(special))
    )
    writer.add_token_merges([f"{a} {b}" for a, b in pairs])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(3)
    writer.add_pad_token_id(2)

    def matrix(label: str, rows: int, columns: int, kind: gguf.GGMLQuantizationType) -> None:
        bits, std = (4, NIBBLE_STD) if kind == types.Q4_0 else (8, BYTE_STD)
        scale = np.frombuffer(np.float16(columns**-0.5 / std).tobytes(), np.uint8)
        codes = random_codes((rows, columns // BLOCK, BLOCK * bits // 8), bits)
        if bits == 8:
            codes ^= 128  # Q8_0 is signed
        blocks = np.concatenate([np.broadcast_to(scale, (*codes.shape[:2], 2)), codes], axis=2)
        writer.add_tensor(f"{label}.weight", blocks.reshape(rows, -1), raw_dtype=kind)

    def norm(label: str) -> None:
        writer.add_tensor(f"{label}.weight", np.ones(HIDDEN, np.float32))

    matrix("token_embd", VOCAB, HIDDEN, types.Q8_0)
    for i in range(LAYERS):
        at = f"blk.{i}"
        norm(f"{at}.attn_norm")
        matrix(f"{at}.attn_q", HEADS * HEAD_DIM, HIDDEN, types.Q4_0)
        matrix(f"{at}.attn_k", KV_HEADS * HEAD_DIM, HIDDEN, types.Q4_0)
        matrix(f"{at}.attn_v", KV_HEADS * HEAD_DIM, HIDDEN, types.Q4_0)
        matrix(f"{at}.attn_output", HIDDEN, HEADS * HEAD_DIM, types.Q4_0)
        norm(f"{at}.ffn_norm")
        matrix(f"{at}.ffn_gate", FEED_FORWARD, HIDDEN, types.Q4_0)
        matrix(f"{at}.ffn_up", FEED_FORWARD, HIDDEN, types.Q4_0)
        matrix(f"{at}.ffn_down", HIDDEN, FEED_FORWARD, types.Q4_0)
    norm("output_norm")
    matrix("output", VOCAB, HIDDEN, head)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


RECIPES = {
    "text-head8.onnx": lambda: make_text_onnx("text-head8", 8),
    "text-head4.onnx": lambda: make_text_onnx("text-head4", 4),
    "vision-f32.onnx": lambda: make_vision_onnx("vision-f32", "f32"),
    "vision-dynamic.onnx": lambda: make_vision_onnx("vision-dynamic", "dynamic"),
    "vision-static.onnx": lambda: make_vision_onnx("vision-static", "static"),
    "vision-nbits8.onnx": lambda: make_vision_onnx("vision-nbits8", "nbits8"),
    "text-head8.gguf": lambda: make_text_gguf("text-head8", gguf.GGMLQuantizationType.Q8_0),
    "text-head4.gguf": lambda: make_text_gguf("text-head4", gguf.GGMLQuantizationType.Q4_0),
}

if __name__ == "__main__":
    MODELS.mkdir(exist_ok=True)
    wanted = sys.argv[1:] or list(RECIPES)
    for unknown in set(wanted) - set(RECIPES):
        sys.exit(f"No recipe named {unknown}; there are: {', '.join(RECIPES)}")
    for name in wanted:
        rng = np.random.default_rng(3)  # so that a file is the same whether made alone or with the others
        RECIPES[name]()
        print(f"wrote models/{name}")
