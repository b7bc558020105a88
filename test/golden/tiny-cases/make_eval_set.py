"""Makes the bundled evaluation set and calibration folder, models/eval, from the cases beside this script.

    python3 test/golden/tiny-cases/make_eval_set.py

Every fourth picture goes to the calibration folder, without answers' being used for accuracy; the others are the set.
Pictures become 256-pixel WebP (quality 92, or lossless where that is smaller), so that the package stays small.
Made with pillow 12.3.0.
"""
import io
import json
from pathlib import Path

from PIL import Image

HERE = Path(__file__).parent
TARGET = HERE.parents[2] / "models" / "eval"
QUALITY = 92
SIDE = 256


def shrink(path: Path) -> bytes:
    image = Image.open(path).convert("RGB")
    if image.size != (SIDE, SIDE):
        image = image.resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    versions = []
    for options in ({"quality": QUALITY}, {"lossless": True, "quality": 100}):
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", method=6, **options)
        versions.append(buffer.getvalue())
    return min(versions, key=len)


def main() -> None:
    (TARGET / "pictures").mkdir(parents=True, exist_ok=True)
    (TARGET / "calibration").mkdir(exist_ok=True)
    sets = {"tiny.jsonl": [], "calibration/questions.jsonl": []}
    for index, line in enumerate((HERE / "cases.jsonl").read_text().splitlines()):
        case = json.loads(line)
        calibrates = index % 4 == 3
        picture = f"{case['id']}.webp"
        folder = "calibration" if calibrates else "pictures"
        (TARGET / folder / picture).write_bytes(shrink(HERE / case["picture"]))
        turns = [{"ask": turn["ask"], "answer": turn["truth"]} for turn in case["turns"]]
        name = picture if calibrates else f"pictures/{picture}"
        entry = {"id": case["id"], "picture": name, "turns": turns}
        sets["calibration/questions.jsonl" if calibrates else "tiny.jsonl"].append(entry)
    for name, entries in sets.items():
        lines = [json.dumps(entry, ensure_ascii=False) for entry in entries]
        (TARGET / name).write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
