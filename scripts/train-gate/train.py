"""Trains the small network of the voice gate and writes weights/voice-gate.safetensors.

    pip install numpy torch==2.13.0 safetensors
    python train.py TRAIN.npz HELD.npz [epochs] [seed]

128 features of 32 ms -> 64 (ReLU) -> GRU of 64 -> probability of speech: 33,281 parameters. Weight matrices are rounded
to 8 bits with one scale for each row, already while training, so that the network learns to live with it.
"""
import os, sys, time
import numpy as np
import torch
from safetensors.numpy import save_file
from torch import nn

INPUT, HIDDEN = 128, 64
# The gate hears this much before it is asked: the running floor of each band has to settle.
WARM_UP = 8


def row_scales(weight):
    return weight.abs().amax(1, keepdim=True).clamp_min(1e-8) / 127


def rounded(weight):
    """What the weights are after 8 bits; the gradient passes as if nothing had happened."""
    scale = row_scales(weight).detach()
    return weight + (torch.round(weight / scale) * scale - weight).detach()


class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.input = nn.Linear(INPUT, HIDDEN)
        self.gru = nn.GRU(HIDDEN, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, 1)

    def forward(self, x, state=None):
        x = torch.relu(nn.functional.linear(x, rounded(self.input.weight), self.input.bias))
        weights = [rounded(self.gru.weight_ih_l0), rounded(self.gru.weight_hh_l0), self.gru.bias_ih_l0, self.gru.bias_hh_l0]
        if state is None:
            state = torch.zeros(1, len(x), HIDDEN)
        out, state = torch._VF.gru(x, state, weights, True, 1, 0.0, False, False, True)
        return nn.functional.linear(out, rounded(self.head.weight), self.head.bias)[..., 0], state


def load(path):
    data = np.load(path)
    return torch.from_numpy(data["x"].astype(np.float32)), torch.from_numpy(data["y"].astype(np.float32))


def judge(model, x, y):
    """Speech missed and false alarms, in percent, at three thresholds."""
    model.eval()
    with torch.no_grad():
        p = torch.sigmoid(torch.cat([model(part)[0] for part in x.split(64)]))[:, WARM_UP:]
    y = y[:, WARM_UP:]
    speech, silence = y > 0.5, y < 0.2
    return {t: (round(float((p[speech] < t).float().mean()) * 100, 2), round(float((p[silence] > t).float().mean()) * 100, 2))
            for t in (0.3, 0.5, 0.7)}


def export(model, path):
    tensors = {}
    for name, weight in [("input", model.input.weight), ("gru.input", model.gru.weight_ih_l0),
                         ("gru.state", model.gru.weight_hh_l0), ("head", model.head.weight)]:
        scale = row_scales(weight.detach())
        tensors[name + ".weight"] = torch.round(weight.detach() / scale).to(torch.int8).numpy()
        tensors[name + ".scale"] = scale[:, 0].numpy()
    for name, bias in [("input", model.input.bias), ("gru.input", model.gru.bias_ih_l0),
                       ("gru.state", model.gru.bias_hh_l0), ("head", model.head.bias)]:
        tensors[name + ".bias"] = bias.detach().numpy()
    save_file({name: np.ascontiguousarray(value) for name, value in tensors.items()}, path,
              {"source": "scripts/train-gate", "teacher": "Silero VAD v6.2 (MIT)"})
    print(path, os.path.getsize(path), "bytes,", sum(p.numel() for p in model.parameters()), "parameters")


if __name__ == "__main__":
    epochs = int(sys.argv[3]) if len(sys.argv) > 3 else 30
    torch.manual_seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    torch.set_num_threads(1)
    x, y = load(sys.argv[1])
    held = load(sys.argv[2])
    model = Gate()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, weight_decay=1e-3)
    batch = 32
    steps = epochs * (len(x) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps)
    start = time.time()
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(x))
        losses = []
        for i in range(len(x) // batch):
            picked = order[i * batch : (i + 1) * batch]
            # A gate is woken anywhere: sequences begin anywhere.
            first = int(torch.randint(0, 120, ()))
            logits, _ = model(x[picked, first:])
            target = y[picked, first:]
            loss = nn.functional.binary_cross_entropy_with_logits(logits[:, WARM_UP:], target[:, WARM_UP:])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss))
        if epoch % 3 == 2 or epoch == epochs - 1:
            print(epoch + 1, round(float(np.mean(losses)), 4), judge(model, *held), round(time.time() - start), "s", flush=True)
    export(model, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../weights/voice-gate.safetensors"))
