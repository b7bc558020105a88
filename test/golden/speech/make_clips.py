"""Makes the test clips beside this file: 16 kHz, mono, 16 bits. See scripts/train-gate/voices.py for what it needs.

    PARTS=folder python make_clips.py            # those that are missing

en1.mp3 is en1.wav through `ffmpeg -i en1.wav -b:a 24k en1.mp3` (9.0).

The names and texts are those of the table of recognition results in the speech specification.
"""
import os, sys
import numpy as np
from scipy.io import wavfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../scripts/train-gate"))
from voices import RATE, espeak, kokoro, piper

ENGLISH = "Please describe what you see in front of me."
CLIPS = {
    "en1": lambda: espeak(ENGLISH),
    "ke1": lambda: kokoro(ENGLISH),
    "kz2": lambda: kokoro("今天天气很好，我们去公园散步吧。", "zf_xiaoxiao"),
    "kz3": lambda: kokoro("桌子上有一杯水和两本书。", "zf_xiaoxiao"),
    "pj1": lambda: piper(ENGLISH),
}

for name, make in CLIPS.items():
    path = f"{HERE}/{name}.wav"
    if not os.path.exists(path):
        samples = make()
        wavfile.write(path, RATE, np.clip(np.round(samples * 32768), -32768, 32767).astype(np.int16))
        print(name, round(len(samples) / RATE, 2), "s, peak", round(float(np.abs(samples).max()), 2))
