"""Writes what the small network of the voice gate makes of the clips beside this file, by NumPy and PyTorch.

    pip install numpy scipy torch==2.13.0 safetensors
    python make_gate_vectors.py             # reads weights/voice-gate.safetensors, writes gate.json
"""
import json, os, sys
import numpy as np
import torch
from safetensors.numpy import load_file
from make_mel_vectors import clip, noise

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{HERE}/../../../scripts/train-gate")
from features import features
from train import Gate

stored = load_file(f"{HERE}/../../../weights/voice-gate.safetensors")
model = Gate().eval()
with torch.no_grad():
    for name, weight, bias in [("input", model.input.weight, model.input.bias), ("head", model.head.weight, model.head.bias),
                               ("gru.input", model.gru.weight_ih_l0, model.gru.bias_ih_l0),
                               ("gru.state", model.gru.weight_hh_l0, model.gru.bias_hh_l0)]:
        weight.copy_(torch.from_numpy(stored[name + ".weight"].astype(np.float32) * stored[name + ".scale"][:, None]))
        bias.copy_(torch.from_numpy(stored[name + ".bias"]))

out = []
for name, loudness, gain in [("en1", 1.0, 0.0), ("ke1", 1.0, 0.1), ("kz2", 0.01, 0.0), ("pj1", 3.0, 0.02)]:
    samples = clip(name)
    samples = (samples * np.float32(loudness) + noise(len(samples)) * np.float32(gain)).astype(np.float32)
    x = features(samples)
    with torch.no_grad():
        p = torch.sigmoid(model(torch.from_numpy(x)[None])[0])[0]
    rows = list(range(0, len(x), 9))
    out.append({"name": name, "loudness": loudness, "noise": gain, "rows": rows,
                "features": [[round(float(v), 6) for v in x[row]] for row in rows], "probabilities": [float(v) for v in p]})
with open(f"{HERE}/gate.json", "w") as file:
    json.dump(out, file)
