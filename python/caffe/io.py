"""io - images and arrays in and out of nets.

    >>> import numpy as np
    >>> t = Transformer({'data': (1, 3, 4, 4)})
    >>> t.set_transpose('data', (2, 0, 1))
    >>> t.preprocess('data', np.zeros((8, 8, 3))).shape
    (3, 4, 4)
"""
import numpy as np

from .proto import caffe_pb2


# ---- messages and arrays ----

def blobproto_to_array(blob, return_diff=False):
    """The values of a BlobProto, or its gradients, as an array of its shape."""
    data = np.array(blob.diff if return_diff else blob.data)
    if not return_diff and not len(data) and len(blob.double_data):
        data = np.array(blob.double_data)
    if any(blob.HasField(f) for f in ('num', 'channels', 'height', 'width')):
        return data.reshape(blob.num, blob.channels, blob.height, blob.width)
    return data.reshape(tuple(blob.shape.dim))


def array_to_blobproto(arr, diff=None):
    """A BlobProto with the values of an array, and of another one as gradients."""
    blob = caffe_pb2.BlobProto()
    blob.shape.dim.extend(arr.shape)
    blob.data.extend(np.asarray(arr, float).ravel().tolist())
    if diff is not None:
        blob.diff.extend(np.asarray(diff, float).ravel().tolist())
    return blob


def arraylist_to_blobprotovector_str(arraylist):
    """A list of arrays as the bytes of a BlobProtoVector."""
    vec = caffe_pb2.BlobProtoVector()
    vec.blobs.extend([array_to_blobproto(arr) for arr in arraylist])
    return vec.SerializeToString()


def blobprotovector_str_to_arraylist(str):
    """The arrays in the bytes of a BlobProtoVector."""
    vec = caffe_pb2.BlobProtoVector()
    vec.ParseFromString(str)
    return [blobproto_to_array(blob) for blob in vec.blobs]


def array_to_datum(arr, label=None):
    """A Datum with an array (channels, height, width): as bytes if it is of uint8,
    else as floats."""
    if arr.ndim != 3:
        raise ValueError('Incorrect array shape: a datum holds (channels, height, width)')
    datum = caffe_pb2.Datum()
    datum.channels, datum.height, datum.width = arr.shape
    if arr.dtype == np.uint8:
        datum.data = arr.tobytes()
    else:
        datum.float_data.extend(arr.astype(float).ravel().tolist())
    if label is not None:
        datum.label = int(label)
    return datum


def datum_to_array(datum):
    """The array (channels, height, width) of a Datum: uint8 for bytes, else float. An
    encoded image (JPEG, PNG) is decoded, blue first, as data layers do it."""
    shape = (datum.channels, datum.height, datum.width)
    if datum.encoded:
        return _decode(datum.data)
    if len(datum.data):
        return np.frombuffer(datum.data, np.uint8).reshape(shape).copy()
    return np.array(datum.float_data, float).reshape(shape)


def _decode(data):
    from io import BytesIO
    image = _pixels(BytesIO(data), 'encoded datum')
    return np.ascontiguousarray(image.transpose(2, 0, 1)[::-1])


# ---- from images to inputs ----

