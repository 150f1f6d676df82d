#!/usr/bin/env python3
"""What augmentation costs: images per second of a Data layer on one core.

    chrt -r 1 bench/cpu/augment.py FIRECAFFE [ROUNDS]

Records are JPEG files of 256 x 256 pixels and about 30 KB, as `convert imageset
--resize_height=256 --resize_width=256 --encode_type=jpg` makes them of photographs. Each
setting is measured in turn, ROUNDS times (5); the median counts. Needs Python 3 and nothing
else.
"""
import math
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile

SIZE, IMAGES, BATCH, PASSES = 256, 32, 32, 24
SETTINGS = {
    "crop and mirror": "",
    "+ area, aspect": "min_area: 0.08 min_aspect: 0.75 max_aspect: 1.3333",
    "+ area, aspect, colours": "min_area: 0.08 min_aspect: 0.75 max_aspect: 1.3333 "
                               "brightness: 0.4 contrast: 0.4 saturation: 0.4 hue: 0.05",
    "+ area, aspect, colours, rotation": "min_area: 0.08 min_aspect: 0.75 max_aspect: "
                                         "1.3333 brightness: 0.4 contrast: 0.4 saturation: "
                                         "0.4 hue: 0.05 rotate: 15",
    "+ noise": "noise: 10",
}
NET = """layer {{ name: "data" type: "Data" top: "data" top: "label"
  data_param {{ source: "{db}" batch_size: {batch} backend: LMDB }}
  transform_param {{ mirror: true crop_size: 224 mean_value: 110 augment_param {{ {augment} }} }} }}
layer {{ name: "none" type: "Silence" bottom: "data" bottom: "label" }}
"""


def picture(seed):
    """Waves of several lengths, with grain: compresses like a photograph."""
    draw = random.Random(seed)
    waves = [(draw.uniform(2, 40), draw.uniform(0, 7), draw.uniform(10, 45))
             for _ in range(6)]
    across = [[sum(a * math.sin(x * f / SIZE + p * (c + 1)) for f, p, a in waves[:3])
               for x in range(SIZE)] for c in range(3)]
    down = [[sum(a * math.sin(y * f / SIZE + p * (c + 1)) for f, p, a in waves[3:])
             for y in range(SIZE)] for c in range(3)]
    grain = [draw.gauss(0, 6) for _ in range(4093)]
    pixels = bytearray()
    for y in range(SIZE):
        for x in range(SIZE):
            by = grain[(y * 7919 + x) % 4093]
            pixels += bytes(max(0, min(255, int(120 + across[c][x] + down[c][y] + by)))
                            for c in range(3))
    return b"P6 %d %d 255\n" % (SIZE, SIZE) + bytes(pixels)


def speed(program, folder, augment):
    """Images per second."""
    net = folder / "net.prototxt"
    net.write_text(NET.format(db=folder / "db", batch=BATCH, augment=augment))
    run = subprocess.run([program, "time", "--model", net, "--phase", "TRAIN", "--threads",
                          "1", "--iterations", str(PASSES)], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, universal_newlines=True, check=True)
    return BATCH * 1000 / float(re.search(r"Average Forward pass: ([\d.]+) ms",
                                          run.stdout).group(1))


def main(program, rounds="5"):
    program = pathlib.Path(program).resolve()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for i in range(IMAGES):
            (folder / f"{i}.ppm").write_bytes(picture(i))
        (folder / "list.txt").write_text("".join(f"{i}.ppm {i}\n" for i in range(IMAGES)))
        subprocess.run([program, "convert", "imageset", "--encode_type=jpg", f"{folder}/",
                        folder / "list.txt", folder / "db"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        size = (folder / "db" / "data.mdb").stat().st_size / IMAGES / 1024
        print(f"{IMAGES} JPEG files of {SIZE} x {SIZE}, {size:.0f} KB each, crops of 224, "
              "one core")
        rates = {name: [] for name in SETTINGS}
        for _ in range(int(rounds)):
            for name, augment in SETTINGS.items():
                rates[name].append(speed(program, folder, augment))
    first = statistics.median(rates["crop and mirror"])
    for name, values in rates.items():
        rate = statistics.median(values)
        print(f"{name:36s} {rate:7.0f} images/s {rate / first:5.2f}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
