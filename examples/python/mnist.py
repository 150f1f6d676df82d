"""mnist.py - the digits of data/mnist, as arrays and as image files."""
import gzip
import os

import numpy as np
from PIL import Image

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'data', 'mnist')


def read(part):
    """Images (n, 28, 28) and labels of 'train' or 't10k', as uint8."""
    with gzip.open(os.path.join(DATA, part + '-images-idx3-ubyte.gz')) as file:
        images = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28)
    with gzip.open(os.path.join(DATA, part + '-labels-idx1-ubyte.gz')) as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    return images, labels


def write(part, n, folder):
    """Write the first n images as files, and the list that ImageData layers read:
    returns its path."""
    os.makedirs(folder, exist_ok=True)
    images, labels = read(part)
    path = os.path.join(folder, part + '.txt')
    with open(path, 'w') as file:
        for i in range(n):
            name = os.path.join(folder, '%s_%d.png' % (part, i))
            Image.fromarray(images[i]).save(name)
            file.write('%s %d\n' % (name, labels[i]))
    return path
