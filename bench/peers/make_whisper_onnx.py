"""Whisper as ONNX for onnxruntime: encoder.onnx, step.onnx (one token with its caches), float32 and int8.

    pip install torch==2.13.0 transformers==5.18.0 onnx==1.23.2 onnxscript onnxruntime==1.32.0
    python make_whisper_onnx.py WHISPER_FOLDER models/whisper
"""
import os, sys, torch, transformers as tf
from onnxruntime.quantization import QuantType, quantize_dynamic

source, out = sys.argv[1], sys.argv[2]
os.makedirs(out, exist_ok=True)
model = tf.WhisperForConditionalGeneration.from_pretrained(source, dtype=torch.float32, attn_implementation="eager").eval()
c, d = model.config, model.model.decoder
H, D = c.decoder_attention_heads, c.d_model // c.decoder_attention_heads


class Part(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model


class Encoder(Part):
    """Also the keys and values of cross-attention, which every utterance needs once."""
    def forward(self, mel):
        sound = model.model.encoder(mel).last_hidden_state
        split = lambda x: x.view(1, -1, H, D).transpose(1, 2)
        return tuple(split(f(sound)) for l in d.layers for f in (l.encoder_attn.k_proj, l.encoder_attn.v_proj))


def attend(q, k, v):
    return (torch.softmax(q @ k.transpose(2, 3) * D ** -0.5, -1) @ v).transpose(1, 2).reshape(1, 1, -1)


class Step(Part):
    def forward(self, token, position, *caches):
        n, x = c.decoder_layers, d.embed_tokens(token) + d.embed_positions.weight[position][None]
        past, sound, new = caches[: 2 * n], caches[2 * n:], []
        split = lambda t: t.view(1, 1, H, D).transpose(1, 2)
        for i, l in enumerate(d.layers):
            h, a = l.self_attn_layer_norm(x), l.self_attn
            k, v = torch.cat([past[2 * i], split(a.k_proj(h))], 2), torch.cat([past[2 * i + 1], split(a.v_proj(h))], 2)
            new += [k, v]
            x = x + a.out_proj(attend(split(a.q_proj(h)), k, v))
            h, a = l.encoder_attn_layer_norm(x), l.encoder_attn
            x = x + a.out_proj(attend(split(a.q_proj(h)), sound[2 * i], sound[2 * i + 1]))
            x = x + l.fc2(torch.nn.functional.gelu(l.fc1(l.final_layer_norm(x))))
        return (model.proj_out(d.layer_norm(x)), *new)


n = c.decoder_layers
names = lambda kind: [f"{kind}.{i}.{p}" for i in range(n) for p in "kv"]
with torch.no_grad():
    torch.onnx.export(Encoder(), (torch.zeros(1, c.num_mel_bins, 3000),), f"{out}/encoder.onnx", dynamo=False,
                      opset_version=17, input_names=["mel"], output_names=names("sound"))
    past, sound = [torch.zeros(1, H, 4, D) for _ in range(2 * n)], [torch.zeros(1, H, 1500, D) for _ in range(2 * n)]
    torch.onnx.export(Step(), (torch.zeros(1, 1, dtype=torch.long), torch.tensor([4]), *past, *sound), f"{out}/step.onnx",
                      dynamo=False, opset_version=17, input_names=["token", "position", *names("past"), *names("sound")],
                      output_names=["logits", *names("new")],
                      dynamic_axes={**{x: {2: "tokens"} for x in names("past") + names("new")}, **{x: {2: "rows"} for x in names("sound")}})
for name in ("encoder", "step"):
    quantize_dynamic(f"{out}/{name}.onnx", f"{out}/{name}-int8.onnx", weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"])
