"""
Two small random VITS voices with every stage of one sentence, from Transformers 5.18.0 (torch 2.13.0, CPU, float32):

  hf/     a Hugging Face folder (config.json, model.safetensors, vocab.json) with residual blocks of type 1, two
          speakers and the stochastic duration predictor, weights normalised as published voices are.
  piper/  a Piper voice (voice.onnx, voice.onnx.json) with residual blocks of type 2 and one speaker. Its network is
          the same code, with the residual blocks exchanged for those of type 2 of the HiFi-GAN paper.

stages.json holds names, shapes and offsets into stages.f32.
"""
import json, pathlib
import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from safetensors.torch import save_file
from transformers import VitsConfig, VitsModel
from transformers.models.vits import modeling_vits

here = pathlib.Path(__file__).parent
torch.manual_seed(11)


def tiny(**changes):
    return VitsConfig(
        vocab_size=20,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        window_size=4,
        ffn_dim=48,
        flow_size=24,
        spectrogram_bins=24,
        prior_encoder_num_flows=2,
        prior_encoder_num_wavenet_layers=2,
        upsample_initial_channel=32,
        upsample_rates=[4, 3],
        upsample_kernel_sizes=[8, 7],
        resblock_kernel_sizes=[3, 5],
        duration_predictor_num_flows=2,
        sampling_rate=16000,
        layerdrop=0.0,
        **changes,
    )


