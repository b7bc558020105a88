"""Writes small.onnx and what is in it (small.json). Needs onnx 1.23."""
import json, pathlib
import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

rng = np.random.default_rng(7)
here = pathlib.Path(__file__).parent
tensors = {
    "conv.weight": rng.standard_normal((4, 3, 5)).astype(np.float32),
    "conv.bias": rng.standard_normal(4).astype(np.float32),
    "half": rng.standard_normal((2, 2)).astype(np.float16),
    "ids": np.array([[1, -2], [3, 4]], dtype=np.int64),
    "scalar": np.array(2.5, dtype=np.float32),
}
initializers = [numpy_helper.from_array(value, name) for name, value in tensors.items()]
inline = helper.make_tensor("inline", TensorProto.FLOAT, [2], [1.0, 2.0])
nodes = [
    helper.make_node("Conv", ["x", "conv.weight", "conv.bias"], ["y"], kernel_shape=[5], pads=[2, 2]),
    helper.make_node("Relu", ["y"], ["z"]),
]
graph = helper.make_graph(
    nodes,
    "small",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, None])],
    [helper.make_tensor_value_info("z", TensorProto.FLOAT, [1, 4, None])],
    initializers + [inline],
)
save(helper.make_model(graph, producer_name="test"), here / "small.onnx")
(here / "small.json").write_text(
    json.dumps({name: {"shape": list(value.shape), "values": value.astype(np.float64).ravel().tolist()} for name, value in tensors.items()})
)
