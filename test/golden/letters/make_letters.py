"""
Writes models/letters/model.safetensors, the network that guesses how unknown English words sound (g2p-en 2.1.0,
Apache-2.0, checkpoint20.npz), in float16, and words.json, what it says in float32 of words that the CMU dictionary lacks.

    python make_letters.py path/to/g2p_en/checkpoint20.npz
"""
import json, pathlib, sys
import numpy as np
from safetensors.numpy import save_file

here = pathlib.Path(__file__).parent
weights = {k: v for k, v in np.load(sys.argv[1]).items()}
target = here.parents[2] / "models" / "letters"
target.mkdir(exist_ok=True)
save_file({k: v.astype(np.float16) for k, v in weights.items()}, target / "model.safetensors", metadata={"source": "g2p-en 2.1.0", "licence": "Apache-2.0"})

LETTERS = ["<pad>", "<unk>", "</s>"] + list("abcdefghijklmnopqrstuvwxyz")
SOUNDS = ["<pad>", "<unk>", "<s>", "</s>"] + "AA0 AA1 AA2 AE0 AE1 AE2 AH0 AH1 AH2 AO0 AO1 AO2 AW0 AW1 AW2 AY0 AY1 AY2 B CH D DH EH0 EH1 EH2 ER0 ER1 ER2 EY0 EY1 EY2 F G HH IH0 IH1 IH2 IY0 IY1 IY2 JH K L M N NG OW0 OW1 OW2 OY0 OY1 OY2 P R S SH T TH UH0 UH1 UH2 UW UW0 UW1 UW2 V W Y Z ZH".split()


def step(x, h, side):
    a = x @ weights[f"{side}_w_ih"].T + weights[f"{side}_b_ih"]
    b = h @ weights[f"{side}_w_hh"].T + weights[f"{side}_b_hh"]
    r, z = (1 / (1 + np.exp(-(a[i : i + 256] + b[i : i + 256]))) for i in (0, 256))
    n = np.tanh(a[512:] + r * b[512:])
    return (1 - z) * n + z * h


def sounds(word):
    h = np.zeros(256, np.float32)
    for letter in [*word, "</s>"]:
        h = step(weights["enc_emb"][LETTERS.index(letter) if letter in LETTERS else 1], h, "enc")
    out, last = [], 2
    for _ in range(20):
        h = step(weights["dec_emb"][last], h, "dec")
        last = int((weights["fc_w"] @ h + weights["fc_b"]).argmax())
        if last == 3:
            break
        out.append(SOUNDS[last])
    return " ".join(out)


words = """onsight smolvlm wasm blorptastic quixotry zyzzyvan activationist transformerish webgpu xylograph braillewise
talkback voiceover anglepoise hummusy ketchupy selfie emoji podcasty kombucha quinoa hashtag livestream paywall googly
tiktoker shenzhenite wuhanese cryptid unboxing photobomb smartwatchy subtweet crowdfund doomscroll ghosting mansplain
a z qq rhythmz naïve""".split()
(here / "words.json").write_text(json.dumps({w: sounds(w) for w in words}, indent=1))
