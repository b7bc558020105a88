"""Probabilities that Transformers' logits processors leave, for src/generation/sampler.test.ts.

    pip install torch==2.13.0 transformers==5.18.0
    python make_sampling_vectors.py > sampling.json
"""
import json
import torch
from transformers.generation import logits_process as lp

CASES = [
    {},
    {"temperature": 0.3},
    {"temperature": 1.7},
    {"topK": 5},
    {"topK": 1},
    {"topK": 1000},
    {"topP": 0.9},
    {"topP": 0.2},
    {"topP": 0.0001},
    {"minP": 0.1},
    {"minP": 1.0},
    {"repetitionPenalty": 1.3, "seen": [0, 3, 7, 7, 12, 39]},
    {"repetitionPenalty": 0.8, "seen": [1, 2, 20]},
    {"temperature": 0.7, "topK": 20, "topP": 0.8, "minP": 0.05, "repetitionPenalty": 1.2, "seen": [4, 5, 6, 30]},
    {"temperature": 2.5, "topK": 30, "topP": 0.95},
]


def probabilities(logits, case):
    ids = torch.tensor([case.get("seen", [0])])
    scores = logits[None].clone()
    # The order in which `generate` builds its list.
    if "repetitionPenalty" in case: scores = lp.RepetitionPenaltyLogitsProcessor(case["repetitionPenalty"])(ids, scores)
    if "temperature" in case: scores = lp.TemperatureLogitsWarper(case["temperature"])(ids, scores)
    if "topK" in case: scores = lp.TopKLogitsWarper(case["topK"])(ids, scores)
    if "topP" in case: scores = lp.TopPLogitsWarper(case["topP"])(ids, scores)
    if "minP" in case: scores = lp.MinPLogitsWarper(case["minP"])(ids, scores)
    return scores.softmax(-1)[0]


torch.manual_seed(5)
logits = torch.randn(40) * 2
out = {"logits": logits.tolist(), "cases": []}
for case in CASES:
    out["cases"].append({"options": {k: v for k, v in case.items() if k != "seen"}, "seen": case.get("seen", []), "probabilities": probabilities(logits, case).tolist()})
print(json.dumps(out))
