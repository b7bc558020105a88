"""Speaks the sentences of en.txt and zh.txt, several voices in turn: OUT/en-001.wav and so on, 16 kHz, mono, 16 bits.

    PARTS=folder python make_sentences.py OUT            # those that are missing

scripts/train-gate/voices.py says what it needs. English by Kokoro (two of three) and Piper, Chinese by Kokoro.
"""
import os, sys
import numpy as np
from scipy.io import wavfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../scripts/train-gate"))
from voices import RATE, kokoro, piper

ENGLISH = ["af_heart", "am_michael", None, "bf_emma", "af_bella", None, "bm_george"]  # None: Piper
CHINESE = ["zf_xiaoxiao", "zm_yunxi", "zf_xiaobei", "zm_yunjian", "zf_xiaoyi"]

out = sys.argv[1]
os.makedirs(out, exist_ok=True)
for language, voices in (("en", ENGLISH), ("zh", CHINESE)):
    with open(f"{HERE}/{language}.txt", encoding="utf-8") as file:
        sentences = file.read().splitlines()
    for index, text in enumerate(sentences):
        path = f"{out}/{language}-{index + 1:03}.wav"
        if os.path.exists(path): continue
        voice = voices[index % len(voices)]
        samples = piper(text) if voice is None else kokoro(text, voice)
        loudest = max(1e-3, float(np.abs(samples).max()))
        samples = samples * min(1, 0.9 / loudest)
        wavfile.write(path, RATE, np.round(samples * 32767).astype(np.int16))
