"""Sounds that are no speech, made by formula: `make(name, random, count)` gives `count` samples of about 0.1 RMS."""
import numpy as np
from scipy.signal import butter, lfilter, fftconvolve

RATE = 16000


def coloured(random, count, slope):
    """Noise whose power falls by `slope` times 3 dB an octave."""
    spectrum = np.fft.rfft(random.standard_normal(count))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** (slope / 2)
    spectrum[0] = 0
    return np.fft.irfft(spectrum, count)


def slow_curve(random, count, seconds):
    """0 to 1, changing about every `seconds`."""
    knots = random.random(int(count / RATE / seconds) + 3)
    return np.interp(np.arange(count) / RATE / seconds, np.arange(len(knots)), knots)


def hum(random, count):
    base = random.choice([50, 60]) * random.uniform(0.995, 1.005)
    time = np.arange(count) / RATE
    out = sum(random.uniform(0.1, 1) / k * np.sin(2 * np.pi * base * k * time + random.uniform(0, 6)) for k in range(1, random.integers(3, 20)))
    return out + 0.05 * random.standard_normal(count)


def fan(random, count):
    low, high = sorted(random.uniform(60, 4000, 2))
    b, a = butter(2, [low / 8000, min(0.98, (high + 200) / 8000)], "band")
    wobble = 1 + 0.4 * np.sin(2 * np.pi * random.uniform(0.5, 12) * np.arange(count) / RATE)
    return lfilter(b, a, random.standard_normal(count)) * wobble


def wind(random, count):
    b, a = butter(1, random.uniform(150, 700) / 8000)
    return lfilter(b, a, coloured(random, count, 1.5)) * slow_curve(random, count, 0.4) ** 2


def strikes(random, count, per_second, decay, tonal):
    """Short sounds: clicks, keys, knocks, steps, dishes."""
    out = np.zeros(count)
    for _ in range(max(1, random.poisson(per_second * count / RATE))):
        length = int(RATE * random.uniform(*decay) * 5)
        time = np.arange(length) / RATE
        body = random.standard_normal(length)
        if tonal:
            body = 0.3 * body + sum(random.uniform(0.3, 1) * np.sin(2 * np.pi * random.uniform(*tonal) * time) for _ in range(4))
        sound = body * np.exp(-time / random.uniform(*decay)) * random.uniform(0.2, 1)
        at = random.integers(0, count)
        out[at : at + length] += sound[: count - at]
    return out


def keyboard(random, count):
    return strikes(random, count, random.uniform(3, 10), (0.003, 0.012), (800, 5000)) + 0.002 * random.standard_normal(count)


def clicks(random, count):
    return strikes(random, count, random.uniform(0.5, 6), (0.0003, 0.004), None)


def knocks(random, count):
    return strikes(random, count, random.uniform(0.5, 4), (0.02, 0.09), (60, 900))


def dishes(random, count):
    return strikes(random, count, random.uniform(0.5, 4), (0.05, 0.3), (1500, 7000))


def music(random, count):
    """Chords and a tune of decaying tones with overtones, with or without drums."""
    out = np.zeros(count)
    beat = random.uniform(0.2, 0.7)
    key = random.uniform(80, 220)
    decay = random.uniform(0.1, 1.5)
    attack = random.uniform(0.005, 0.08)
    overtones = random.integers(2, 9)
    vibrato = random.uniform(0, 0.006)
    for number in range(int(count / RATE / beat)):
        at = int(number * beat * RATE)
        for _ in range(random.integers(0, 4)):
            length = int(RATE * min(3.0, decay * 4))
            time = np.arange(length) / RATE
            pitch = key * 2 ** (random.choice([0, 2, 4, 5, 7, 9, 11, 12, 14, 16, 19, 24]) / 12)
            phase = 2 * np.pi * pitch * (time + vibrato * np.sin(2 * np.pi * 5.5 * time) / 5.5 / 2 / np.pi)
            sound = sum(np.sin(phase * k) / k ** random.uniform(0.7, 2) for k in range(1, overtones) if pitch * k < 7500)
            sound = sound * np.exp(-time / decay) * np.minimum(1, time / attack)
            out[at : at + length] += sound[: count - at]
    if random.random() < 0.5:
        out += random.uniform(0.2, 1) * strikes(random, count, 1 / beat, (0.01, 0.05), (50, 300))
    return out


