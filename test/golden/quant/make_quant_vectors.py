"""Vectors for src/quant: blocks with their values, decoded and encoded by the Python `gguf` package.

Made with gguf 0.19.0 and numpy 2.4.6:  python3 test/golden/quant/make_quant_vectors.py
Writes one binary file per type and direction (little-endian), each a plain concatenation of
  decode-<TYPE>.bin   blocks, then float32 values
  encode-<TYPE>.bin   float32 values, then blocks
Q8_K is not in the package; its vector follows from the layout: f32 d, i8[256], i16[16], value = q*d.
"""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

HERE = Path(__file__).parent
BLOCKS = 8

# Byte positions of the f16 fields in a block; random bytes there would often be infinity or NaN.
HALF_FIELDS = {
    Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0],
    Type.Q2_K: [80, 82], Type.Q3_K: [108], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208],
    Type.IQ4_NL: [0], Type.IQ4_XS: [0], Type.MXFP4: [], Type.F16: [], Type.BF16: [],
}


def decode_vector(kind, rng):
    block_length, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    blocks = BLOCKS if block_length > 1 else 1024
    data = rng.integers(0, 256, size=(blocks, block_bytes), dtype=np.uint8)
    for at in HALF_FIELDS[kind]:
        scales = rng.normal(0, 0.02, size=blocks).astype(np.float16)
        scales[0] = np.float16(6e-8)  # the smallest subnormal
        scales[1] = np.float16(-0.0)
        scales[2] = np.float16(65504)
        data[:, at:at + 2] = scales.view(np.uint8).reshape(blocks, 2)
    if kind == Type.MXFP4:
        data[:4, 0] = [0, 1, 2, 254]
    if kind in (Type.F16, Type.BF16):
        bits = data.view(np.uint16).reshape(-1)
        exponent = 0x7C00 if kind == Type.F16 else 0x7F80
        bits[(bits & exponent) == exponent] &= np.uint16(~exponent & 0xFFFF)  # NaN payloads differ by platform
        bits[:4] = [0x0001, 0x8001, exponent, exponent | 0x8000]
        data = bits.view(np.uint8).reshape(blocks, 2)
    with np.errstate(all="ignore"):
        values = gguf.quants.dequantize(data.reshape(1, -1), kind).astype(np.float32).reshape(-1)
    return data.tobytes() + values.tobytes()


def encode_vector(kind, rng):
    values = rng.normal(0, 1, size=(BLOCKS, 32)).astype(np.float32)
    values[0] = 0
    values[1] *= 1e-6  # the scale becomes a subnormal half
    values[2] = np.arange(32, dtype=np.float32) - 16  # ties
    values[3] = np.abs(values[3])
    values[4] *= 300
    values[5, 7] = 40  # one outlier
    values[6] = -0.25  # all equal
    with np.errstate(all="ignore"):
        blocks = gguf.quants.quantize(values.reshape(1, -1), kind)
    return values.tobytes() + np.ascontiguousarray(blocks).view(np.uint8).tobytes()


def q8_k_vector(rng):
    out, values = b"", b""
    for _ in range(2):
        d = np.float32(rng.normal(0, 0.02))
        q = rng.integers(-128, 128, size=256, dtype=np.int8)
        out += d.tobytes() + q.tobytes() + q.reshape(16, 16).sum(axis=1, dtype=np.int16).tobytes()
        values += (q.astype(np.float32) * d).tobytes()
    return out + values


def main():
    for index, kind in enumerate(HALF_FIELDS):
        (HERE / f"decode-{kind.name}.bin").write_bytes(decode_vector(kind, np.random.default_rng(100 + index)))
    (HERE / "decode-Q8_K.bin").write_bytes(q8_k_vector(np.random.default_rng(200)))
    encodable = [Type.Q8_0, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.F16, Type.BF16]
    for index, kind in enumerate(encodable):
        (HERE / f"encode-{kind.name}.bin").write_bytes(encode_vector(kind, np.random.default_rng(300 + index)))


if __name__ == "__main__":
    main()
