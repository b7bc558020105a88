"""Writes what Pillow and Transformers make of pictures: resized bytes, tiles, crops, decoded files.

    pip install numpy pillow==13.0.0 torch==2.13.0 transformers==5.18.0
    python make_image_vectors.py          # writes vectors.json and pictures/ beside this file

Pixels of synthetic pictures follow `noise` below, which the tests repeat; large results are stored as SHA-256 of
their bytes, (height, width, 3).
"""
import base64, hashlib, io, json, os, struct, zlib
import numpy as np
from PIL import Image
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

HERE = os.path.dirname(os.path.abspath(__file__))
PICTURES = f"{HERE}/pictures"
FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}

def noise(w, h):
    """Byte i is the top byte of i * 2654435761 mod 2^32: all values, hard edges, so that clipping happens."""
    i = np.arange(w * h * 3, dtype=np.uint64)
    return Image.fromarray((((i * np.uint64(2654435761)) & np.uint64(0xFFFFFFFF)) >> np.uint64(24)).astype(np.uint8).reshape(h, w, 3))

def smooth(w, h):
    y, x = np.mgrid[0:h, 0:w]
    return Image.fromarray(np.stack([x * 255 // max(w - 1, 1), y * 255 // max(h - 1, 1), (x * 7 + y * 13) % 256], -1).astype(np.uint8))

def digest(a):
    return hashlib.sha256(np.ascontiguousarray(a).tobytes()).hexdigest()

def resizes():
    out = []
    pairs = [((7, 5), (13, 11)), ((13, 11), (7, 5)), ((16, 16), (8, 8)), ((5, 9), (5, 4)), ((9, 5), (4, 5)), ((1, 1), (6, 3)), ((40, 3), (1, 1)), ((4, 4), (5, 5)),
        ((10, 9), (8, 5)), ((10, 9), (8, 4)), ((3, 30), (2, 8))]  # either side of the rule for the order of the passes
    for (a, b) in pairs:
        for f, n in FILTERS.items():
            r = np.asarray(noise(*a).resize(b, n)); out.append({"filter": f, "from": a, "to": b, "base64": base64.b64encode(r.tobytes()).decode()})
    for (a, b) in [((640, 427), (2048, 1366)), ((1000, 750), (336, 252)), ((333, 777), (512, 512)), ((257, 129), (100, 300))]:
        for f, n in FILTERS.items():
            if f in ("lanczos", "bicubic", "bilinear") or a[0] == 257: out.append({"filter": f, "from": a, "to": b, "sha256": digest(np.asarray(noise(*a).resize(b, n)))})
    return out

def idefics3():
    out = []
    for size in [(3, 7), (7, 3), (24, 24), (160, 100), (60, 131), (333, 190), (512, 513), (1279, 719)]:
        for longest, tile in [(2048, 512), (1536, 384), (512, 512), (256, 128)]:
            for split in (True, False):
                p = Idefics3ImageProcessorPil(do_image_splitting=split, size={"longest_edge": longest}, max_image_size={"longest_edge": tile}, do_rescale=False, do_normalize=False, do_pad=False)
                r = p([[noise(*size)]], return_row_col_info=True); frames = np.stack(r["pixel_values"][0]); assert frames.dtype == np.uint8
                out.append({"size": size, "longestEdge": longest, "tileEdge": tile, "split": split, "frames": len(frames), "rows": int(r["rows"][0][0]), "cols": int(r["cols"][0][0]), "sha256": digest(frames.transpose(0, 2, 3, 1))})
    return out

def clip():
    out = []
    cases = [((120, 90), dict(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})), ((57, 130), dict(size={"shortest_edge": 56}, crop_size={"height": 56, "width": 56})),
        ((333, 71), dict(size={"shortest_edge": 70}, crop_size={"height": 70, "width": 70})), ((1000, 667), dict(size={"shortest_edge": 336}, crop_size={"height": 336, "width": 336})), ((3, 400), dict(size={"shortest_edge": 224}, crop_size={"height": 224, "width": 224})),
        ((50, 33), dict(size={"shortest_edge": 20}, crop_size={"height": 31, "width": 24})), ((50, 33), dict(size={"shortest_edge": 21}, crop_size={"height": 40, "width": 41})), ((51, 33), dict(do_resize=False, crop_size={"height": 40, "width": 20})),
        ((50, 33), dict(size={"height": 17, "width": 40}, do_center_crop=False)), ((50, 33), dict(size={"shortest_edge": 21}, do_center_crop=False, resample=2)), ((50, 33), dict(do_resize=False, do_center_crop=False))]
    for size, config in cases:
        r = np.asarray(CLIPImageProcessorPil(**config, do_rescale=False, do_normalize=False)(noise(*size))["pixel_values"][0]); assert r.dtype == np.uint8
        out.append({"size": size, "config": config, "width": r.shape[2], "height": r.shape[1], "sha256": digest(r.transpose(1, 2, 0))})
    return out

def normalizations():
    """All 256 levels through Transformers' rescale and normalise, as raw float32."""
    level = np.arange(256, dtype=np.uint8).reshape(1, 16, 16).repeat(3, 0)
    out = []
    for config in [dict(image_mean=[0.5] * 3, image_std=[0.5] * 3), dict(image_mean=[0.48145466, 0.4578275, 0.40821073], image_std=[0.26862954, 0.26130258, 0.27577711]), dict(do_rescale=False, image_mean=[123.675, 116.28, 103.53], image_std=[58.395, 57.12, 57.375]), dict(do_normalize=False)]:
        p = CLIPImageProcessorPil(do_resize=False, do_center_crop=False, do_convert_rgb=False, **config)
        r = np.asarray(p(level, input_data_format="channels_first")["pixel_values"][0]); assert r.dtype == np.float32, r.dtype
        out.append({"config": config, "base64": base64.b64encode(r.tobytes()).decode()})
    return out

def seen(im):
    """What a model should see: first frame, over white, as releases up to 4.57 of Transformers composite."""
    im.seek(0)
    if im.mode in ("RGBA", "LA", "PA") or "transparency" in im.info:
        im = im.convert("RGBA"); im = Image.alpha_composite(Image.new("RGBA", im.size, (255, 255, 255)), im)
    return np.asarray(im.convert("RGB"))

def png(w, h, depth, colour, rows):
    """A PNG of 16-bit samples, which Pillow cannot write."""
    chunk = lambda t, d: struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    raw = b"".join(b"\0" + r.astype(">u2").tobytes() for r in rows)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, colour, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")

def pictures():
    os.makedirs(PICTURES, exist_ok=True); out = {}
    def note(name, pixels): out[name] = {"width": pixels.shape[1], "height": pixels.shape[0], "sha256": digest(pixels)}
    def save(name, im, **k): im.save(f"{PICTURES}/{name}", **k); note(name, seen(Image.open(f"{PICTURES}/{name}")))
    im = smooth(37, 23); r = np.random.RandomState(1)
    for s, n in enumerate(["444", "422", "420"]): save(f"rgb-{n}.jpg", im, quality=85, subsampling=s)
    save("progressive.jpg", im, quality=85, progressive=True); save("grey.jpg", im.convert("L"), quality=85); save("cmyk.jpg", im.convert("CMYK"), quality=90)
    # The same samples declared as YCCK: byte 11 of the Adobe segment's payload is the transform.
    d = bytearray(open(f"{PICTURES}/cmyk.jpg", "rb").read()); d[d.index(b"Adobe") + 11] = 2; open(f"{PICTURES}/ycck.jpg", "wb").write(bytes(d)); note("ycck.jpg", seen(Image.open(f"{PICTURES}/ycck.jpg")))
    for n in ("rgb.png", "lossless.webp", "rgb.gif", "rgb.tiff"): save(n, im, **({"lossless": True} if n.endswith("webp") else {}))
    save("lossy.webp", im, quality=80); save("one-pixel.png", im.crop((5, 5, 6, 6))); save("one-pixel.jpg", im.crop((5, 5, 6, 6)))
    save("grey.png", im.convert("L")); save("bits.png", im.convert("1")); p = im.quantize(60); save("palette.png", p); save("palette-4-colours.png", im.quantize(4))
    save("palette-alpha.png", p, transparency=bytes([0, 128, 255, 7] * 15)); save("palette-alpha.gif", p, transparency=3); save("colour-key.png", im, transparency=im.getpixel((5, 5)))
    a = np.dstack([np.asarray(im), r.randint(0, 256, (23, 37))]).astype(np.uint8); save("rgba.png", Image.fromarray(a)); save("rgba.webp", Image.fromarray(a), lossless=True); save("grey-alpha.png", Image.fromarray(np.ascontiguousarray(a[..., 2:])))
    turned = im.rotate(180); save("animated.gif", im, save_all=True, append_images=[turned]); save("animated.webp", im, save_all=True, append_images=[turned], lossless=True); save("animated.png", im, save_all=True, append_images=[turned])
    # 16 bits: the upper eight count, where Pillow clips greyscale and has no RGB at all.
    g = r.randint(0, 65536, (23, 37)).astype(np.uint16); open(f"{PICTURES}/grey16.png", "wb").write(png(37, 23, 16, 0, g)); note("grey16.png", (g >> 8).astype(np.uint8)[..., None].repeat(3, 2))
    g = r.randint(0, 65536, (23, 37, 3)).astype(np.uint16); open(f"{PICTURES}/rgb16.png", "wb").write(png(37, 23, 16, 2, g.reshape(23, -1))); note("rgb16.png", (g >> 8).astype(np.uint8))
    im.save(f"{PICTURES}/rgb.avif", quality=90); im.convert("F").resize((4, 4)).save(f"{PICTURES}/float.tiff")
    # Orientation: red, green, blue and white quarters as a person sees them; the file holds them turned.
    upright = np.zeros((32, 48, 3), np.uint8); upright[:16, :24] = (255, 0, 0); upright[:16, 24:] = (0, 255, 0); upright[16:, :24] = (0, 0, 255); upright[16:, 24:] = 255
    undo = {1: None, 2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE", 6: "ROTATE_90", 7: "TRANSVERSE", 8: "ROTATE_270"}
    for o, t in undo.items():
        stored = Image.fromarray(upright); stored = stored if t is None else stored.transpose(Image.Transpose[t])
        e = Image.Exif(); e[0x0112] = o; stored.save(f"{PICTURES}/orientation-{o}.jpg", quality=95, subsampling=0, exif=e)
        if o == 6:
            for n in ("png", "webp"): stored.save(f"{PICTURES}/orientation-6.{n}", exif=e, **({"lossless": True} if n == "webp" else {}))
    return out

vectors = {"resizes": resizes(), "idefics3": idefics3(), "clip": clip(), "normalizations": normalizations(), "pictures": pictures()}
json.dump(vectors, open(f"{HERE}/vectors.json", "w"), indent=1)
print({k: len(v) for k, v in vectors.items()})
