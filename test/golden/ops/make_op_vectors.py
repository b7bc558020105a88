"""Vectors for src/backend/reference: operations computed by PyTorch, NumPy, Transformers and gguf.

Made with torch 2.13.0, transformers 5.18.0, gguf 0.19.0, numpy 2.4.6:  python3 test/golden/ops/make_op_vectors.py
Inputs are float32 (or blocks); expected values are float64 where PyTorch computes in float64, so that the test can
ask for the nearest float32. Arrays are stored as base64 of their little-endian bytes, with their type.
"""

import base64
import json
import math
from pathlib import Path

import gguf
import numpy as np
import torch
import torch.nn.functional as F
from gguf import GGMLQuantizationType as Type
from transformers.activations import QuickGELUActivation
from transformers.models.idefics3.modeling_idefics3 import Idefics3Connector
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

HERE = Path(__file__).parent
rng = np.random.default_rng(20261130)
vectors = {}


def array(values):
    values = np.ascontiguousarray(values)
    return {"type": values.dtype.name, "base64": base64.b64encode(values.tobytes()).decode()}


def record(name, numbers, **arrays):
    vectors[name] = {"numbers": numbers, "arrays": {key: array(value) for key, value in arrays.items()}}


def normal(*shape, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(np.float32)


def double(values):
    return torch.from_numpy(values).double()


def norms():
    rows, columns, epsilon = 3, 37, 1e-5
    x, weight, bias = normal(rows, columns, scale=3), normal(columns), normal(columns)
    numbers = {"rows": rows, "columns": columns, "epsilon": epsilon}
    record("rmsNorm", numbers, x=x, weight=weight,
           expected=F.rms_norm(double(x), (columns,), double(weight), epsilon).numpy())
    record("layerNorm", numbers, x=x, weight=weight, bias=bias,
           expected=F.layer_norm(double(x), (columns,), double(weight), double(bias), epsilon).numpy())


def rope():
    rows, heads, head_dim = 4, 3, 12
    x = normal(rows, heads, head_dim)
    positions = np.array([0, 1, 7, 1000])
    angles = positions[:, None] * 10000.0 ** (-np.arange(0, head_dim, 2) / head_dim)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    table = np.stack([cos, sin], axis=1)
    numbers = {"rows": rows, "heads": heads, "headDim": head_dim}

    # Transformers takes (batch, heads, rows, headDim) and tables that repeat the half.
    states = double(x).permute(1, 0, 2)[None]
    repeat = [torch.cat([double(part), double(part)], dim=-1)[None] for part in (cos, sin)]
    turned, _ = apply_rotary_pos_emb(states, states, *repeat)
    record("rope half", numbers, x=x, table=table, expected=turned[0].permute(1, 0, 2).numpy())

    pairs = torch.view_as_complex(double(x).reshape(rows, heads, head_dim // 2, 2))
    turns = torch.complex(double(cos), double(sin))[:, None]
    record("rope adjacent", numbers, x=x, table=table,
           expected=torch.view_as_real(pairs * turns).reshape(rows, heads, head_dim).numpy())


def attention():
    def case(name, kind, queries, keys, heads, kv_heads, head_dim, causal, first):
        scale = head_dim**-0.5
        q = normal(queries, heads, head_dim, scale=2)
        k, v = normal(keys, kv_heads, head_dim), normal(keys, kv_heads, head_dim)
        if kind == "F16":
            k, v = k.astype(np.float16), v.astype(np.float16)
        mask = torch.ones(queries, keys, dtype=torch.bool)
        if causal:
            mask = torch.tril(mask, diagonal=first)
        out = F.scaled_dot_product_attention(
            *(double(part.astype(np.float32)).permute(1, 0, 2)[None] for part in (q, k, v)),
            attn_mask=mask, scale=scale, enable_gqa=True)
        record(f"attention {name}", {
            "queries": queries, "keys": keys, "heads": heads, "kvHeads": kv_heads, "headDim": head_dim,
            "scale": scale, "causal": int(causal), "firstPosition": first,
        }, q=q, k=k, v=v, expected=out[0].permute(1, 0, 2).numpy())

    case("bidirectional", "F32", 5, 7, 2, 2, 6, False, 0)
    case("causal from the start", "F32", 6, 6, 3, 1, 5, True, 0)
    case("causal continued, grouped", "F32", 3, 11, 6, 2, 8, True, 8)
    case("one query, half cache", "F16", 1, 9, 4, 2, 8, True, 8)


def activations():
    x = np.concatenate([np.linspace(-12, 12, 193), normal(40, scale=4), [0.0, -0.0, 30, -30, 1e-20]]).astype(np.float32)
    numbers = {"rows": 1, "columns": len(x)}
    record("geluTanh", numbers, x=x, expected=F.gelu(double(x), approximate="tanh").numpy())
    record("geluErf", numbers, x=x, expected=F.gelu(double(x)).numpy())
    record("geluQuick", numbers, x=x, expected=QuickGELUActivation()(double(x)).numpy())
    up = normal(len(x))
    record("siluMul", numbers, gate=x, up=up, expected=(F.silu(double(x)) * double(up)).numpy())
    points = np.concatenate([np.linspace(-6, 6, 241), [1e-300, 1e-9, 2.4999, 2.5, 2.5001, 26.0, 40.0]])
    record("erf", {}, x=points, expected=np.array([math.erf(point) for point in points]))


def pictures():
    channels, height, width, patch, features = 3, 11, 8, 3, 5
    pixels, weight, bias = normal(channels, height, width), normal(features, channels, patch, patch), normal(features)
    out = F.conv2d(double(pixels)[None], double(weight), double(bias), stride=patch)
    record("conv2d", {"channels": channels, "height": height, "width": width, "patch": patch,
                      "patchRows": height // patch, "features": features},
           pixels=pixels, weight=weight, bias=bias, expected=out[0].flatten(1).T.numpy())

    for side, columns, factor in [(6, 5, 2), (6, 2, 3)]:
        x = normal(side * side, columns)
        out = Idefics3Connector.pixel_shuffle(None, torch.from_numpy(x)[None], factor)
        record(f"pixelShuffle {factor}", {"gridRows": side, "gridColumns": side, "columns": columns, "factor": factor},
               x=x, expected=out[0].numpy())


def quantize(x):
    """The steps of `quantizeRows` in NumPy's float32; np.rint rounds half to even."""
    rows, columns = x.shape
    padded = -(-columns // 32) * 32
    filled = np.zeros((rows, padded), np.float32)
    filled[:, :columns] = x
    blocks = filled.reshape(rows, -1, 32)
    with np.errstate(all="ignore"):
        largest = np.max(np.abs(blocks), axis=-1, keepdims=True)
        inverse = np.where(largest > 0, np.float32(127) / largest, np.float32(0))
        codes = np.clip(np.nan_to_num(np.rint(blocks * inverse), nan=0, posinf=127, neginf=-127), -127, 127)
        scales = (largest / np.float32(127)).reshape(rows, -1)
    codes = codes.astype(np.int8).reshape(rows, padded)
    sums = codes.reshape(rows, -1, 16).astype(np.int32).sum(axis=-1, dtype=np.int32)
    assert scales.dtype == np.float32 and inverse.dtype == np.float32
    return codes, scales, sums


def quantized():
    x = normal(5, 72, scale=3)
    x[1, :32] = 0
    x[2, :32] *= np.float32(1e-38)
    x[2, 32:64] *= np.float32(1e-43)
    x[3, 5], x[3, 40] = np.nan, np.inf
    x[4, :32] = np.arange(32) / 2
    x[4, 0] = 127
    codes, scales, sums = quantize(x)
    record("quantizeRows", {"rows": 5, "columns": 72}, x=x, codes=codes, scales=scales, sums=sums)

    half_fields = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
                   Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208], Type.IQ4_NL: [0]}
    for kind, fields in half_fields.items():
        m, n, k = 2, 3, 256
        length, size = gguf.GGML_QUANT_SIZES[kind]
        blocks = rng.integers(0, 256, size=(n * k // length, size), dtype=np.uint8)
        for offset in fields:
            scales = (rng.standard_normal(len(blocks)) * 0.05).astype(np.float16)
            blocks[:, offset:offset + 2] = scales.view(np.uint8).reshape(-1, 2)
        weights = gguf.quants.dequantize(blocks.reshape(n, -1), kind).reshape(n, k).astype(np.float64)
        codes, scales, sums = quantize(normal(m, k))
        values = codes.astype(np.float64) * np.repeat(scales.astype(np.float64), 32, axis=1)
        bias = normal(n)
        record(f"matmulQuantized {kind.name}", {"m": m, "n": n, "k": k}, matrix=blocks, bias=bias,
               codes=codes, scales=scales, sums=sums, expected=values @ weights.T + bias)


def linear():
    m, n, k = 3, 5, 19
    for name, dtype in [("F32", torch.float32), ("F16", torch.float16), ("BF16", torch.bfloat16)]:
        x, bias = normal(m, k), normal(n)
        weight = torch.from_numpy(normal(n, k)).to(dtype)
        raw = weight.view(torch.uint8).numpy()
        record(f"matmulFloat {name}", {"m": m, "n": n, "k": k}, x=x, matrix=raw, bias=bias,
               expected=F.linear(double(x), weight.double(), double(bias)).numpy())


def pools():
    # Grid rows, grid columns (of x), columns, factor. In float32, as the model would compute it: the sums have an order.
    for rows, grid, columns, factor in [(24, 24, 3, 2), (24, 24, 3, 3), (8, 4, 5, 4), (3, 6, 7, 1)]:
        x = normal(rows * grid, columns)
        planes = torch.from_numpy(x).T.reshape(1, columns, rows, grid)
        out = F.avg_pool2d(planes, factor)
        record(f"poolRows {grid} by {factor}", {"rows": rows // factor, "gridColumns": grid, "columns": columns,
               "factor": factor}, x=x, expected=out[0].flatten(1).T.numpy())


def cache_rows(x):
    """Rows of the 8-bit cache (src/backend/cache-rows.ts) as bytes, and the values they stand for."""
    rows, columns = x.shape
    padded = -(-columns // 32) * 32
    filled = np.zeros((rows, padded), np.float32)
    filled[:, :columns] = x
    blocks = filled.reshape(rows, -1, 32)
    with np.errstate(all="ignore"):
        exact = np.max(np.abs(blocks), axis=-1) / np.float32(127)
        bits = np.where(np.isnan(exact), 0x7FC0, -(-exact.view(np.uint32).astype(np.int64) // 65536)).astype(np.uint16)
        scales = (bits.astype(np.uint32) << 16).view(np.float32)
        inverse = np.where(exact > 0, np.float32(1) / scales, np.float32(0))[..., None]
        codes = np.clip(np.nan_to_num(np.rint(blocks * inverse), nan=0, posinf=127, neginf=-127), -127, 127)
        codes = codes.astype(np.int8)
        values = (codes.astype(np.float64) * scales[..., None]).reshape(rows, padded)[:, :columns]
    assert inverse.dtype == np.float32
    parts = [codes.reshape(rows, padded)[:, :columns].view(np.uint8), bits.view(np.uint8).reshape(rows, -1)]
    filling = -sum(part.shape[1] for part in parts) % 4
    return np.concatenate([*parts, np.zeros((rows, filling), np.uint8)], axis=1), values


def cache():
    rows, columns = 7, 72
    x = normal(rows, columns, scale=3)
    x[1, :32] = 0
    x[2, :32] *= np.float32(1e-38)
    x[2, 32:64] *= np.float32(1e-43)
    x[3, 5], x[3, 40] = np.nan, -np.inf
    x[4, :32] = np.arange(32) / 2
    x[4, 0] = 127
    x[5] *= np.float32(1e-6)
    record("storeRows 8 bits", {"rows": rows, "headDim": columns}, x=x, expected=cache_rows(x)[0])

    keys, heads, kv_heads, head_dim = 11, 6, 2, 40
    scale = head_dim**-0.5
    q = normal(1, heads, head_dim, scale=2)
    (k, k_values), (v, v_values) = (cache_rows(normal(kv_heads * keys, head_dim)) for _ in range(2))
    out = F.scaled_dot_product_attention(
        double(q).permute(1, 0, 2)[None],
        *(torch.from_numpy(values).reshape(1, kv_heads, keys, head_dim) for values in (k_values, v_values)),
        scale=scale, enable_gqa=True)
    record("attention one query, 8-bit cache", {
        "queries": 1, "keys": keys, "heads": heads, "kvHeads": kv_heads, "headDim": head_dim,
        "scale": scale, "causal": 1, "firstPosition": keys - 1,
    }, q=q, k=k, v=v, expected=out[0].permute(1, 0, 2).numpy())


def more_activations():
    x = normal(97, scale=4)
    for name, function in [("relu", F.relu), ("tanh", torch.tanh), ("sigmoid", torch.sigmoid), ("silu", F.silu)]:
        record(name, {}, x=x, expected=function(double(x)).numpy())
    record("leakyRelu", {"slope": 0.1}, x=x, expected=F.leaky_relu(double(x), float(np.float32(0.1))).numpy())


def partial_rope():
    # As Moonshine: pairs of neighbours, the first 6 of 10 elements of a head.
    rows, heads, head_dim, rotary = 4, 3, 10, 6
    x = normal(rows, heads, head_dim)
    angles = np.array([0, 1, 7, 1000])[:, None] * 10000.0 ** (-np.arange(0, rotary, 2) / rotary)
    cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
    from transformers.models.moonshine.modeling_moonshine import apply_rotary_pos_emb as moonshine_rope

    states = double(x).permute(1, 0, 2)[None]
    both = [torch.cat([double(part), double(part)], dim=-1)[None] for part in (cos, sin)]
    turned, _ = moonshine_rope(states, states, *both)
    record("rope partial", {"rows": rows, "heads": heads, "headDim": head_dim, "rotaryDim": rotary}, x=x,
           table=np.stack([cos, sin], axis=1), expected=turned[0].permute(1, 0, 2).numpy())


def convolutions():
    rows, columns, out = 11, 3, 4
    x, bias = normal(rows, columns), normal(out)
    for name, kernel, stride, dilation, padding in [("plain", 3, 1, 1, 1), ("strided", 5, 2, 1, 2), ("dilated", 3, 1, 3, 3), ("causal", 5, 2, 1, 4)]:
        weight = normal(out, columns, kernel)
        padded = F.pad(double(x).T[None], (padding, padding if name != "causal" else 0))
        expected = F.conv1d(padded, double(weight), double(bias), stride=stride, dilation=dilation)[0].T
        numbers = {"rows": rows, "columns": columns, "outRows": expected.shape[0], "out": out, "kernel": kernel,
                   "stride": stride, "dilation": dilation, "padding": padding}
        record(f"conv1d {name}", numbers, x=x, weight=weight, bias=bias, expected=expected.numpy())
    for name, kernel, stride, padding in [("double", 8, 4, 2), ("odd", 7, 3, 2)]:
        weight = normal(columns, out, kernel)
        expected = F.conv_transpose1d(double(x).T[None], double(weight), double(bias), stride=stride, padding=padding)[0].T
        numbers = {"rows": rows, "columns": columns, "outRows": expected.shape[0], "out": out, "kernel": kernel,
                   "stride": stride, "padding": padding}
        record(f"convTranspose1d {name}", numbers, x=x, weight=weight, bias=bias, expected=expected.numpy())
    weight, bias = normal(columns, 1, 3), normal(columns)
    expected = F.conv1d(double(x).T[None], double(weight), double(bias), dilation=2, padding=2, groups=columns)[0].T
    record("depthwiseConv", {"rows": rows, "columns": columns, "kernel": 3, "dilation": 2, "padding": 2}, x=x,
           weight=weight[:, 0].T, bias=bias, expected=expected.numpy())


def gates():
    rows, columns = 4, 5
    x = normal(rows, 2 * columns, scale=2)
    first, second = double(x).split(columns, dim=1)
    record("tanhSigmoidMul", {"rows": rows, "columns": columns}, x=x, expected=(torch.tanh(first) * torch.sigmoid(second)).numpy())
    cell = torch.nn.LSTMCell(3, columns).double()
    inputs, h, c = torch.randn(rows, 3, dtype=torch.float64), normal(rows, columns), normal(rows, columns)
    gates = F.linear(inputs, cell.weight_ih, cell.bias_ih) + F.linear(double(h), cell.weight_hh, cell.bias_hh)
    gates = gates.detach().numpy().astype(np.float32)
    with torch.no_grad():
        # The same step, from the gates as float32 holds them.
        i, f, g, o = double(gates).split(columns, dim=1)
        after = torch.sigmoid(f) * double(c) + torch.sigmoid(i) * torch.tanh(g)
        expected = torch.stack([torch.sigmoid(o) * torch.tanh(after), after], dim=1)
        exact = torch.stack(cell(inputs, (double(h), double(c))), dim=1)
        assert torch.allclose(expected, exact, atol=1e-5)
    record("lstmCell", {"rows": rows, "hidden": columns}, gates=gates, state=np.stack([h, c], axis=1), expected=expected.numpy())


def group_norm():
    rows, columns, groups = 6, 8, 2
    x, weight, bias = normal(rows, columns, scale=3), normal(columns), normal(columns)
    expected = F.group_norm(double(x).T[None], groups, double(weight), double(bias), 1e-5)[0].T
    record("groupNorm", {"rows": rows, "columns": columns, "groups": groups, "epsilon": 1e-5}, x=x, weight=weight, bias=bias, expected=expected.numpy())


def local_attention():
    from transformers import VitsConfig
    from transformers.models.vits.modeling_vits import VitsAttention

    rows, heads, head_dim, reach = 9, 2, 6, 4
    for rows in (9, 3):
        module = VitsAttention(VitsConfig(hidden_size=heads * head_dim, num_attention_heads=heads, window_size=reach, attention_dropout=0.0)).double().eval()
        q, k, v = (normal(rows, heads, head_dim, scale=2) for _ in range(3))
        rel_k, rel_v = normal(2 * reach + 1, head_dim), normal(2 * reach + 1, head_dim)
        with torch.no_grad():
            for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                getattr(module, name).weight.copy_(torch.eye(heads * head_dim))
                getattr(module, name).bias.zero_()
            module.emb_rel_k.copy_(double(rel_k)[None])
            module.emb_rel_v.copy_(double(rel_v)[None])
            # The projections are identities, so one input cannot give three different results: exchange them.
            module.q_proj.forward = lambda _: double(q).reshape(1, rows, -1)
            module.k_proj.forward = lambda _: double(k).reshape(1, rows, -1)
            module.v_proj.forward = lambda _: double(v).reshape(1, rows, -1)
            expected, _ = module(torch.zeros(1, rows, heads * head_dim, dtype=torch.float64))
        record(f"localAttention distances {rows}", {"rows": rows, "heads": heads, "headDim": head_dim, "reach": reach, "scale": head_dim**-0.5,
               "left": 0, "right": 0}, q=q, k=k, v=v, relativeKeys=rel_k, relativeValues=rel_v, expected=expected[0].reshape(rows, heads, head_dim).numpy())
    rows, left, right = 12, 4, 2
    q, k, v = (normal(rows, heads, head_dim, scale=2) for _ in range(3))
    distance = torch.arange(rows)[:, None] - torch.arange(rows)[None]
    visible = ((distance >= 0) & (distance < left)) | ((distance < 0) & (-distance < right))
    per_head = [double(part).permute(1, 0, 2)[None] for part in (q, k, v)]
    expected = F.scaled_dot_product_attention(*per_head, attn_mask=visible)[0].permute(1, 0, 2)
    record("localAttention window", {"rows": rows, "heads": heads, "headDim": head_dim, "reach": 0, "scale": head_dim**-0.5,
           "left": left, "right": right}, q=q, k=k, v=v, expected=expected.numpy())


for make in (norms, rope, attention, activations, pictures, quantized, linear, pools, cache, more_activations, partial_rope,
             convolutions, gates, group_norm, local_attention):
    make()
lines = (f"  {json.dumps(name)}: {json.dumps(vector)}" for name, vector in vectors.items())
(HERE / "vectors.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
print(f"{len(vectors)} vectors, {(HERE / 'vectors.json').stat().st_size} bytes")
