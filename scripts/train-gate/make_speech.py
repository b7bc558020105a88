"""Speaks the sentences below with many voices and writes 16 kHz WAV files, a third of an hour of speech.

    PARTS=folder python make_speech.py OUT        # see voices.py; goes on where it was stopped

File names say what they hold: set (train, held) - synthesiser - voice - number. Held-out voices and sentences are
not heard in training.
"""
import os, sys
import numpy as np
from scipy.io import wavfile
import voices

ENGLISH = """The kettle on the stove is about to boil.
There are three chairs around a small wooden table.
A dog is asleep on the rug next to the door.
Could you read me the label on this bottle, please?
I think the bus leaves in about twenty minutes.
Yes.
No, not that one, the other one on the left.
Stop.
What colour is the shirt that I am holding up?
The stairs go down here, and there is a rail on the right.
She wrote a long letter to her brother in Canada.
How much milk is left in the fridge?
Every morning he walks through the park with his old camera.
It smells like fresh bread and cinnamon in this kitchen.
Turn the page, and then tell me what the headline says.
My keys must be somewhere between the sofa and the window.
Is anybody standing in front of the house?
Help.
The weather will be cloudy with a chance of rain after four.
Please wait a moment, I have to find my glasses first.
That jacket looks quite warm, but the zipper is broken.
Go back and describe the picture again, more slowly this time.
We should leave before the shops close on Saturday.
The number on the door is one hundred and fifty eight.
Why does this machine make such a strange noise?
Thank you very much.
Fresh fish and vegetables are sold at the harbour.
A young woman is pushing a blue bicycle across the bridge.
Okay, next.
Two children are building a castle out of wet sand.
He asked whether the medicine should be taken with food.
Hello, can you hear me?
The oven is set to two hundred degrees.
Just give me the short version.
An orange cat jumped from the shelf onto the piano.
Which of these buttons turns the light off?""".split("\n")
CHINESE = """请告诉我前面有什么东西。
桌上放着一台电脑和一个杯子。
这条路往右走就到地铁站了。
好的。
你能帮我读一下药瓶上的字吗？
今天下午可能会下雨，记得带伞。
不是这个，是左边那个。
门口站着一个穿红衣服的人。
现在几点了？
厨房里有一股烤面包的香味。
我的钥匙好像掉在沙发下面了。
停。
孩子们在公园里放风筝。
这张照片里有多少个人？
谢谢你，再见。
前面是楼梯，请小心一点。
冰箱里还有两瓶牛奶和一些鸡蛋。
他每天早上都去河边跑步。""".split("\n")
OTHERS = {
    "de": "Vor dem Haus steht ein alter Baum. Können Sie mir bitte sagen, wie spät es ist?",
    "fr": "Il y a deux chaises devant la fenêtre. Quelle heure est-il, s'il vous plaît ?",
    "es": "Hay un perro grande delante de la puerta. ¿Puedes leerme esta carta?",
    "it": "Sul tavolo c'è un bicchiere d'acqua. Dove sono le mie chiavi?",
    "pt": "O ônibus chega em dez minutos. Onde fica a estação?",
    "ru": "На столе лежит книга и стоит чашка чая. Который сейчас час?",
    "pl": "Przed domem stoi stary rower. Która jest godzina?",
    "tr": "Masanın üzerinde bir bardak su var. Saat kaç?",
    "sv": "Det står en röd cykel framför huset. Vad är klockan?",
    "hi": "मेज़ पर एक किताब और एक गिलास रखा है।",
    "el": "Υπάρχει ένα μεγάλο δέντρο μπροστά στο σπίτι.",
    "fi": "Pöydällä on lasi vettä ja vanha kirja.",
    "vi": "Trên bàn có một cuốn sách và một ly nước.",
    "ko": "탁자 위에 책 한 권과 물 한 잔이 있습니다.",
}
HELD_KOKORO = {"af_nova", "am_puck", "bf_lily", "bm_george", "zf_xiaoni", "zm_yunyang", "jf_alpha", "em_alex", "hm_omega", "pf_dora"}
HELD_ESPEAK = {"en-gb-scotland+m4", "en-us+f4", "sv", "ko"}
HELD_SENTENCES = 12  # the last of ENGLISH; of CHINESE half as many


def plan():
    random = np.random.default_rng(1)
    train, held = ENGLISH[:-HELD_SENTENCES], ENGLISH[-HELD_SENTENCES:]
    train_zh, held_zh = CHINESE[: -HELD_SENTENCES // 2], CHINESE[-HELD_SENTENCES // 2 :]
    for voice in ["en-us", "en-gb", "en-gb-scotland+m4", "en-us+f2", "en-us+f4", "en-gb+m3", "en-us+m7", "en-gb+f5", "en-us+croak", "en-us+whisper"]:
        is_held = voice in HELD_ESPEAK
        for number, text in enumerate(random.permutation(held if is_held else train)[:8]):
            speed, pitch = int(random.integers(120, 200)), int(random.integers(25, 75))
            yield is_held, "espeak", voice, number, lambda t=text, v=voice, s=speed, p=pitch: voices.espeak(t, v, s, p)
    for language, text in OTHERS.items():
        yield language in HELD_ESPEAK, "espeak", language, 0, lambda t=text, v=language: voices.espeak(t, v)
    for number, text in enumerate(train):
        length, noise = float(random.uniform(0.75, 1.4)), float(random.uniform(0.3, 1.0))
        yield False, "piper", "joe", number, lambda t=text, l=length, n=noise: voices.piper(t, l, n)
    for voice in random.permutation(voices.KOKORO_VOICES):
        is_held = voice in HELD_KOKORO
        english, chinese = (held, held_zh) if is_held else (train, train_zh)
        texts = list(random.permutation(english)[:3])
        if voice.startswith("z"):
            texts = list(random.permutation(chinese)[:3]) + texts[:1]
        for number, text in enumerate(texts):
            speed = float(random.uniform(0.8, 1.3))
            yield is_held, "kokoro", voice, number, lambda t=text, v=voice, s=speed: voices.kokoro(str(t), v, s)


if __name__ == "__main__":
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    seconds = 0.0
    for is_held, maker, voice, number, make in plan():
        path = f"{out}/{'held' if is_held else 'train'}-{maker}-{voice}-{number}.wav"
        if not os.path.exists(path):
            samples = make()
            wavfile.write(path, voices.RATE, np.clip(np.round(samples * 32768), -32768, 32767).astype(np.int16))
        seconds += os.path.getsize(path) / 32000
    print(round(seconds / 60, 1), "minutes of speech")
