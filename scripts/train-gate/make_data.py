"""Mixes speech with noise, and writes features and labels for training.

    python make_data.py SPEECH silero_vad_16k_op15.onnx train OUT.npz [sequences] [seed]

SPEECH: the folder of make_speech.py; `train` or `held` picks from it. A label is what Silero VAD v6.2 says of the speech alone, before anything is
mixed in: at 0 dB the pupil has to know more than its teacher could hear.
"""
import glob, sys
import numpy as np
import onnxruntime
from scipy.io import wavfile
import noises
from features import RATE, STEP, features

SECONDS = 12


class Teacher:
    def __init__(self, path):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options)

    def __call__(self, samples):
        state, context, out = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
        for start in range(0, len(samples) - STEP + 1, STEP):
            chunk = samples[start : start + STEP].astype(np.float32)
            probability, state = self.session.run(None, {"input": np.concatenate([context, chunk])[None], "state": state, "sr": np.array(RATE, np.int64)})
            out.append(probability[0, 0])
            context = chunk[-64:]
        return np.array(out, np.float32)


def read_speech(folder, which):
    clips = []
    for path in sorted(glob.glob(f"{folder}/{which}-*.wav")):
        samples = wavfile.read(path)[1].astype(np.float32) / 32768
        clips.append(0.1 * samples / (np.sqrt(np.mean(samples**2)) + 1e-9))
    return clips


def timeline(random, clips, count):
    """Sentences with pauses between them, at levels of people who move."""
    out = np.zeros(count, np.float32)
    at = int(RATE * random.choice([0, random.uniform(0, 1), random.uniform(0, 5)]))
    while at < count:
        clip = clips[random.integers(len(clips))] * 10 ** (random.uniform(-6, 3) / 20)
        if random.random() < 0.3:
            clip = np.interp(np.arange(0, len(clip), random.uniform(0.88, 1.14)), np.arange(len(clip)), clip)
        part = clip[: count - at]
        out[at : at + len(part)] += part
        at += len(part) + int(RATE * random.choice([random.uniform(0.1, 0.6), random.uniform(0.6, 4)]))
    return out


def mixture(random, clips, teacher):
    count = RATE * SECONDS // STEP * STEP
    has_speech = random.random() < 0.72
    speech = timeline(random, clips, count) if has_speech else np.zeros(count, np.float32)
    labels = teacher(speech) if has_speech else np.zeros(count // STEP, np.float32)
    heard = noises.room(random, speech) if random.random() < 0.4 else speech
    if random.random() < 0.4:
        heard = noises.equalise(random, heard)
    out = heard
    for _ in range(random.choice([0, 1, 1, 1, 2]) if has_speech else random.choice([1, 1, 2, 3])):
        name = random.choice([*noises.MAKERS, "babble", "babble", "music", "keyboard", "white", "pink"])
        noise = noises.babble(random, count, clips) if name == "babble" else noises.make(name, random, count)
        if random.random() < 0.3:
            noise = noise * noises.slow_curve(random, count, random.uniform(0.5, 4))
        if random.random() < 0.3:
            noise = noises.equalise(random, noise)
        out = out + noise * 10 ** (-random.uniform(-3, 30) / 20)
    out = out + random.standard_normal(count) * 0.1 * 10 ** (-random.uniform(30, 75) / 20)
    out = out * 10 ** (-random.uniform(-12, 34) / 20)
    return np.round(np.clip(out, -1, 1) * 32768).astype(np.float32) / 32768, labels


if __name__ == "__main__":
    folder, teacher_path, which, target = sys.argv[1:5]
    sequences = int(sys.argv[5]) if len(sys.argv) > 5 else 1500
    random = np.random.default_rng(int(sys.argv[6]) if len(sys.argv) > 6 else 7)
    clips, teacher = read_speech(folder, which), Teacher(teacher_path)
    xs, ys = [], []
    for _ in range(sequences):
        samples, labels = mixture(random, clips, teacher)
        xs.append(features(samples).astype(np.float16))
        ys.append(labels.astype(np.float16))
    np.savez(target, x=np.array(xs), y=np.array(ys))
    print(len(clips), "clips;", np.array(xs).shape, "speech in", round(float((np.array(ys) > 0.5).mean()), 3))
