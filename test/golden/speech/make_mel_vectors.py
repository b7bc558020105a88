"""Writes what WhisperFeatureExtractor makes of the clips beside this file and of synthetic sound.

    pip install numpy scipy torch==2.13.0 transformers==5.18.0
    python make_mel_vectors.py              # writes mel.json

The extractor's double-precision form is taken (`_np_extract_fbank_features`). Its float32 form, which it uses where
torch is installed, is off by up to 4e-5 in quiet bins by its own rounding; the script prints by how much.
"""
import base64, json, os
import numpy as np
from scipy.io import wavfile

HERE = os.path.dirname(os.path.abspath(__file__))


def clip(name):
    return wavfile.read(f"{HERE}/{name}.wav")[1].astype(np.float32) / 32768


def noise(count):
    """Sample i is the top 16 bits of i * 2654435761 mod 2^32 as a signed number; the test repeats it."""
    i = np.arange(count, dtype=np.uint64)
    top = ((i * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)) >> np.uint64(16)
    return top.astype(np.uint16).view(np.int16).astype(np.float32) / 65536


CASES = [("en1", 80, 1), ("kz2", 128, 1), ("noise", 80, 3 * 16000), ("noise", 80, 480000), ("noise", 128, 479900),
         ("noise", 80, 399), ("noise", 80, 1), ("noise", 80, 0)]

if __name__ == "__main__":
    from transformers import WhisperFeatureExtractor

    out = []
    for name, bands, count in CASES:
        samples = noise(count) if name == "noise" else clip(name)
        extractor = WhisperFeatureExtractor(feature_size=bands)
        window = np.zeros(480000, np.float32)
        window[: len(samples)] = samples
        exact = extractor._np_extract_fbank_features(window[None], "cpu")[0]
        single = extractor._torch_extract_fbank_features(window[None], "cpu")[0]
        touched = min(3000, len(samples) // 160 + 3)
        rows = sorted({0, 1, 2, *range(0, touched, 67), *range(max(0, touched - 5), touched), 2998, 2999})
        out.append({"name": name, "bands": bands, "samples": len(samples), "rows": rows,
                    "base64": base64.b64encode(exact.T[rows].astype(np.float32).tobytes()).decode()})
        print(name, bands, len(samples), "float32 form off by", float(np.abs(exact - single).max()))
    with open(f"{HERE}/mel.json", "w") as file:
        json.dump(out, file)