class Transformer:
    """Turns images (height, width, channels) into what an input blob takes, and back.

    inputs: {name of an input: shape of its blob}. Each step below is done only for
    inputs for which it was set, in this order: resize to the input's size, transpose,
    swap channels, times raw_scale, minus mean, times input_scale.

        t = caffe.io.Transformer({'data': net.blobs['data'].data.shape})
        t.set_transpose('data', (2, 0, 1))       # to channels, height, width
        t.set_channel_swap('data', (2, 1, 0))    # RGB to BGR
        t.set_raw_scale('data', 255)             # 0 ... 1 to 0 ... 255
        t.set_mean('data', np.array([104, 117, 123]))
        net.blobs['data'].data[...] = t.preprocess('data', image)
    """

    def __init__(self, inputs):
        self.inputs = inputs
        self.transpose, self.channel_swap = {}, {}
        self.raw_scale, self.mean, self.input_scale = {}, {}, {}

    def __check_input(self, in_):
        if in_ not in self.inputs:
            raise Exception('{} is not one of the net inputs: {}'.format(in_, self.inputs))

    def preprocess(self, in_, data):
        """An image as the input `in_` takes it: float32 (channels, height, width)."""
        self.__check_input(in_)
        out = np.array(data, np.float32)
        size = tuple(self.inputs[in_][2:])
        if out.shape[:2] != size:
            out = resize_image(out, size)
        if in_ in self.transpose:
            out = out.transpose(self.transpose[in_])
        if in_ in self.channel_swap:
            out = out[list(self.channel_swap[in_]), :, :]
        if in_ in self.raw_scale:
            out *= self.raw_scale[in_]
        if in_ in self.mean:
            out -= self.mean[in_]
        if in_ in self.input_scale:
            out *= self.input_scale[in_]
        return out

    def deprocess(self, in_, data):
        """The image of an input: preprocess() undone, but for the resize."""
        self.__check_input(in_)
        out = np.array(data).squeeze()
        if in_ in self.input_scale:
            out /= self.input_scale[in_]
        if in_ in self.mean:
            out += self.mean[in_]
        if in_ in self.raw_scale:
            out /= self.raw_scale[in_]
        if in_ in self.channel_swap:
            out = out[np.argsort(self.channel_swap[in_]), :, :]
        if in_ in self.transpose:
            out = out.transpose(np.argsort(self.transpose[in_]))
        return out

    def set_transpose(self, in_, order):
        """Order of axes: (2, 0, 1) makes (channels, height, width) of an image."""
        self.__check_input(in_)
        if len(order) != len(self.inputs[in_]) - 1:
            raise Exception('Transpose order needs to have the same number of '
                            'dimensions as the input.')
        self.transpose[in_] = order

    def set_channel_swap(self, in_, order):
        """Order of channels, after the transpose: (2, 1, 0) for RGB to BGR."""
        self.__check_input(in_)
        if len(order) != self.inputs[in_][1]:
            raise Exception('Channel swap needs to have the same number of '
                            'dimensions as the input channels.')
        self.channel_swap[in_] = order

    def set_raw_scale(self, in_, scale):
        """Factor before the mean: 255 for nets that were trained on 0 ... 255."""
        self.__check_input(in_)
        self.raw_scale[in_] = scale

    def set_mean(self, in_, mean):
        """What to subtract: one number per channel, or an image (channels, height,
        width), which is resized to the input's size if needed."""
        self.__check_input(in_)
        shape = tuple(self.inputs[in_][1:])
        if mean.ndim == 1:
            if mean.shape[0] != shape[0]:
                raise ValueError('Mean channels incompatible with input.')
            mean = mean[:, np.newaxis, np.newaxis]
        else:
            if mean.ndim not in (2, 3):
                raise ValueError('Mean shape invalid')
            if (1,) * (3 - mean.ndim) + mean.shape != shape:
                mean = resize_mean(mean, shape)
        self.mean[in_] = mean

    def set_input_scale(self, in_, scale):
        """Factor after the mean."""
        self.__check_input(in_)
        self.input_scale[in_] = scale


def resize_mean(mean, shape):
    """A mean image (channels, height, width) in the size of an input."""
    if mean.ndim == 2:
        mean = mean[np.newaxis]
    low, high = mean.min(), mean.max()
    normal = (mean - low) / (high - low if high > low else 1)
    resized = resize_image(normal.transpose(1, 2, 0), shape[1:]).transpose(2, 0, 1)
    return resized * (high - low) + low


# ---- images ----

def load_image(filename, color=True):
    """An image file as float32 0 ... 1: (height, width, 3), red first, or (height,
    width, 1) if not color. Grey images are made RGB; transparency is dropped."""
    pixels = _pixels(filename, filename)
    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind in 'ui' else 1
    img = pixels / np.float64(full)
    if not color and img.shape[2] == 3:
        img = img @ np.array([[0.2125], [0.7154], [0.0721]])
    img = img.astype(np.float32)
    return np.tile(img, (1, 1, 3)) if color and img.shape[2] == 1 else img


