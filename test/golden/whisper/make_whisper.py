"""Writes two Whisper models with random weights, and what Hugging Face Transformers computes with them.

    pip install torch==2.13.0 transformers==5.18.0 safetensors tokenizers numpy gguf
    python make_whisper.py OUT

`multilingual/` (80 mel bands, whisper.cpp files beside it) and `english/` (128 mel bands, feed-forward of another width):
a Hugging Face folder each, weights in float16, and `expected.safetensors` in float32, every stage of runs over the first
`positions` positions of one spectrogram:
    mel [frames, bands]
    full.*, cut.*: conv, encoder.<i> and encoder [positions, d], cross.<i>.k and .v [positions, d], logits [n, vocab] of `ids`
    text, text_times: greedy ids over the whole spectrogram, without and with timestamps, from `generate` with its rules
    q5_0.logits: of the model with the weights of ggml-q5_0.bin, whole spectrogram
`expected.json`: language that `detect_language` finds, the symbols that are never spoken.
"""
import json, os, struct, sys
import numpy as np, torch, gguf
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
import transformers as tf

TEXT = "Please describe what you see in front of me. The quick brown fox jumps over the lazy dog. There is a cup of water on the table, and two books. 今天天气很好，我们去公园散步吧。桌子上有一杯水和两本书。前面有一只狗。"
POSITIONS, TEXT_POSITIONS = 100, 64

