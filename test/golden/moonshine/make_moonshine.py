"""
Small random Moonshine models, version 1 and streaming, with every stage of one utterance from Transformers 5.18.0
(torch 2.13.0, CPU, float32): folders v1/ and streaming/ with config.json, model.safetensors, tokenizer.json, stages.json
(names, shapes, offsets) and stages.f32.
"""
import json, pathlib
import numpy as np
import torch
from safetensors.torch import save_file
from transformers.models.moonshine.modeling_moonshine import MoonshineEncoderModelOutput
from transformers import (
    MoonshineConfig,
    MoonshineForConditionalGeneration,
    MoonshineStreamingConfig,
    MoonshineStreamingForConditionalGeneration,
)

here = pathlib.Path(__file__).parent
torch.manual_seed(3)
VOCABULARY = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + list("▁abcdefghijklmnopqrstuvwxyz.,'")


def write(folder, model, samples, **more):
    folder.mkdir(exist_ok=True)
    for name, parameter in model.named_parameters():
        with torch.no_grad():
            if "norm" in name and parameter.dim() == 1:
                parameter.copy_((0 if "gamma" in name else 1) + 0.2 * torch.randn_like(parameter))
            elif "log_k" not in name:
                parameter.copy_(0.25 * torch.randn_like(parameter) / (parameter[0].numel() ** 0.5 / 4 if parameter.dim() > 1 else 1))
    model.eval()
    state = {k: v.contiguous() for k, v in model.state_dict().items()}
    if model.config.tie_word_embeddings:
        state.pop("proj_out.weight", None)
    save_file(state, folder / "model.safetensors")
    (folder / "config.json").write_text(model.config.to_json_string())
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": t, "special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False} for i, t in enumerate(VOCABULARY[:3])],
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
        "pre_tokenizer": None, "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False, "vocab": {t: i for i, t in enumerate(VOCABULARY)}, "merges": []},
    }, ensure_ascii=False))
    kept = {}
    encoder = model.model.encoder

    def keep(name):
        return lambda module, inputs, output: kept.__setitem__(name, (output[0] if isinstance(output, tuple) else output).detach())

    hooks = [layer.register_forward_hook(keep(f"encoder.{i}")) for i, layer in enumerate(encoder.layers)]
    hooks += [layer.register_forward_hook(keep(f"decoder.{i}")) for i, layer in enumerate(model.model.decoder.layers)]
    front = encoder.embedder if hasattr(encoder, "embedder") else encoder.conv3
    hooks.append(front.register_forward_hook(keep("front")))
    values = torch.from_numpy(samples)[None]
    mask = torch.ones_like(values, dtype=torch.long)
    with torch.no_grad():
        encoded = encoder(values, attention_mask=mask).last_hidden_state
        kept["encoder"] = encoded.clone()
        ids = [1]
        for _ in range(12):
            logits = model(encoder_outputs=MoonshineEncoderModelOutput(last_hidden_state=encoded.clone()), decoder_input_ids=torch.tensor([ids])).logits
            # The end token of a random model means nothing.
            logits[..., 2] = -1e9
            ids.append(int(logits[0, -1].argmax()))
        full = model(encoder_outputs=MoonshineEncoderModelOutput(last_hidden_state=encoded.clone()), decoder_input_ids=torch.tensor([ids])).logits
    for hook in hooks:
        hook.remove()
    kept["logits"] = full
    if not hasattr(encoder, "embedder"):
        kept["front"] = torch.nn.functional.gelu(kept["front"]).transpose(1, 2)
    data, index, offset = [samples], {"samples": {"shape": [len(samples)], "offset": 0}}, len(samples)
    for name, value in kept.items():
        array = np.ascontiguousarray(value[0].numpy().astype("<f4"))
        index[name] = {"shape": list(array.shape), "offset": offset}
        data.append(array.ravel())
        offset += array.size
    np.concatenate(data).astype("<f4").tofile(folder / "stages.f32")
    (folder / "stages.json").write_text(json.dumps({"ids": ids, "stages": index}))
    print(folder.name, ids, {k: v["shape"] for k, v in index.items()}, sum(v.numel() for v in state.values()))


def sound(seconds):
    t = np.arange(int(16000 * seconds)) / 16000
    return (0.3 * np.sin(2 * np.pi * 220 * t) * np.sin(2 * np.pi * 3 * t) + 0.02 * np.random.default_rng(4).standard_normal(len(t))).astype(np.float32)


size = len(VOCABULARY)
write(here / "v1", MoonshineForConditionalGeneration(MoonshineConfig(
    vocab_size=size, hidden_size=40, intermediate_size=56, encoder_num_hidden_layers=2, decoder_num_hidden_layers=2,
    encoder_num_attention_heads=2, decoder_num_attention_heads=2, max_position_embeddings=64,
    rope_parameters={"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.62})), sound(0.9))
# Transformers 5.18 reads a field that its own configuration lacks.
MoonshineStreamingConfig.num_key_value_heads = 2
write(here / "streaming", MoonshineStreamingForConditionalGeneration(MoonshineStreamingConfig(
    vocab_size=size, hidden_size=40, intermediate_size=56, num_hidden_layers=2, num_attention_heads=2, max_position_embeddings=128,
    encoder_config={"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 3, "num_attention_heads": 2, "num_key_value_heads": 2,
                    "sliding_windows": [[5, 2], [4, 0], [6, 3]]})), sound(1.0))
