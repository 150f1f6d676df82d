#!/usr/bin/env python3
"""Show what augmentation does to a picture: one row of samples for each setting.

    python3 examples/python/augmentation.py OUT_DIR [PICTURE.ppm [FIRECAFFE]]

writes OUT_DIR/augment-NAME.png. Without a picture it draws one. A net of one ImageData
layer makes the samples, `firecaffe run` runs it. Needs Python 3.6 and nothing else.
"""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

SIDE, COUNT, GAP = 80, 6, 4
CROP = f"crop_size: {SIDE}"
SETTINGS = {
    "area": f"{CROP} augment_param {{ min_area: 0.08 min_aspect: 0.75 max_aspect: 1.3333 }}",
    "pad": f"{CROP} resize_param {{ height: {SIDE} width: {SIDE} }} augment_param {{ pad: 10 }}",
    "rotate": f"{CROP} augment_param {{ min_area: 0.9 rotate: 30 }}",
    "brightness": f"{CROP} augment_param {{ min_area: 0.999 brightness: 0.5 }}",
    "contrast": f"{CROP} augment_param {{ min_area: 0.999 contrast: 0.7 }}",
    "saturation": f"{CROP} augment_param {{ min_area: 0.999 saturation: 1 }}",
    "hue": f"{CROP} augment_param {{ min_area: 0.999 hue: 0.2 }}",
    "lighting": f"{CROP} augment_param {{ min_area: 0.999 lighting: 0.3 }}",
    "gray": f"{CROP} augment_param {{ min_area: 0.999 gray: 0.5 }}",
    "noise": f"{CROP} augment_param {{ min_area: 0.999 noise: 60 }}",
    "blur": f"{CROP} augment_param {{ min_area: 0.999 blur: 3 }}",
    "cutout": f"{CROP} augment_param {{ min_area: 0.999 cutout: 32 }}",
    "mixup": f"{CROP} mirror: true augment_param {{ min_area: 0.1 mixup: 1 classes: 1 }}",
    "all": f"{CROP} mirror: true augment_param {{ min_area: 0.3 rotate: 10 brightness: 0.4 "
           "contrast: 0.4 saturation: 0.4 hue: 0.05 noise: 10 cutout: 20 }",
    "multi_scale": f"{CROP} multi_scale: true fix_crop: true more_fix_crop: true "
                   "scale_ratios: 1 scale_ratios: 0.75 scale_ratios: 0.5",
    "scale_factors": f"{CROP} scale_factors: 0.5 scale_factors: 0.75 scale_factors: 1.25",
    "expand": f"resize_param {{ height: {SIDE} width: {SIDE} }} "
              "expand_param { prob: 0.7 max_expand_ratio: 3 }",
    "distort": f"resize_param {{ height: {SIDE} width: {SIDE} }} distort_param {{ "
               "brightness_prob: 0.5 brightness_delta: 32 contrast_prob: 0.5 "
               "contrast_lower: 0.5 contrast_upper: 1.5 hue_prob: 0.5 hue_delta: 18 "
               "saturation_prob: 0.5 saturation_lower: 0.5 saturation_upper: 1.5 "
               "random_order_prob: 0.2 }",
}
NET = """layer {{ name: "data" type: "ImageData" top: "data" top: "label"
  image_data_param {{ source: "{folder}/list.txt" root_folder: "{folder}/" batch_size: {count} }}
  transform_param {{ mean_value: 116 {setting} }} }}
"""


def scene(width=160, height=120):
    """Sky, a sun, a hill, a house with a striped door and a tree."""
    def color(x, y):
        if 62 <= x < 78 and 80 <= y < 105:
            return (120, 60, 20) if x // 4 % 2 else (230, 200, 140)
        if 45 <= x < 95 and 60 <= y < 105:
            return (200, 70, 60) if (y // 6 + x // 12) % 2 else (220, 100, 80)
        if 30 <= y < 60 and abs(x - 70) < (y - 30) * 1.1:
            return (70, 50, 60)
        if (x - 125) ** 2 + (y - 62) ** 2 < 22 ** 2:
            return (30 + x % 7 * 8, 120 + y % 5 * 10, 40)
        if 121 <= x < 130 and 62 <= y < 108:
            return (110, 70, 30)
        if (x - 24) ** 2 + (y - 22) ** 2 < 13 ** 2:
            return (255, 230, 60)
        if y > 92 + ((x - 80) / 16) ** 2 / 4:
            return (70 + x % 9 * 3, 150 - y % 8 * 4, 60)
        return (120 + y // 2, 170 + y // 3, 235)
    pixels = bytes(v for y in range(height) for x in range(width) for v in color(x, y))
    return b"P6 %d %d 255\n" % (width, height) + pixels


def read_npy(path):
    """Shape and floats of a .npy file."""
    raw = path.read_bytes()
    length = struct.unpack("<H", raw[8:10])[0]
    shape = eval(raw[10:10 + length].decode())["shape"]
    count = (len(raw) - 10 - length) // 4
    return shape, struct.unpack(f"<{count}f", raw[10 + length:])


def png(width, height, rgb):
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    lines = b"".join(b"\0" + rgb[y * width * 3:(y + 1) * width * 3] for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2,
                                                              0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def row(path):
    """The samples of a blob (n, 3, h, w), blue first, side by side as a PNG."""
    (n, _, h, w), values = read_npy(path)
    width = n * (w + GAP) - GAP
    rgb = bytearray(b"\xff" * (width * h * 3))
    for i in range(n):
        for c in range(3):
            for y in range(h):
                for x in range(w):
                    value = values[((i * 3 + 2 - c) * h + y) * w + x] + 116
                    rgb[(y * width + i * (w + GAP) + x) * 3 + c] = max(0, min(255, round(value)))
    return png(width, h, bytes(rgb))


def main(out, picture=None, program="firecaffe"):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        data = pathlib.Path(picture).read_bytes() if picture else scene()
        (folder / "picture.ppm").write_bytes(data)
        (folder / "list.txt").write_text("picture.ppm 0\n")
        for setting, text in SETTINGS.items():
            (folder / "net.prototxt").write_text(
                NET.format(folder=folder, count=COUNT, setting=text))
            subprocess.run([program, "run", "--model", folder / "net.prototxt", "--phase",
                            "TRAIN", "--out", folder / "out"], check=True,
                           stdout=subprocess.DEVNULL)
            (out / f"augment-{setting}.png").write_bytes(row(folder / "out" / "data.npy"))


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
