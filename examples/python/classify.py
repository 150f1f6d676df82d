"""classify.py - classify image files with the net of train_netspec.py."""
import sys

import caffe
import mnist
import numpy as np
import pictures

with open(mnist.write('t10k', 64, 'images')) as file:
    files, labels = zip(*(line.split() for line in file))
files = sys.argv[1:] or files

net = caffe.Net('digits.prototxt', caffe.TEST, weights='digits.caffemodel')
t = caffe.io.Transformer({'data': net.blobs['data'].data.shape})
t.set_transpose('data', (2, 0, 1))
t.set_raw_scale('data', 255 / 256.)  # load_image() gives 0 ... 1, training had 0 ... 255/256

images = [caffe.io.load_image(name, color=False) for name in files]
data = np.stack([t.preprocess('data', image) for image in images])
scores = net.forward_all(data=data)['prob']

found = scores.argmax(1)
pictures.table('classify.png', [image[:, :, 0] for image in images],
               ['%d: %.0f %%' % (i, 100 * s[i]) for i, s in zip(found, scores)])
if len(files) == len(labels):
    print('right: %d of %d' % ((found == np.array(labels, int)).sum(), len(files)))
