"""What the small network of the voice gate hears, as src/speech/vad/gate-features.ts computes it."""
import numpy as np

RATE, STEP, HOP, WINDOW, BANDS = 16000, 512, 256, 512, 32
LOWEST_HZ, HIGHEST_HZ = 60, 8000
POWER_FLOOR = 1e-7
# Share of the way that the floor of a band goes towards a quieter and towards a louder frame.
FALL, RISE = 0.2, 0.008
SCALE, LOWEST, HIGHEST = 4.0, -1.0, 3.0


def mel_filters():
    mel = lambda hz: hz * 3 / 200 if hz < 1000 else 15 + np.log(hz / 1000) / (np.log(6.4) / 27)
    hz = lambda m: m * 200 / 3 if m < 15 else 1000 * np.exp((m - 15) * np.log(6.4) / 27)
    edges = [hz(m) for m in np.linspace(mel(LOWEST_HZ), mel(HIGHEST_HZ), BANDS + 2)]
    bins = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    rows = [np.maximum(0, np.minimum((bins - l) / (m - l), (r - bins) / (r - m))) * 2 / (r - l)
            for l, m, r in zip(edges, edges[1:], edges[2:])]
    return np.array(rows)


FILTERS = mel_filters()
HANN = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)


def log_mel(samples):
    """(steps * 2, 32): two frames a step, the first of them half before it."""
    steps = len(samples) // STEP
    padded = np.concatenate([np.zeros(WINDOW - HOP), samples[: steps * STEP]])
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]
    power = np.abs(np.fft.rfft(frames * HANN, axis=1)) ** 2
    return np.log(power @ FILTERS.T + POWER_FLOOR)


def features(samples):
    """(steps, 128): for each of two frames 32 bands above their own running floor, 32 against the mean of the frame."""
    x = log_mel(samples)
    above = np.empty_like(x)
    floor = x[0].copy()
    for i, row in enumerate(x):
        above[i] = row - floor
        floor += (row - floor) * np.where(row < floor, FALL, RISE)
    shape = x - x.mean(1, keepdims=True)
    both = np.concatenate([above, shape], 1) / SCALE
    return np.clip(both, LOWEST, HIGHEST).reshape(len(x) // 2, -1).astype(np.float32)
