"""by_hand.py - step a solver by hand: look at losses, test, change the learning rate."""
import sys

import caffe
import mnist
import pictures

steps = int(sys.argv[1]) if len(sys.argv) > 1 else 15
LAYERS = """
layer { name: 'ip1' type: 'InnerProduct' bottom: 'data' top: 'ip1' inner_product_param {
  num_output: 64 weight_filler { type: 'xavier' } } }
layer { name: 'relu1' type: 'ReLU' bottom: 'ip1' top: 'ip1' }
layer { name: 'ip2' type: 'InnerProduct' bottom: 'ip1' top: 'ip2' inner_product_param {
  num_output: 10 weight_filler { type: 'xavier' } } }
layer { name: 'loss' type: 'SoftmaxWithLoss' bottom: 'ip2' bottom: 'label' top: 'loss' }
layer { name: 'accuracy' type: 'Accuracy' bottom: 'ip2' bottom: 'label' top: 'accuracy' }
"""


def net(part, n):
    return """layer { name: 'data' type: 'ImageData' top: 'data' top: 'label'
  image_data_param { source: '%s' batch_size: 64 is_color: false shuffle: true }
  transform_param { scale: 0.00390625 } }""" % mnist.write(part, n, 'images') + LAYERS


solver = caffe.get_solver("""train_net_param { %s } test_net_param { %s } test_iter: 8
    test_interval: 1000000 test_initialization: false base_lr: 0.1 momentum: 0.9
    lr_policy: 'fixed' snapshot_prefix: 'by_hand' random_seed: 1""" % (
        net('train', 2000), net('t10k', 512)))

loss, rate, best = [], [], 0
for _ in range(steps):
    solver.step(5)
    loss.append((solver.iter, float(solver.net.blobs['loss'].data)))
    rate.append((solver.iter, solver.lr))
    accuracy = solver.test()['accuracy']
    if accuracy > best:
        best = accuracy
    else:  # no better: smaller steps from here on
        solver.lr = solver.lr / 2
solver.snapshot()
print('best accuracy %.3f, last learning rate %g' % (best, solver.lr))
pictures.curves('by_hand.png', 'five iterations at a time', loss=loss, rate=rate)
