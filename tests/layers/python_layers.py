"""Layers for test_python_layer.c and cases/Python.prototxt; they do without numpy."""
import caffe


def indices(shape):
    if not shape:
        yield ()
        return
    for i in range(shape[0]):
        for rest in indices(shape[1:]):
            yield (i,) + rest


class Scale(caffe.Layer):
    def setup(self, bottom, top):
        self.factor = float(self.param_str)

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        x, y = bottom[0].data, top[0].data
        for i in indices(bottom[0].shape):
            y[i] = x[i] * self.factor

    def backward(self, top, propagate_down, bottom):
        if propagate_down[0]:
            dx, dy = bottom[0].diff, top[0].diff
            for i in indices(bottom[0].shape):
                dx[i] = dy[i] * self.factor


class Parameter(caffe.Layer):
    def setup(self, bottom, top):
        self.blobs.add_blob(2)
        for i in range(2):
            self.blobs[0].data[i] = 7

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        top[0].data[0] = float(self.phase != caffe.TRAIN)


class Learned(caffe.Layer):
    """y = x * x * w, one w for each column."""

    def setup(self, bottom, top):
        self.blobs.add_blob(bottom[0].shape[1])

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        x, y, w = bottom[0].data, top[0].data, self.blobs[0].data
        for n, i in indices(bottom[0].shape):
            y[n, i] = x[n, i] * x[n, i] * w[i]

    def backward(self, top, propagate_down, bottom):
        x, dx, dy = bottom[0].data, bottom[0].diff, top[0].diff
        w, dw = self.blobs[0].data, self.blobs[0].diff
        for n, i in indices(bottom[0].shape):
            dx[n, i] = 2 * x[n, i] * w[i] * dy[n, i]
            dw[i] += x[n, i] * x[n, i] * dy[n, i]


class Broken(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        raise ValueError("not today")


class BadShape(Broken):
    def reshape(self, bottom, top):
        top[0].reshape(-1)


class Loader(caffe.Layer):
    """FCN's data layer loads its next image in reshape()."""

    def setup(self, bottom, top):
        self.image = 0

    def reshape(self, bottom, top):
        self.image += 1
        top[0].reshape(self.image)

    def forward(self, bottom, top):
        top[0].data[0] = self.image


class Names(caffe.Layer):
    """Published layers look at param_str_ and str(self.phase)."""

    def setup(self, bottom, top):
        self.factor = float(self.param_str_)

    def reshape(self, bottom, top):
        top[0].reshape(2)

    def forward(self, bottom, top):
        top[0].data[0] = self.factor
        top[0].data[1] = {'TRAIN': 1, 'TEST': 2}[str(self.phase)]


class Old(caffe.Layer):
    def setup(self, bottom, top):
        for i in xrange(2):
            pass
