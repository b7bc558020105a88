"""Writes weights/silero-vad.safetensors from the ONNX file of Silero VAD v6.2 (MIT licence).

    pip install numpy onnx safetensors; pip download --no-deps silero-vad==6.2.3; unzip silero_vad-*.whl
    python convert-silero.py silero_vad/data/silero_vad_16k_op15.onnx

The safetensors file inside that wheel holds older weights than its ONNX files and is not what we want.

Left out: the 66,048 numbers of the Fourier transform, which a formula gives, and the 20,480 convolution weights that
only ever meet padding (third convolution: tap 0; fourth: taps 0 and 2). Convolutions become (outputs, taps, inputs),
so that neighbouring frames lie as the weights do; the two biases of the LSTM are added up. The rest stays float32: in
float16 probabilities would be off by up to 6e-3, in 16-bit integers with a scale for each row by 2e-3, which is more
than the 1e-4 that we hold ourselves to.
"""
import hashlib, os, sys
import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file

SHA256 = "7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49"
path = sys.argv[1]
with open(path, "rb") as file:
    assert hashlib.sha256(file.read()).hexdigest() == SHA256, "not the file of Silero VAD v6.2"

found = {}
def collect(graph):
    for tensor in graph.initializer:
        found[tensor.name] = numpy_helper.to_array(tensor)
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                collect(attribute.g)
            elif attribute.type == onnx.AttributeProto.TENSOR and attribute.name == "value":
                found[node.output[0]] = numpy_helper.to_array(attribute.t)
collect(onnx.load(path).graph)

TAPS = [[0, 1, 2], [0, 1, 2], [1, 2], [1]]
out = {}
for i, taps in enumerate(TAPS):
    weight = found[f"model.encoder.{i}.reparam_conv.weight"]
    out[f"conv{i + 1}.weight"] = weight[:, :, taps].transpose(0, 2, 1).reshape(len(weight), -1)
    out[f"conv{i + 1}.bias"] = found[f"model.encoder.{i}.reparam_conv.bias"]
rnn = {name: found[f"model.decoder.rnn.{name}"] for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
out["lstm.weight"] = np.concatenate([rnn["weight_ih"], rnn["weight_hh"]], 1)
out["lstm.bias"] = rnn["bias_ih"] + rnn["bias_hh"]
out["head.weight"] = found["model.decoder.decoder.2.weight"].reshape(1, 128)
out["head.bias"] = found["model.decoder.decoder.2.bias"].reshape(1)

out = {name: np.ascontiguousarray(value, np.float32) for name, value in out.items()}
target = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../weights/silero-vad.safetensors")
save_file(out, target, {"source": "silero-vad 6.2.3, silero_vad_16k_op15.onnx", "licence": "MIT", "sha256": SHA256})
print({name: value.shape for name, value in out.items()}, sum(v.size for v in out.values()), os.path.getsize(target))
