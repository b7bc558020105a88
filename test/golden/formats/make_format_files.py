"""Small model files written by the Python packages, for the readers in src/formats.

Made with gguf 0.19.0, safetensors 0.8.0, numpy 2.4.6:  python3 test/golden/formats/make_format_files.py
"""

from pathlib import Path

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Value
from safetensors.numpy import save_file

HERE = Path(__file__).parent


def ramp(*shape):
    count = int(np.prod(shape, dtype=np.int64))
    return (np.arange(count, dtype=np.float32) / 8 - 1).reshape(shape)


def write_gguf(path, alignment=None):
    writer = gguf.GGUFWriter(path, arch="llama", use_temp_file=False)
    writer.add_uint8("test.u8", 200)
    writer.add_int8("test.i8", -100)
    writer.add_uint16("test.u16", 60000)
    writer.add_int16("test.i16", -30000)
    writer.add_uint32("test.u32", 4000000000)
    writer.add_int32("test.i32", -2000000000)
    writer.add_uint64("test.u64", 2**53 - 1)
    writer.add_uint64("test.u64.large", 2**64 - 1)
    writer.add_int64("test.i64", -(2**62))
    writer.add_float32("test.f32", 0.1)
    writer.add_float64("test.f64", 0.1)
    writer.add_bool("test.bool", True)
    writer.add_string("test.string", "a bird: \U0001F426, a mark: \ufeff")
    writer.add_key_value("test.array.string", ["", "\ufeff", "é", "<s>"], Value.ARRAY, Value.STRING)
    writer.add_key_value("test.array.f32", [0.5, -1.0], Value.ARRAY, Value.FLOAT32)
    writer.add_key_value("test.array.i32", [1, -1, 3], Value.ARRAY, Value.INT32)
    writer.add_key_value("test.array.bool", [True, False], Value.ARRAY, Value.BOOL)
    writer.add_key_value("test.array.u64", [0, 2**64 - 1], Value.ARRAY, Value.UINT64)
    if alignment is not None:
        writer.add_custom_alignment(alignment)
    else:
        writer.add_quantization_version(2)
        quantised = gguf.quants.quantize(ramp(3, 64), Type.Q8_0)
        writer.add_tensor("blk.0.attn_q.weight", quantised, raw_dtype=Type.Q8_0)
    writer.add_tensor("output_norm.weight", ramp(5))
    writer.add_tensor("token_embd.weight", ramp(2, 3, 4).astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    write_gguf(HERE / "python.gguf")
    write_gguf(HERE / "python-align64.gguf", alignment=64)
    save_file(
        {
            "a.weight": ramp(2, 3),
            "b.half": ramp(3).astype(np.float16),
            "c.long": np.array([-(2**40)], dtype=np.int64),
            "d.flag": np.array([[True, False]]),
            "e.scalar": np.array(7, dtype=np.float32),
            "f.empty": np.zeros((0, 4), dtype=np.float32),
        },
        HERE / "python.safetensors",
        metadata={"format": "pt"},
    )


if __name__ == "__main__":
    main()
