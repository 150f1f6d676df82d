"""classifier - a Net that classifies images."""
import numpy as np

from . import io
from .pycaffe import TEST, Net


def transformer_of(net, mean, input_scale, raw_scale, channel_swap):
    """A Transformer for the first input of a net, with these settings where given."""
    name = net.inputs[0]
    t = io.Transformer({name: net.blobs[name].data.shape})
    t.set_transpose(name, (2, 0, 1))
    for setting, value in ((t.set_mean, mean), (t.set_input_scale, input_scale),
                           (t.set_raw_scale, raw_scale),
                           (t.set_channel_swap, channel_swap)):
        if value is not None:
            setting(name, value)
    return t


class Classifier(Net):
    """A Net for images: scales, crops and prepares them, averages over crops.

    image_dims: size (height, width) to which images are scaled before they are cropped
    to the input; default: the input's size. The other settings are those of
    caffe.io.Transformer.

        classifier = caffe.Classifier('deploy.prototxt', 'net.caffemodel', raw_scale=255)
        scores = classifier.predict([caffe.io.load_image('cat.jpg')])
    """

    def __init__(self, model_file, pretrained_file, image_dims=None, mean=None,
                 input_scale=None, raw_scale=None, channel_swap=None):
        super().__init__(model_file, TEST, weights=pretrained_file)
        self.transformer = transformer_of(self, mean, input_scale, raw_scale,
                                          channel_swap)
        self.crop_dims = np.array(self.blobs[self.inputs[0]].data.shape[2:])
        given = image_dims is not None and len(image_dims) > 0
        self.image_dims = image_dims if given else self.crop_dims

    def predict(self, inputs, oversample=True):
        """Class scores (images, classes) of images (height, width, channels): the mean
        over ten crops of each, or of the centre alone if not oversample."""
        inputs = list(inputs)
        scaled = np.stack([io.resize_image(im, self.image_dims) for im in inputs])
        if oversample:
            crops = io.oversample(scaled, self.crop_dims)
        else:
            y, x = ((np.array(self.image_dims) - self.crop_dims) / 2.0).astype(int)
            h, w = self.crop_dims
            crops = scaled[:, y:y + h, x:x + w, :]
        name = self.inputs[0]
        data = np.stack([self.transformer.preprocess(name, crop) for crop in crops])
        scores = self.forward_all(**{name: data})[self.outputs[0]]
        if oversample:
            scores = scores.reshape((len(inputs), 10, -1)).mean(1)
        return scores
