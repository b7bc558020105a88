"""Writes reference models of test/golden/ as GGUF files with the Python `gguf` package, in F16.

    pip install gguf==0.19.0 safetensors numpy
    python make_gguf_models.py

What the files hold follows llama.cpp's converters (see docs and comments of the engine's readers): architecture llama
with the rows of Q and K permuted, qwen2 and qwen3 as they are, mmproj files for idefics3 and mlp, Llama 3's position
scaling as the tensor rope_freqs.weight. The tests hold their own TypeScript converter against these files, tensor by
tensor and key by key, and use that one for everything else.
"""
import json, math
from pathlib import Path
import gguf, numpy as np
from safetensors.numpy import load_file

HERE = Path(__file__).parent
GOLDEN = HERE.parent


def permute(weight, heads):
    """Hugging Face pairs halves of a head, architecture llama neighbours."""
    return weight.reshape(heads, 2, weight.shape[0] // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def add(writer, name, data):
    keep = data.ndim < 2 or "position_embd" in name
    writer.add_tensor(name, data.astype(np.float32 if keep else np.float16))


def add_tokenizer(writer, folder):
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    ids = dict(tokenizer["model"]["vocab"]); ids.update({t["content"]: t["id"] for t in tokenizer["added_tokens"]})
    special = {t["content"] for t in tokenizer["added_tokens"] if t["special"]}
    tokens = sorted(ids, key=ids.get)
    writer.add_tokenizer_model("gpt2"); writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL if t in special else gguf.TokenType.NORMAL for t in tokens])
    writer.add_token_merges([" ".join(pair) for pair in tokenizer["model"]["merges"]])
    writer.add_bos_token_id(ids[settings["bos_token"]]); writer.add_eos_token_id(ids[settings["eos_token"]])
    writer.add_add_bos_token(False)
    writer.add_chat_template(settings["chat_template"])


def rope_divisors(rope, head_dim):
    low = rope["original_max_position_embeddings"] / rope["low_freq_factor"]
    high = rope["original_max_position_embeddings"] / rope["high_freq_factor"]
    divisors = []
    for i in range(head_dim // 2):
        wavelength = 2 * math.pi * rope["rope_theta"] ** (2 * i / head_dim)
        if wavelength < high: divisors.append(1)
        elif wavelength > low: divisors.append(rope["factor"])
        else:
            smooth = (rope["original_max_position_embeddings"] / wavelength - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
            divisors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return np.array(divisors, np.float32)


def write_text(model, out):
    folder = GOLDEN / model
    config = json.loads((folder / "config.json").read_text()); text = config.get("text_config", config)
    arch = text["model_type"]; heads, kv = text["num_attention_heads"], text["num_key_value_heads"]
    head_dim = text.get("head_dim") or text["hidden_size"] // heads
    rope = text["rope_parameters"]
    writer = gguf.GGUFWriter(HERE / out, arch)
    writer.add_context_length(text["max_position_embeddings"]); writer.add_embedding_length(text["hidden_size"])
    writer.add_block_count(text["num_hidden_layers"]); writer.add_feed_forward_length(text["intermediate_size"])
    writer.add_head_count(heads); writer.add_head_count_kv(kv); writer.add_layer_norm_rms_eps(text["rms_norm_eps"])
    writer.add_rope_freq_base(rope["rope_theta"]); writer.add_vocab_size(text["vocab_size"])
    writer.add_key_length(head_dim); writer.add_value_length(head_dim); writer.add_rope_dimension_count(head_dim)
    add_tokenizer(writer, folder)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[arch.upper()], text["num_hidden_layers"])
    if rope["rope_type"] == "llama3": add(writer, "rope_freqs.weight", rope_divisors(rope, head_dim))
    for name, data in sorted(load_file(folder / "model.safetensors").items()):
        if any(part in name for part in ("vision_", "connector", "multi_modal")): continue
        name = name.replace("model.text_model.", "model.").replace("language_model.model.", "model.").replace("language_model.lm_head", "lm_head")
        if arch == "llama" and name.endswith("q_proj.weight"): data = permute(data, heads)
        if arch == "llama" and name.endswith("k_proj.weight"): data = permute(data, kv)
        add(writer, names.get_name(name, (".weight", ".bias")), data)
    finish(writer)


def write_projector(model, out):
    folder = GOLDEN / model
    config = json.loads((folder / "config.json").read_text()); vision = config["vision_config"]
    pictures = json.loads((folder / "preprocessor_config.json").read_text())
    writer = gguf.GGUFWriter(HERE / out, "clip")
    writer.add_type("mmproj"); writer.add_clip_has_vision_encoder(True)
    writer.add_vision_embedding_length(vision["hidden_size"]); writer.add_vision_head_count(vision["num_attention_heads"])
    writer.add_vision_feed_forward_length(vision["intermediate_size"]); writer.add_vision_block_count(vision["num_hidden_layers"])
    writer.add_vision_projection_dim(config["text_config"]["hidden_size"])
    writer.add_vision_attention_layernorm_eps(vision["layer_norm_eps"])
    writer.add_vision_image_size(vision["image_size"]); writer.add_vision_patch_size(vision["patch_size"])
    writer.add_vision_image_mean(pictures["image_mean"]); writer.add_vision_image_std(pictures["image_std"])
    idefics3 = config["model_type"] == "idefics3"
    writer.add_clip_projector_type("idefics3" if idefics3 else "mlp")
    if idefics3:
        writer.add_vision_use_gelu(True); writer.add_vision_projector_scale_factor(config["scale_factor"])
        writer.add_uint32("clip.vision.preproc_image_size", pictures["size"]["longest_edge"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.MMPROJ, vision["num_hidden_layers"])
    for name, data in sorted(load_file(folder / "model.safetensors").items()):
        if not any(part in name for part in ("vision_", "connector", "multi_modal")): continue
        # The package knows the names that the released checkpoints have.
        name = name.replace("vision_tower.", "vision_tower.vision_model.") if not idefics3 else name
        if idefics3 and "connector" in name: add(writer, "mm.model.fc.weight", data); continue
        if "multi_modal_projector.linear_" in name:
            add(writer, name.replace("multi_modal_projector.linear_1", "mm.0").replace("multi_modal_projector.linear_2", "mm.2"), data); continue
        if name.endswith("class_embedding"): add(writer, "v.class_embd", data); continue
        add(writer, names.get_name(name, (".weight", ".bias")), data)
    finish(writer)


def finish(writer):
    writer.write_header_to_file(); writer.write_kv_data_to_file(); writer.write_tensors_to_file(); writer.close()


write_text("odd/smolvlm", "odd-smolvlm-f16.gguf"); write_projector("odd/smolvlm", "mmproj-odd-smolvlm-f16.gguf")
write_projector("llava", "mmproj-llava-f16.gguf")
write_text("llama3", "llama3-f16.gguf"); write_text("odd/qwen2", "odd-qwen2-f16.gguf")
