"""train_netspec.py - write a net in Python and train it on two workers of this process.
Leaves digits.prototxt and digits.caffemodel for the other examples."""
import sys

import caffe
import mnist
import pictures
from caffe import layers as L
from caffe import params as P

iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 150


def digits(data, label):
    """Two convolutions and two inner products; returns scores of ten digits."""
    n = caffe.NetSpec()
    n.data, n.label = data, label
    learn = dict(weight_filler=dict(type='xavier'),
                 param=[dict(lr_mult=1), dict(lr_mult=2)])
    n.conv1 = L.Convolution(n.data, kernel_size=5, num_output=16, **learn)
    n.pool1 = L.Pooling(n.conv1, pool=P.Pooling.MAX, kernel_size=2, stride=2)
    n.conv2 = L.Convolution(n.pool1, kernel_size=5, num_output=32, **learn)
    n.pool2 = L.Pooling(n.conv2, pool=P.Pooling.MAX, kernel_size=2, stride=2)
    n.ip1 = L.InnerProduct(n.pool2, num_output=128, **learn)
    n.relu1 = L.ReLU(n.ip1, in_place=True)
    n.ip2 = L.InnerProduct(n.relu1, num_output=10, **learn)
    return n


def training_net(part, n):
    spec = digits(*L.ImageData(source=mnist.write(part, n, 'images'), batch_size=64,
                               is_color=False, shuffle=part == 'train', ntop=2,
                               transform_param=dict(scale=1 / 256.)))
    spec.loss = L.SoftmaxWithLoss(spec.ip2, spec.label)
    spec.accuracy = L.Accuracy(spec.ip2, spec.label)
    return spec.to_proto()


def deploy_net():
    spec = digits(L.Input(shape=dict(dim=[64, 1, 28, 28])), None)
    del spec.label
    spec.prob = L.Softmax(spec.ip2)
    return spec.to_proto()


solver = caffe.proto.caffe_pb2.SolverParameter(
    train_net_param=training_net('train', 4000), base_lr=0.02, momentum=0.9,
    lr_policy='fixed', max_iter=iterations, test_iter=[8], test_interval=50,
    snapshot_prefix='digits', random_seed=1)
solver.test_net_param.add().CopyFrom(training_net('t10k', 512))

loss, accuracy = [], []


def note(event):
    if event['kind'] == 'iteration':
        loss.append((event['iter'], event['loss']))
    elif event['name'] == 'accuracy':
        accuracy.append((event['iter'], event['value']))


with caffe.Trainer(solver, workers=2, fire='lanes: 2') as trainer:
    # worker 0 tells about all of them
    trainer.each(lambda s: s.listen(note, 'iteration', 'test') if s.rank == 0 else None)
    trainer.solve()
    trainer.net.save('digits.caffemodel')

with open('digits.prototxt', 'w') as file:
    file.write(str(deploy_net()))
pictures.curves('train_netspec.png', 'LeNet on two workers', loss=loss, accuracy=accuracy)
print('test accuracy %.3f' % accuracy[-1][1])