def tokenizer(root, languages, timestamps, merges):
    tok = Tokenizer(models.BPE()); tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False); tok.decoder = decoders.ByteLevel()
    tok.train_from_iterator([TEXT], trainers.BpeTrainer(vocab_size=256 + merges, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    text = tok.get_vocab_size()
    control = ["<|endoftext|>", "<|startoftranscript|>", *[f"<|{l}|>" for l in languages], "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    tok.add_special_tokens(control); tok.save(f"{root}/tokenizer.json", pretty=False)
    return tok, text, {c: text + i for i, c in enumerate(control)}, text + len(control) + timestamps

def spread(model, seed):
    g = torch.Generator().manual_seed(seed)
    for n, p in model.named_parameters():
        if p.dim() >= 2: p.data = torch.randn(p.shape, generator=g) * (0.08 if "embed_tokens" in n else 0.5 if "embed" in n else 1.2 / p[0].numel() ** 0.5)
        elif n.endswith("bias"): p.data = torch.randn(p.shape, generator=g) * 0.1
        else: p.data = 1 + torch.randn(p.shape, generator=g) * 0.2

def stages(model, mel, positions, ids, name, out, logits_only=False):
    m = model.model; e = m.encoder; x = mel[: positions * 2].T[None]
    h = torch.nn.functional.gelu(e.conv1(x)); h = torch.nn.functional.gelu(e.conv2(h)).permute(0, 2, 1) + e.embed_positions.weight[:positions]
    out[f"{name}.conv"] = h[0]
    for i, layer in enumerate(e.layers):
        h = layer(h, None); h = h[0] if isinstance(h, tuple) else h; out[f"{name}.encoder.{i}"] = h[0]
    h = e.layer_norm(h); out[f"{name}.encoder"] = h[0]
    for i, layer in enumerate(m.decoder.layers):
        out[f"{name}.cross.{i}.k"] = layer.encoder_attn.k_proj(h)[0]; out[f"{name}.cross.{i}.v"] = layer.encoder_attn.v_proj(h)[0]
    d = m.decoder(input_ids=torch.tensor([ids]), encoder_hidden_states=h, use_cache=False).last_hidden_state
    out[f"{name}.logits"] = model.proj_out(d)[0]
    if logits_only: [out.pop(k) for k in list(out) if k.startswith(name + ".") and k != f"{name}.logits"]

def make(root, seed, dim, layers, heads, ffn, bands, languages, timestamps, merges):
    os.makedirs(root, exist_ok=True); torch.manual_seed(seed)
    tok, text, control, vocab = tokenizer(root, languages, timestamps, merges); multilingual = len(languages) > 1
    first = control["<|notimestamps|>"] + 1
    cfg = tf.WhisperConfig(vocab_size=vocab, num_mel_bins=bands, d_model=dim, encoder_layers=layers[0], decoder_layers=layers[1], encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=ffn, decoder_ffn_dim=ffn, max_source_positions=POSITIONS, max_target_positions=TEXT_POSITIONS, pad_token_id=control["<|endoftext|>"], bos_token_id=control["<|endoftext|>"], eos_token_id=control["<|endoftext|>"], decoder_start_token_id=control["<|startoftranscript|>"], suppress_tokens=None, begin_suppress_tokens=None)
    model = tf.WhisperForConditionalGeneration(cfg).eval(); model.set_attn_implementation("eager"); spread(model, seed)
    # The table of positions of sound is made of sines in every Whisper model; it is a weight all the same.
    model = model.half().float()
    rows = np.random.RandomState(seed).randn(POSITIONS * 2, bands).astype(np.float32)
    mel = torch.tensor(np.clip(np.cumsum(rows, 0) * 0.15 + rows * 0.2, -1.5, 1.5))
    suppressed = sorted({3, 7, 11, 40, *[control[c] for c in control if c not in ("<|endoftext|>", "<|notimestamps|>") and not c.strip("<|>") in languages]}); begin = [tok.encode(" ").ids[0], control["<|endoftext|>"]]
    model.save_pretrained(f"{root}/f32"); save_file({n: (t.half().contiguous()) for n, t in load_file(f"{root}/f32/model.safetensors").items() if n != "proj_out.weight"}, f"{root}/model.safetensors", metadata={"format": "pt"})
    os.replace(f"{root}/f32/config.json", f"{root}/config.json"); [os.remove(f"{root}/f32/{f}") for f in os.listdir(f"{root}/f32")]; os.rmdir(f"{root}/f32")
    generation = dict(is_multilingual=multilingual, suppress_tokens=suppressed, begin_suppress_tokens=begin)
    json.dump(generation, open(f"{root}/generation_config.json", "w"), indent=1)
    start = [control["<|startoftranscript|>"], *([control["<|zh|>"], control["<|transcribe|>"]] if multilingual else []), control["<|notimestamps|>"]]
    ids = [control["<|startofprev|>"], *tok.encode(" two books").ids, *start, *tok.encode("There is water 水").ids]
    out, notes = {"mel": mel, "ids": torch.tensor(ids, dtype=torch.int32)}, {}
    with torch.no_grad():
        stages(model, mel, POSITIONS, ids, "full", out); stages(model, mel, 37, ids, "cut", out)
        base = model.generation_config
        settings = dict(max_initial_timestamp_index=50, no_timestamps_token_id=control["<|notimestamps|>"], begin_suppress_tokens=begin, is_multilingual=multilingual, prev_sot_token_id=control["<|startofprev|>"])
        if multilingual: settings.update(lang_to_id={f"<|{l}|>": control[f"<|{l}|>"] for l in languages}, task_to_id={"transcribe": control["<|transcribe|>"], "translate": control["<|translate|>"]})
        for k, v in settings.items(): setattr(base, k, v)
        features = mel.T[None].contiguous(); extra = dict(language="zh", task="transcribe") if multilingual else {}
        for name, times in (("text", False), ("text_times", True)):
            base.suppress_tokens = suppressed + ([] if times else list(range(first, vocab)) + [control["<|notimestamps|>"]])
            g = model.generate(features, return_timestamps=times, max_new_tokens=24, do_sample=False, num_beams=1, **extra)[0].tolist()
            while g and g[0] in start: g = g[1:]
            out[name] = torch.tensor([i for i in g if i != control["<|endoftext|>"]], dtype=torch.int32); print(root, name, out[name].tolist())
        if multilingual: notes["language"] = tok.id_to_token(int(model.detect_language(features)[0])).strip("<|>")
    if ffn == 4 * dim:
        state = {n: t for n, t in model.state_dict().items() if n != "proj_out.weight"}
        write_ggml(f"{root}/ggml-f16.bin", cfg, tok, text, state, gguf.GGMLQuantizationType.F16)
        stored = write_ggml(f"{root}/ggml-q5_0.bin", cfg, tok, text, state, gguf.GGMLQuantizationType.Q5_0)
        model.load_state_dict({**stored, "proj_out.weight": stored["model.decoder.embed_tokens.weight"]})
        with torch.no_grad(): stages(model, mel, POSITIONS, ids, "q5_0", out, logits_only=True)
    save_file({k: v.float().contiguous() if v.is_floating_point() else v for k, v in out.items()}, f"{root}/expected.safetensors")
    json.dump(notes, open(f"{root}/expected.json", "w"), indent=1)

# whisper.cpp's names.
LAYER = {"self_attn_layer_norm": "attn_ln", "self_attn.q_proj": "attn.query", "self_attn.k_proj": "attn.key", "self_attn.v_proj": "attn.value", "self_attn.out_proj": "attn.out", "encoder_attn_layer_norm": "cross_attn_ln", "encoder_attn.q_proj": "cross_attn.query", "encoder_attn.k_proj": "cross_attn.key", "encoder_attn.v_proj": "cross_attn.value", "encoder_attn.out_proj": "cross_attn.out", "final_layer_norm": "mlp_ln", "fc1": "mlp.0", "fc2": "mlp.2"}
TOP = {"encoder.embed_positions.weight": "encoder.positional_embedding", "encoder.layer_norm": "encoder.ln_post", "decoder.embed_tokens": "decoder.token_embedding", "decoder.embed_positions.weight": "decoder.positional_embedding", "decoder.layer_norm": "decoder.ln"}

def ggml_name(name):
    name = name.removeprefix("model.")
    if name in TOP: return TOP[name]
    head, part = name.rsplit(".", 1)
    if ".layers." not in head: return f"{TOP.get(head, head)}.{part}"
    side, _, index, local = head.split(".", 3); return f"{side}.blocks.{index}.{LAYER[local]}.{part}"

def write_ggml(path, cfg, tok, text, state, kind):
    """The layout of ggml-org/whisper.cpp models/convert-pt-to-ggml.py. Returns the weights as stored."""
    from tokenizers.pre_tokenizers import ByteLevel
    alphabet = {c: b for b, c in byte_alphabet().items()}; stored = {}
    with open(path, "wb") as f:
        f.write(struct.pack("<12i", 0x67676D6C, cfg.vocab_size, cfg.max_source_positions, cfg.d_model, cfg.encoder_attention_heads, cfg.encoder_layers, cfg.max_target_positions, cfg.d_model, cfg.decoder_attention_heads, cfg.decoder_layers, cfg.num_mel_bins, 1 if kind == gguf.GGMLQuantizationType.F16 else 2008))
        f.write(struct.pack("<2i", cfg.num_mel_bins, 201)); f.write(np.zeros(cfg.num_mel_bins * 201, "<f4").tobytes()); f.write(struct.pack("<i", text))
        for i in range(text):
            b = bytes(alphabet[c] for c in tok.id_to_token(i)); f.write(struct.pack("<i", len(b)) + b)
        for name, t in state.items():
            a = t.numpy().astype(np.float32); n = ggml_name(name).encode()
            if n in (b"encoder.conv1.bias", b"encoder.conv2.bias"): a = a.reshape(-1, 1)
            plain = a.ndim == 1 or a.shape[-1] == 1 or b"positional" in n
            q = gguf.GGMLQuantizationType.F32 if plain else gguf.GGMLQuantizationType.F16 if a.ndim == 3 else kind
            data = gguf.quants.quantize(a, q); stored[name] = torch.tensor(gguf.quants.dequantize(data, q).reshape(tuple(t.shape)).copy())
            f.write(struct.pack(f"<3i{a.ndim}i", a.ndim, len(n), int(q), *reversed(a.shape)) + n + data.tobytes())
    return stored

def byte_alphabet():
    bs = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]; cs = bs[:]; n = 0
    for b in range(256):
        if b not in bs: bs.append(b); cs.append(256 + n); n += 1
    return {b: chr(c) for b, c in zip(bs, cs)}

if __name__ == "__main__":
    out = sys.argv[1] if len(sys.argv) > 1 else "."
    make(f"{out}/multilingual", 8, 32, (2, 2), 2, 128, 80, ["en", "zh", "de", "es", "ru"], 1501, 90)
    make(f"{out}/english", 16, 64, (1, 2), 2, 96, 128, ["en"], 101, 60)