def _pixels(file, name):
    """The pixels of an image file (height, width, 1 or 3), of uint8 or uint16."""
    try:
        from PIL import Image
    except ImportError:
        raise ImportError('reading images needs Pillow: pip install pillow') from None
    with Image.open(file) as image:
        if image.mode.startswith('I'):
            return np.array(image).astype(np.uint16)[:, :, np.newaxis]
        if image.mode in ('1', 'L', 'LA'):
            return np.array(image.convert('L'))[:, :, np.newaxis]
        if image.mode == 'F':
            return np.array(image)[:, :, np.newaxis]
        return np.array(image.convert('RGB'))


def _taps(to, size):
    """For `to` pixels of a row of `size`: the lower neighbour, the weight of the
    other."""
    at = (np.arange(to) + 0.5) * size / to - 0.5
    low = np.floor(at)
    return low.astype(int), at - low


def _between(a, axis, to):
    """Interpolate along an axis. `a` has one pixel more at either end."""
    low, weight = _taps(to, a.shape[axis] - 2)
    weight = weight.reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    return ((1 - weight) * a.take(low + 1, axis) + weight * a.take(low + 2, axis))


def resize_image(im, new_dims, interp_order=1):
    """An image (height, width, channels) in another size (height, width), float32.

    interp_order: 0 takes the nearest pixel, 1 is bilinear; 2 to 5 are splines and need
    scipy. Images of 1 or 3 channels are resized between pixel centres, and what lies
    outside of them counts as their smallest value; others keep their corner pixels in
    the corners. Both are what skimage and scipy did for Caffe.
    """
    im, dims = np.asarray(im), (int(new_dims[0]), int(new_dims[1]))
    if im.shape[-1] in (1, 3):
        low, high = im.min(), im.max()
        if not high > low:
            return np.full(dims + (im.shape[-1],), low, np.float32)
        if interp_order == 1:
            edge = np.pad(im.astype(np.float64), ((1, 1), (1, 1), (0, 0)),
                          constant_values=low)
            return _between(_between(edge, 1, dims[1]), 0, dims[0]).astype(np.float32)
        if interp_order == 0:
            rows, columns = (np.floor((np.arange(to) + 0.5) * size / to).astype(int)
                             for to, size in zip(dims, im.shape))
            return im[rows][:, columns].astype(np.float32)
        return _spline(im, dims, interp_order, grid_mode=True, cval=low,
                       mode='grid-constant')
    if interp_order <= 1:
        return _zoom(im, dims, interp_order)
    return _spline(im, dims, interp_order)


def _zoom(im, dims, order):
    """Resize so that corner pixels stay in the corners."""
    out = im.astype(np.float64)
    for axis, to in enumerate(dims):
        size = out.shape[axis]
        at = np.arange(to) * ((size - 1) / max(to - 1, 1))
        low = np.minimum(np.floor(at if order else at + 0.5).astype(int), size - 1)
        weight = (at - low if order else at * 0).reshape(
            [-1 if i == axis else 1 for i in range(out.ndim)])
        out = ((1 - weight) * out.take(low, axis) +
               weight * out.take(np.minimum(low + 1, size - 1), axis))
    return out.astype(np.float32)


def _spline(im, dims, order, **how):
    try:
        from scipy.ndimage import zoom
    except ImportError:
        raise ImportError('interp_order %d needs scipy: pip install scipy; 0 and 1 do '
                          'without' % order) from None
    scale = (dims[0] / im.shape[0], dims[1] / im.shape[1]) + (1,) * (im.ndim - 2)
    return zoom(im.astype(np.float64), scale, order=order, **how).astype(np.float32)


def oversample(images, crop_dims):
    """Ten crops of each image: the corners and the centre, then the same mirrored.

    images: iterable of (height, width, channels); returns float32 (10 * images, crop
    height, crop width, channels).
    """
    images = list(images)
    height, width = images[0].shape[:2]
    h, w = (int(d) for d in crop_dims)
    corners = [(y, x) for y in (0, height - h) for x in (0, width - w)]
    # the centre is rounded down, as an array of ints does it
    corners.append((int(height / 2.0 - h / 2.0), int(width / 2.0 - w / 2.0)))
    crops = np.empty((10 * len(images), h, w, images[0].shape[-1]), np.float32)
    for i, image in enumerate(images):
        for j, (y, x) in enumerate(corners):
            crops[10 * i + j] = image[y:y + h, x:x + w, :]
        crops[10 * i + 5:10 * i + 10] = crops[10 * i:10 * i + 5, :, ::-1, :]
    return crops
