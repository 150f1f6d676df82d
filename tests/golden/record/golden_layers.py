"""Python layers of the golden cases; they do without numpy, which may not be installed."""
import math

import caffe


def pairs(blob):
    rows, columns = blob.shape
    return [(i, j) for i in range(rows) for j in range(columns)]


class Gate(caffe.Layer):
    def setup(self, bottom, top):
        self.blobs.add_blob(bottom[0].shape[1])

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def gate(self, x, w):
        return 1 / (1 + math.exp(-x * w))

    def forward(self, bottom, top):
        x, y, w = bottom[0].data, top[0].data, self.blobs[0].data
        for i, j in pairs(bottom[0]):
            y[i, j] = x[i, j] * self.gate(x[i, j], w[j])

    def backward(self, top, propagate_down, bottom):
        x, dx, dy = bottom[0].data, bottom[0].diff, top[0].diff
        w, dw = self.blobs[0].data, self.blobs[0].diff
        for i, j in pairs(bottom[0]):
            g = self.gate(x[i, j], w[j])
            dx[i, j] = dy[i, j] * (g + x[i, j] * w[j] * g * (1 - g))
            dw[j] += dy[i, j] * x[i, j] * x[i, j] * g * (1 - g)


class SumDifference(caffe.Layer):
    def setup(self, bottom, top):
        self.factor = float(self.param_str)

    def reshape(self, bottom, top):
        for blob in (top[0], top[1]):
            blob.reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        for i in pairs(bottom[0]):
            top[0].data[i] = bottom[0].data[i] + bottom[1].data[i]
            top[1].data[i] = self.factor * (bottom[0].data[i] - bottom[1].data[i])

    def backward(self, top, propagate_down, bottom):
        for i in pairs(bottom[0]):
            both, apart = top[0].diff[i], self.factor * top[1].diff[i]
            bottom[0].diff[i] = both + apart
            bottom[1].diff[i] = both - apart


class Euclidean(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def difference(self, bottom, i):
        return float(bottom[0].data[i]) - float(bottom[1].data[i])

    def forward(self, bottom, top):
        total = sum(self.difference(bottom, i) ** 2 for i in pairs(bottom[0]))
        top[0].data[0] = total / bottom[0].num / 2

    def backward(self, top, propagate_down, bottom):
        for i in pairs(bottom[0]):
            d = top[0].diff[0] * self.difference(bottom, i) / bottom[0].num
            bottom[0].diff[i], bottom[1].diff[i] = d, -d
