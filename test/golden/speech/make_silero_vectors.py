"""Writes the probabilities that Silero VAD v6.2 gives for the clips beside this file, alone and with noise.

    pip install numpy scipy onnxruntime==1.32.0; pip download --no-deps silero-vad==6.2.3; unzip silero_vad-*.whl
    python make_silero_vectors.py silero_vad/data/silero_vad_16k_op15.onnx     # writes silero.json
"""
import hashlib, json, os, sys
import numpy as np
import onnxruntime
from make_mel_vectors import clip, noise

HERE = os.path.dirname(os.path.abspath(__file__))
SHA256 = "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"
with open(sys.argv[1], "rb") as file:
    assert hashlib.sha256(file.read()).hexdigest() == SHA256, "not the file of Silero VAD v6.2"
session = onnxruntime.InferenceSession(sys.argv[1])


def probabilities(samples):
    state, context, out = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    for start in range(0, len(samples) - 511, 512):
        chunk = samples[start : start + 512]
        inputs = {"input": np.concatenate([context, chunk])[None], "state": state, "sr": np.array(16000, np.int64)}
        probability, state = session.run(None, inputs)
        out.append(float(probability[0, 0]))
        context = chunk[-64:]
    return out


CASES = [(name, 1.0, gain) for name in ("en1", "ke1", "kz2", "pj1") for gain in (0.0, 0.1)] + [("kz3", 0.01, 0.0), ("kz3", 3.0, 0.02)]
out = []
for name, loudness, gain in CASES:
    samples = clip(name)
    samples = samples * np.float32(loudness) + noise(len(samples)) * np.float32(gain)
    out.append({"name": name, "loudness": loudness, "noise": gain, "probabilities": probabilities(samples.astype(np.float32))})
with open(f"{HERE}/silero.json", "w") as file:
    json.dump(out, file)