def beeps(random, count):
    time = np.arange(count) / RATE
    on = (time / random.uniform(0.2, 1.5)) % 1 < random.uniform(0.1, 0.7)
    start, end = random.uniform(200, 4000, 2)
    sweep = start + (end - start) * ((time * random.uniform(0.1, 3)) % 1) * (random.random() < 0.4)
    return np.sin(2 * np.pi * np.cumsum(sweep) / RATE) * lfilter([0.05], [1, -0.95], on.astype(float)) + 1e-3 * random.standard_normal(count)


def water(random, count):
    b, a = butter(2, [random.uniform(400, 1500) / 8000, random.uniform(3000, 7500) / 8000], "band")
    bubbles = strikes(random, count, random.uniform(10, 60), (0.005, 0.03), (300, 2500))
    return lfilter(b, a, random.standard_normal(count)) * (0.5 + slow_curve(random, count, 0.3)) + 0.5 * bubbles


def engine(random, count):
    speed = 30 + 60 * slow_curve(random, count, 2)
    phase = 2 * np.pi * np.cumsum(speed) / RATE
    return sum(np.sin(phase * k + random.uniform(0, 6)) / k for k in range(1, 25)) * (1 + 0.3 * random.standard_normal(count))


MAKERS = {
    "white": lambda r, n: r.standard_normal(n), "pink": lambda r, n: coloured(r, n, 1), "brown": lambda r, n: coloured(r, n, 2),
    "hum": hum, "fan": fan, "wind": wind, "clicks": clicks, "keyboard": keyboard, "knocks": knocks, "dishes": dishes,
    "music": music, "beeps": beeps, "water": water, "engine": engine,
}


def make(name, random, count):
    out = MAKERS[name](random, count)
    return (0.1 * out / (np.sqrt(np.mean(out**2)) + 1e-9)).astype(np.float32)


def babble(random, count, clips):
    """Six to twelve voices at once: no single one of them is meant."""
    out = np.zeros(count, np.float32)
    for _ in range(random.integers(6, 13)):
        at = -int(random.integers(0, RATE * 2))
        while at < count:
            clip = clips[random.integers(len(clips))]
            clip = clip / (np.sqrt(np.mean(clip**2)) + 1e-9) * random.uniform(0.5, 1)
            first, end = max(at, 0), min(at + len(clip), count)
            if end > first:
                out[first:end] += clip[first - at : end - at]
            at += len(clip)
    return 0.1 * out / (np.sqrt(np.mean(out**2)) + 1e-9)


def room(random, samples):
    """The sound in a room: sparse early reflections, then a tail of 0.1 to 0.6 s."""
    seconds = random.uniform(0.1, 0.6)
    time = np.arange(int(RATE * seconds)) / RATE
    tail = random.standard_normal(len(time)) * np.exp(-6.9 * time / seconds) * random.uniform(0.05, 0.3)
    tail[0] = 1
    return fftconvolve(samples, tail)[: len(samples)].astype(np.float32)


def equalise(random, samples):
    """What microphones and lines do to a sound."""
    kind = random.integers(4)
    if kind == 0:
        b, a = butter(2, [random.uniform(150, 350) / 8000, random.uniform(3000, 3800) / 8000], "band")
    elif kind == 1:
        b, a = butter(1, random.uniform(1500, 6000) / 8000)
    elif kind == 2:
        b, a = butter(1, random.uniform(60, 500) / 8000, "high")
    else:
        return samples
    return lfilter(b, a, samples).astype(np.float32)
