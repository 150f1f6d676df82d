"""own_loss.py - layers written in Python: one makes data, one is a loss that outliers do
not spoil. The net learns the line y = 2 x + 1."""
import caffe
import numpy as np
import pictures


class Points(caffe.Layer):
    """x and y of points on a line; every tenth y is far off."""

    def setup(self, bottom, top):
        self.random = np.random.default_rng(0)

    def reshape(self, bottom, top):
        top[0].reshape(20, 1)
        top[1].reshape(20, 1)

    def forward(self, bottom, top):
        x = self.random.uniform(-1, 1, (20, 1))
        y = 2 * x + 1 + self.random.normal(0, 0.1, x.shape)
        y[::10] += 8
        top[0].data[...] = x
        top[1].data[...] = y

    def backward(self, top, propagate_down, bottom):
        pass


class Huber(caffe.Layer):
    """Mean of d^2 / 2 where |d| < 1, and |d| - 1/2 elsewhere."""

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.d = bottom[0].data - bottom[1].data
        size = np.abs(self.d)
        top[0].data[...] = np.where(size < 1, self.d ** 2 / 2, size - 0.5).mean()

    def backward(self, top, propagate_down, bottom):
        g = top[0].diff[0] * np.clip(self.d, -1, 1) / len(self.d)
        for i, sign in ((0, 1), (1, -1)):
            if propagate_down[i]:
                bottom[i].diff[...] = sign * g


def python(name, kind, bottoms, tops, more=''):
    return "layer { name: '%s' type: 'Python' %s %s python_param { module: '%s' layer: " \
        "'%s' } %s }\n" % (name, ' '.join("bottom: '%s'" % b for b in bottoms),
                           ' '.join("top: '%s'" % t for t in tops), __name__, kind, more)


net = (python('points', 'Points', [], ['x', 'y']) +
       "layer { name: 'line' type: 'InnerProduct' bottom: 'x' top: 'p' "
       "inner_product_param { num_output: 1 } }\n" +
       python('loss', 'Huber', ['p', 'y'], ['loss'], 'loss_weight: 1'))
solver = caffe.get_solver("train_net_param { %s } base_lr: 0.2 momentum: 0.9 "
                          "lr_policy: 'fixed' snapshot_prefix: 'line'" % net)
loss = []
for i in range(300):
    solver.step(1)
    loss.append((i, float(solver.net.blobs['loss'].data[0])))
slope, shift = (float(blob.data.flat[0]) for blob in solver.net.params['line'])
print('y = %.2f x + %.2f' % (slope, shift))

x, y = (solver.net.blobs[name].data[:, 0] for name in 'xy')
order = np.argsort(x)
pictures.curves('own_loss.png', 'y = %.2f x + %.2f' % (slope, shift), loss=loss,
                points=list(zip(x[order], y[order])))