class BlockOfType2(torch.nn.Module):
    def __init__(self, channels, kernel_size=3, dilation=(1, 3), leaky_relu_slope=0.1):
        super().__init__()
        self.slope = leaky_relu_slope
        self.convs = torch.nn.ModuleList(
            torch.nn.Conv1d(channels, channels, kernel_size, dilation=d, padding=(kernel_size - 1) * d // 2)
            for d in dilation
        )

    def forward(self, x):
        for conv in self.convs:
            x = x + conv(torch.nn.functional.leaky_relu(x, self.slope))
        return x

    def apply_weight_norm(self):
        pass


def stages_of(model, ids, speaker=None):
    """Runs the model with noise that is kept, and returns everything on the way."""
    kept = {}
    generator = torch.Generator().manual_seed(5)

    def randn(*shape, **_):
        noise = original(*shape, generator=generator)
        kept["noise_duration"] = noise
        return noise

    def randn_like(like, **_):
        kept["noise_prior"] = original(*like.shape, generator=generator)
        return kept["noise_prior"]

    original = torch.randn
    hooks = []

    def keep(name, module, pick=lambda output: output):
        hooks.append(module.register_forward_hook(lambda *a: kept.__setitem__(name, pick(a[2]).detach())))

    keep("text_hidden", model.text_encoder, lambda o: o.last_hidden_state)
    keep("prior_means", model.text_encoder, lambda o: o.prior_means)
    keep("prior_log_variances", model.text_encoder, lambda o: o.prior_log_variances)
    keep("log_duration", model.duration_predictor)
    keep("latents", model.flow)
    keep("decoder_pre", model.decoder.conv_pre)
    for i, up in enumerate(model.decoder.upsampler):
        keep(f"decoder_up{i}", up)
    torch.randn, torch.randn_like = randn, randn_like
    try:
        with torch.no_grad():
            waveform = model(input_ids=torch.tensor([ids]), speaker_id=speaker).waveform
    finally:
        torch.randn = original
        torch.randn_like = original_like
        for hook in hooks:
            hook.remove()
    kept["waveform"] = waveform
    return kept


original_like = torch.randn_like


def write_stages(folder, ids, stages, more):
    data, index, offset = [], {}, 0
    for name, value in stages.items():
        array = value.detach().numpy().astype("<f4")
        if array.ndim == 3 and name not in ("text_hidden", "prior_means", "prior_log_variances"):
            array = array.transpose(0, 2, 1)  # time first, as the engine has it
        array = np.ascontiguousarray(array[0])
        index[name] = {"shape": list(array.shape), "offset": offset}
        data.append(array.ravel())
        offset += array.size
    np.concatenate(data).tofile(folder / "stages.f32")
    (folder / "stages.json").write_text(json.dumps({"ids": ids, **more, "stages": index}))


def randomise(model):
    for name, parameter in model.named_parameters():
        scale = 0.3 if "emb_rel" in name else 0.15 if parameter.dim() > 1 else 0.1
        with torch.no_grad():
            if "norm" in name and name.endswith("weight") and parameter.dim() == 1:
                parameter.copy_(1 + 0.1 * torch.randn_like(parameter))
            elif name.endswith("original0"):
                parameter.copy_(1 + 0.3 * torch.rand_like(parameter))
            else:
                parameter.copy_(scale * torch.randn_like(parameter))


ids = [0, 5, 0, 7, 0, 19, 0, 3, 0, 3, 0, 11, 0]

# Hugging Face
folder = here / "hf"
folder.mkdir(exist_ok=True)
config = tiny(num_speakers=2, speaker_embedding_size=6, resblock_dilation_sizes=[[1, 3, 5], [1, 3, 5]])
model = VitsModel(config).eval()
model.decoder.apply_weight_norm()
randomise(model)
save_file({k: v.contiguous() for k, v in model.state_dict().items() if not k.startswith("posterior_encoder") and "post_" not in k}, folder / "model.safetensors")
(folder / "config.json").write_text(config.to_json_string())
vocab = {symbol: index for index, symbol in enumerate("_abcdefghijklmnopqr ")}
(folder / "vocab.json").write_text(json.dumps(vocab))
(folder / "tokenizer_config.json").write_text(json.dumps({"add_blank": True, "is_uroman": False, "language": "en", "normalize": True, "phonemize": False, "pad_token": "_"}))
write_stages(folder, ids, stages_of(model, ids, speaker=1), {"speaker": 1})

# Piper
folder = here / "piper"
folder.mkdir(exist_ok=True)
modeling_vits.HifiGanResidualBlock = BlockOfType2
config = tiny(num_speakers=1, speaker_embedding_size=0, resblock_dilation_sizes=[[1, 2], [2, 6]])
model = VitsModel(config).eval()
randomise(model)
write_stages(folder, ids, stages_of(model, ids), {})
NAMES = [
    ("text_encoder.embed_tokens.weight", "sid"),
    ("text_encoder.encoder.layers.", "enc_p.encoder.layers."),
    ("text_encoder.project", "enc_p.proj"),
    ("duration_predictor.conv_pre", "dp.pre"),
    ("duration_predictor.conv_proj", "dp.proj"),
    ("duration_predictor.conv_dds", "dp.convs"),
    ("duration_predictor.flows", "dp.flows"),
    ("decoder.upsampler", "dec.ups"),
    ("decoder.", "dec."),
]


def piper_name(name):
    """The names of the published VITS code, which Piper's exporter keeps."""
    import re

    for old, new in NAMES:
        name = name.replace(old, new) if name.startswith(old) else name
    if name.startswith("enc_p.encoder.layers."):
        _, _, _, index, *rest = name.split(".")
        rest = ".".join(rest)
        for old, new in [("attention.q_proj", "conv_q"), ("attention.k_proj", "conv_k"), ("attention.v_proj", "conv_v"), ("attention.out_proj", "conv_o"), ("attention.", "")]:
            if rest.startswith(old) and rest.startswith("attention"):
                return f"enc_p.encoder.attn_layers.{index}.{rest.replace(old, new)}"
        if rest.startswith("feed_forward."):
            return f"enc_p.encoder.ffn_layers.{index}.{rest[len('feed_forward.'):]}"
        norm, kind = rest.split(".")
        number = {"layer_norm": 1, "final_layer_norm": 2}[norm]
        return f"enc_p.encoder.norm_layers_{number}.{index}.{'gamma' if kind == 'weight' else 'beta'}"
    if name.startswith("dp."):
        # Published code has a flip between flows: numbers 0, 1, 3, 5, …
        name = re.sub(r"^dp\.flows\.(\d+)\.", lambda m: f"dp.flows.{max(0, 2 * int(m[1]) - 1)}.", name)
        name = name.replace("conv_pre", "pre").replace("conv_proj", "proj").replace("conv_dds", "convs")
        name = name.replace("convs_dilated", "convs_sep").replace("convs_pointwise", "convs_1x1")
        name = name.replace(".translate", ".m").replace(".log_scale", ".logs")
        if ".norms_" in name:
            name = name.replace(".weight", ".gamma").replace(".bias", ".beta")
    if name.startswith("flow."):
        name = re.sub(r"^flow\.flows\.(\d+)\.", lambda m: f"flow.flows.{2 * int(m[1])}.", name)
        name = name.replace("conv_pre", "pre").replace("conv_post", "post").replace("wavenet", "enc")
    return name


weights, nodes = {}, [helper.make_node("Gather", ["sid", "input"], ["/enc_p/emb/Gather_output_0"])]
modules = dict(model.named_modules())
state = {}
for name, module in modules.items():
    for kind in ("weight", "bias"):
        value = getattr(module, kind, None)
        if isinstance(value, torch.Tensor):
            state[f"{name}.{kind}"] = value
for name, parameter in model.named_parameters():
    if "original" not in name:
        state.setdefault(name, parameter)
number = 100
for name, value in state.items():
    if name.startswith("posterior_encoder") or "post_" in name and "duration" in name:
        continue
    if name in ("duration_predictor.flows.1.conv_pre.weight",) or name.startswith("duration_predictor.flows.1."):
        continue  # runs in training only; exporters leave it out
    array = value.detach().numpy()
    if array.ndim == 2 and "proj.weight" in name and "attention" in name:
        array = array[:, :, None]
    target = piper_name(name)
    if target == "dp.flows.0.logs":
        # Exporters fold exp(-logs) into a constant.
        weights["/dp/flows.0/Exp_output_0"] = np.exp(-array)
        nodes.append(helper.make_node("Mul", ["x", "/dp/flows.0/Exp_output_0"], ["y"]))
        continue
    if ".enc." in target and target.endswith("weight"):
        # Normalised weights lose their names.
        number += 3
        weights[f"onnx::Conv_{number}"] = array
        module = modules[name.removesuffix(".weight")]
        nodes.append(helper.make_node("Conv", ["x", f"onnx::Conv_{number}", target.replace("weight", "bias")], ["y"], dilations=list(module.dilation), strides=list(module.stride)))
        continue
    weights[target] = array
    module = modules.get(name.removesuffix(".weight"))
    if isinstance(module, (torch.nn.Conv1d, torch.nn.ConvTranspose1d)):
        kind = "ConvTranspose" if isinstance(module, torch.nn.ConvTranspose1d) else "Conv"
        nodes.append(helper.make_node(kind, ["x", target, target.replace("weight", "bias")], ["y"], dilations=list(module.dilation), strides=list(module.stride), pads=[module.padding[0]] * 2))
inputs = [helper.make_tensor_value_info("input", TensorProto.INT64, ["batch_size", "phonemes"])]
graph = helper.make_graph(nodes, "voice", inputs, [helper.make_tensor_value_info("output", TensorProto.FLOAT, [1, 1, None, None])], [numpy_helper.from_array(np.ascontiguousarray(v), k) for k, v in weights.items()])
onnx.save(helper.make_model(graph), folder / "voice.onnx")
symbols = ["_", "^", "$", " ", "!", ",", ".", "?", "a", "b", "d", "e", "k", "n", "s", "t", "ə", "ɹ", "ˈ", "ː"]
(folder / "voice.onnx.json").write_text(
    json.dumps(
        {
            "audio": {"sample_rate": 16000, "quality": "medium"},
            "espeak": {"voice": "en-us"},
            "phoneme_type": "espeak",
            "inference": {"noise_scale": 0.667, "length_scale": 1, "noise_w": 0.8},
            "phoneme_id_map": {symbol: [index] for index, symbol in enumerate(symbols)},
            "num_symbols": len(symbols),
            "num_speakers": 1,
            "speaker_id_map": {},
            "language": {"code": "en_US", "family": "en"},
        }
    )
)
print({k: v.shape for k, v in weights.items() if k.startswith(("dp.flows", "dec.ups", "onnx", "/dp"))})
