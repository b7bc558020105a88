"""Log-probabilities and embeddings by PyTorch and Transformers, of the reference models beside this folder.

    pip install torch==2.13.0 transformers==5.18.0
    python make_score_vectors.py > scores.json

`row`: log_softmax of the last row of a run's logits, all elements. `greedy`: for each token that follows a prompt, its
log-probability and the five largest. `embeddings`: mean over all tokens of the last hidden state (behind the final
norm), divided by its length.
"""
import json
from pathlib import Path
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import AutoModelForCausalLM

GOLDEN = Path(__file__).parent.parent
STEPS = 12
TEXTS = ["Hello, who are you? 12 cats, 3 dogs.", "图里有几只猫？请用中文回答。", "a", "How many dogs are there? " * 30]


def numbers(values):
    return [float(f"{v:.7g}") for v in values.tolist()]


def greedy(name):
    model = AutoModelForCausalLM.from_pretrained(GOLDEN / name).eval().float()
    expected = load_file(GOLDEN / name / "expected.safetensors")
    ids, new = expected["t0.input_ids"].tolist(), expected["t0.greedy"].tolist()[:STEPS]
    with torch.no_grad():
        scores = model(torch.tensor([ids + new[:-1]])).logits[0, len(ids) - 1 :].log_softmax(-1)
    steps = []
    for row, id in zip(scores, new):
        top = row.topk(5)
        steps.append({"id": id, "logprob": row[id].item(), "top": list(zip(top.indices.tolist(), numbers(top.values)))})
    return steps


def embed(name):
    model = AutoModelForCausalLM.from_pretrained(GOLDEN / name).eval().float()
    tokenizer = Tokenizer.from_file(str(GOLDEN / name / "tokenizer.json"))
    out = []
    for text in TEXTS:
        ids = tokenizer.encode(text).ids
        with torch.no_grad():
            hidden = model.model(torch.tensor([ids])).last_hidden_state[0]
        mean = hidden.mean(0)
        out.append({"text": text, "tokens": len(ids), "values": numbers(mean / mean.norm())})
    return out


row = load_file(GOLDEN / "qwen2" / "expected.safetensors")["t0.logits"][-1]
print(json.dumps({
    "row": {"model": "qwen2", "run": "t0", "logprobs": numbers(row.log_softmax(-1))},
    "greedy": {name: greedy(name) for name in ["llama3", "qwen2"]},
    "embeddings": {name: embed(name) for name in ["llama3", "qwen3"]},
}, ensure_ascii=False))
