"""pictures.py - curves and tables of images, with Pillow alone."""
import numpy as np
from PIL import Image, ImageDraw

COLORS = '#2060c0', '#c04020', '#208040'


def curves(file, title, **lines):
    """Draw lines {name: [(x, y), ...]}, each scaled to the height of the picture."""
    image = Image.new('RGB', (640, 400), 'white')
    pen = ImageDraw.Draw(image)
    pen.rectangle([40, 30, 620, 370], outline='#808080')
    pen.text((40, 10), title, 'black')
    for (name, points), color in zip(lines.items(), COLORS):
        x, y = np.array(points, float).T
        left, right, low, high = x.min(), x.max(), y.min(), y.max()
        x = 40 + 580 * (x - left) / max(right - left, 1e-9)
        y = 370 - 340 * (y - low) / max(high - low, 1e-9)
        pen.line(list(zip(x, y)), fill=color, width=2)
        at = 200 + 140 * list(lines).index(name)
        pen.text((at, 380), '%s: %.3g ... %.3g' % (name, low, high), color)
    image.save(file)


def table(file, images, words, columns=8):
    """Draw grey images (height, width) from 0 to 1, each with a word below it."""
    rows = -(-len(images) // columns)
    picture = Image.new('RGB', (columns * 72, rows * 84), 'white')
    pen = ImageDraw.Draw(picture)
    for i, (image, word) in enumerate(zip(images, words)):
        x, y = i % columns * 72 + 8, i // columns * 84 + 4
        grey = Image.fromarray(np.uint8(255 * np.clip(image, 0, 1)))
        picture.paste(grey.resize((56, 56)), (x, y))
        pen.text((x, y + 60), str(word), 'black')
    picture.save(file)
