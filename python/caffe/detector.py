"""detector - a Net that classifies windows of images, as R-CNN does."""
import os

import numpy as np

from . import io
from .classifier import transformer_of
from .pycaffe import TEST, Net


class Detector(Net):
    """A Net for windows of images.

    context_pad: so many pixels at each side of the input show what is around the
    window; None or 0: none. The other settings are those of caffe.io.Transformer.
    """

    def __init__(self, model_file, pretrained_file, mean=None, input_scale=None,
                 raw_scale=None, channel_swap=None, context_pad=None):
        super().__init__(model_file, TEST, weights=pretrained_file)
        self.transformer = transformer_of(self, mean, input_scale, raw_scale,
                                          channel_swap)
        self.configure_crop(context_pad)

    def detect_windows(self, images_windows):
        """Scores of windows: images_windows holds pairs (image file, list of windows);
        a window is (ymin, xmin, ymax, xmax). Returns a list of dicts with keys window,
        prediction, filename."""
        images_windows = [(name, list(windows)) for name, windows in images_windows]
        name = self.inputs[0]
        found, crops = [], []
        for filename, windows in images_windows:
            image = io.load_image(filename)
            for window in windows:
                crops.append(self.transformer.preprocess(name, self.crop(image, window)))
                found.append({'window': window, 'filename': filename})
        if not found:
            return []
        scores = self.forward_all(**{name: np.stack(crops)})[self.outputs[0]]
        for one, prediction in zip(found, scores):
            one['prediction'] = prediction
        return found

    def detect_selective_search(self, image_fnames):
        """detect_windows() on the proposals of selective search, which needs the
        package selective_search_ijcv_with_python."""
        import selective_search_ijcv_with_python as selective_search
        paths = [os.path.abspath(name) for name in image_fnames]
        windows = selective_search.get_windows(paths, cmd='selective_search_rcnn')
        return self.detect_windows(zip(paths, windows))

    def crop(self, im, window):
        """The part of an image in a window; with context_pad, warped to the input's
        size with what is around it, and the mean where the image ends."""
        if not self.context_pad:
            ymin, xmin, ymax, xmax = (int(v) for v in window)
            return im[ymin:ymax, xmin:xmax]
        size = self.blobs[self.inputs[0]].width  # the input is a square
        scale = size / (1. * size - self.context_pad * 2)
        ymin, xmin, ymax, xmax = (float(v) for v in window)
        half = np.array([(ymax - ymin + 1) / 2., (xmax - xmin + 1) / 2.])
        centre = np.array([ymin, xmin]) + half
        box = np.round(np.concatenate([centre - scale * half, centre + scale * half]))
        # how many pixels of the input one of the image takes, and where it begins
        by = size / (box[2:] - box[:2] + 1)
        pad = [int(round(p)) for p in np.maximum(0, -box[:2]) * by]
        box = np.clip(box, 0., np.tile(im.shape[:2], 2)).astype(int)
        inside = [min(int(round(n)), size - p)
                  for n, p in zip((box[2:] - box[:2] + 1) * by, pad)]
        crop = np.ones(self.crop_dims, np.float32) * self.crop_mean
        crop[pad[0]:pad[0] + inside[0], pad[1]:pad[1] + inside[1]] = io.resize_image(
            im[box[0]:box[2], box[1]:box[3]], inside)
        return crop

    def configure_crop(self, context_pad):
        """Set context_pad, and the mean as an image, for what is beyond the edges."""
        name = self.inputs[0]
        t = self.transformer
        back = np.argsort(t.transpose[name])
        self.crop_dims = np.array(self.blobs[name].data.shape[1:])[back]
        self.context_pad = context_pad
        if not self.context_pad:
            return
        mean = t.mean.get(name)
        if mean is None:
            self.crop_mean = np.zeros(self.crop_dims, np.float32)
            return
        self.crop_mean = np.array(mean).transpose(back)
        if name in t.channel_swap:
            self.crop_mean = self.crop_mean[:, :, np.argsort(t.channel_swap[name])]
        if name in t.raw_scale:
            self.crop_mean = self.crop_mean / t.raw_scale[name]
