"""surgery.py - make convolutions of a trained net's inner products: the classifier of 28 x
28 pixels then slides over images of any size."""
import caffe
import mnist
import numpy as np
import pictures
from caffe import layers as L
from caffe import params as P

n = caffe.NetSpec()
n.data = L.Input(shape=dict(dim=[1, 1, 28, 28]))
n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=16)
n.pool1 = L.Pooling(n.conv1, pool=P.Pooling.MAX, kernel_size=2, stride=2)
n.conv2 = L.Convolution(n.pool1, kernel_size=5, num_output=32)
n.pool2 = L.Pooling(n.conv2, pool=P.Pooling.MAX, kernel_size=2, stride=2)
n.fc1 = L.Convolution(n.pool2, kernel_size=4, num_output=128)  # pool2 is 4 x 4
n.relu1 = L.ReLU(n.fc1, in_place=True)
n.fc2 = L.Convolution(n.relu1, kernel_size=1, num_output=10)
n.prob = L.Softmax(n.fc2)

net = caffe.Net('digits.prototxt', caffe.TEST, weights='digits.caffemodel')
wide = caffe.Net(n.to_proto(), caffe.TEST)
wide.copy_from(net.to_proto(weights=True))  # layers of the same name
for fc, ip in (('fc1', 'ip1'), ('fc2', 'ip2')):
    wide.params[fc][0].data.flat = net.params[ip][0].data.flat  # same order, other shape
    wide.params[fc][1].data[...] = net.params[ip][1].data

images, labels = mnist.read('t10k')
one = images[:1, np.newaxis] / 256.
same = np.abs(wide.forward(data=one)['prob'].ravel() -
              net.forward_all(data=one)['prob'].ravel()).max()
print('on a single digit both differ by %.1e' % same)

canvas = np.zeros((28 * 3, 28 * 4), np.float32)
for i in range(12):
    y, x = i // 4 * 28, i % 4 * 28
    canvas[y:y + 28, x:x + 28] = images[i] / 256.
wide.blobs['data'].reshape(1, 1, *canvas.shape)
wide.blobs['data'].data[...] = canvas
maps = wide.forward()['prob'][0]  # (10, rows, columns), one for every 4 pixels
found = [maps[:, i // 4 * 7, i % 4 * 7].argmax() for i in range(12)]
print('digits in the large image: %d of 12 right' % (np.array(found) == labels[:12]).sum())
pictures.table('surgery.png', [canvas] + list(maps),
               ['image'] + ['where %d is' % i for i in range(10)], columns=4)
