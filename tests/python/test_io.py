"""Tests python/caffe/io.py, classifier.py and detector.py."""
import unittest

import numpy as np

import caffe
from nets import DEPLOY, InFolder

IMAGE_NET = DEPLOY.replace('dim: 4 dim: 2 dim: 6 dim: 5', 'dim: 10 dim: 3 dim: 6 dim: 6')


class Messages(unittest.TestCase):
    def test_arrays_become_blobs_and_come_back(self):
        array = np.arange(24.).reshape(2, 3, 4)
        blob = caffe.io.array_to_blobproto(array, array + 1)
        np.testing.assert_array_equal(caffe.io.blobproto_to_array(blob), array)
        np.testing.assert_array_equal(caffe.io.blobproto_to_array(blob, True), array + 1)
        text = caffe.io.arraylist_to_blobprotovector_str([array, array[0]])
        back = caffe.io.blobprotovector_str_to_arraylist(text)
        self.assertEqual([a.shape for a in back], [(2, 3, 4), (3, 4)])

    def test_old_blobs_have_four_numbers(self):
        blob = caffe.proto.caffe_pb2.BlobProto(num=1, channels=1, height=2, width=3,
                                               data=range(6))
        self.assertEqual(caffe.io.blobproto_to_array(blob).shape, (1, 1, 2, 3))
        with self.assertRaises(ValueError):
            caffe.io.blobproto_to_array(caffe.proto.caffe_pb2.BlobProto(data=range(6)))

    def test_a_datum_holds_bytes_or_floats(self):
        for array in (np.arange(24, dtype=np.uint8).reshape(2, 3, 4),
                      np.random.rand(2, 3, 4).astype(np.float32)):
            datum = caffe.io.array_to_datum(array, 3)
            self.assertEqual(datum.label, 3)
            back = caffe.io.datum_to_array(datum)
            np.testing.assert_array_equal(back, array)
        self.assertFalse(caffe.io.array_to_datum(array).HasField('label'))
        with self.assertRaises(ValueError):
            caffe.io.array_to_datum(array[0])


class Images(InFolder):
    def image(self, array, name='x.png'):
        from PIL import Image
        Image.fromarray(array).save(name)
        return name

    def test_load_image_gives_floats_red_first(self):
        rgb = np.random.randint(0, 256, (5, 4, 3), dtype=np.uint8)
        loaded = caffe.io.load_image(self.image(rgb))
        self.assertEqual(loaded.dtype, np.float32)
        np.testing.assert_array_equal(loaded, (rgb / 255.0).astype(np.float32))
        grey = caffe.io.load_image('x.png', color=False)
        self.assertEqual(grey.shape, (5, 4, 1))
        np.testing.assert_allclose(
            grey[..., 0], rgb @ np.array([.2125, .7154, .0721]) / 255, rtol=1e-5)

    def test_load_image_makes_colour_of_grey_and_drops_transparency(self):
        grey = np.random.randint(0, 256, (5, 4), dtype=np.uint8)
        loaded = caffe.io.load_image(self.image(grey))
        np.testing.assert_array_equal(loaded, (grey / 255.)[..., None].astype(np.float32)
                                      .repeat(3, 2))
        rgba = np.random.randint(0, 256, (5, 4, 4), dtype=np.uint8)
        self.assertEqual(caffe.io.load_image(self.image(rgba)).shape, (5, 4, 3))
        deep = (grey.astype(np.uint16) << 8)
        np.testing.assert_allclose(caffe.io.load_image(self.image(deep), False)[..., 0],
                                   deep / 65535, rtol=1e-6)

    def test_resize_is_bilinear_between_pixel_centres(self):
        im = np.random.rand(7, 9, 3).astype(np.float32)
        same = caffe.io.resize_image(im, (7, 9))
        np.testing.assert_allclose(same, im, rtol=1e-6)
        half = caffe.io.resize_image(np.arange(16.).reshape(4, 4, 1), (2, 2))
        np.testing.assert_allclose(half[..., 0], [[2.5, 4.5], [10.5, 12.5]])
        # beyond the border counts as the smallest value
        big = caffe.io.resize_image(np.array([[1., 3.]])[..., None], (1, 4))
        np.testing.assert_allclose(big[0, :, 0], [1, 1.5, 2.5, 2.5])

    def test_resize_of_other_channels_and_orders(self):
        im = np.random.rand(5, 5, 2)
        out = caffe.io.resize_image(im, (9, 9))
        self.assertEqual((out.shape, out.dtype), ((9, 9, 2), np.float32))
        np.testing.assert_allclose(out[::8, ::8], im[::4, ::4], rtol=1e-6)
        np.testing.assert_allclose(out[::2, ::2], im, rtol=1e-6)
        near = caffe.io.resize_image(im[..., :1], (10, 10), 0)
        np.testing.assert_allclose(near[::2, ::2], im[..., :1], rtol=1e-6)
        flat = caffe.io.resize_image(np.full((3, 3, 3), 2.), (2, 2))
        np.testing.assert_array_equal(flat, np.full((2, 2, 3), 2))

    def test_oversample_crops_corners_centre_and_mirrors(self):
        im = np.arange(5 * 7 * 1.).reshape(5, 7, 1)
        crops = caffe.io.oversample([im, im + 100], (3, 4))
        self.assertEqual(crops.shape, (20, 3, 4, 1))
        np.testing.assert_array_equal(crops[0], im[:3, :4])
        np.testing.assert_array_equal(crops[3], im[2:, 3:])
        np.testing.assert_array_equal(crops[4], im[1:4, 1:5])
        np.testing.assert_array_equal(crops[5], im[:3, 3::-1])
        np.testing.assert_array_equal(crops[10:], crops[:10] + 100)


class Transforming(unittest.TestCase):
    def setUp(self):
        self.t = caffe.io.Transformer({'data': (1, 3, 6, 4)})

    def test_steps_come_in_caffes_order(self):
        t = self.t
        t.set_transpose('data', (2, 0, 1))
        t.set_channel_swap('data', (2, 1, 0))
        t.set_raw_scale('data', 255)
        t.set_mean('data', np.array([1., 2, 3]))
        t.set_input_scale('data', 0.5)
        im = np.random.rand(6, 4, 3).astype(np.float32)
        kept = im.copy()
        out = t.preprocess('data', im)
        want = (im.transpose(2, 0, 1)[::-1] * np.float32(255) -
                np.array([1, 2, 3], np.float32)[:, None, None]) * np.float32(.5)
        np.testing.assert_allclose(out, want, rtol=1e-6)
        np.testing.assert_array_equal(im, kept)
        np.testing.assert_allclose(t.deprocess('data', out), im, atol=1e-6)

    def test_images_are_resized_to_the_input(self):
        self.t.set_transpose('data', (2, 0, 1))
        self.assertEqual(self.t.preprocess('data', np.zeros((12, 12, 3))).shape,
                         (3, 6, 4))

    def test_a_mean_image_is_resized(self):
        self.t.set_mean('data', np.random.rand(3, 12, 8))
        self.assertEqual(self.t.mean['data'].shape, (3, 6, 4))
        mean = np.random.rand(3, 6, 4)
        self.t.set_mean('data', mean)
        np.testing.assert_array_equal(self.t.mean['data'], mean)

    def test_what_does_not_fit_is_refused(self):
        t = self.t
        for wrong in (lambda: t.set_transpose('x', (2, 0, 1)),
                      lambda: t.set_transpose('data', (1, 0)),
                      lambda: t.set_channel_swap('data', (0, 1)),
                      lambda: t.set_mean('data', np.zeros(2)),
                      lambda: t.set_mean('data', np.zeros((1, 1, 1, 1)))):
            with self.assertRaises(Exception):
                wrong()


class Classifying(InFolder):
    def setUp(self):
        super().setUp()
        self.net = self.write(IMAGE_NET)
        self.weights = 'w.caffemodel'
        caffe.Net(self.net, caffe.TEST).save(self.weights)
        self.images = [np.random.rand(9, 8, 3).astype(np.float32) for _ in range(3)]

    def test_a_classifier_averages_ten_crops(self):
        c = caffe.Classifier(self.net, self.weights, image_dims=(8, 8), raw_scale=2,
                             mean=np.array([.1, .2, .3]), channel_swap=(2, 1, 0))
        scores = c.predict(self.images)
        self.assertEqual(scores.shape, (3, 7))
        crops = caffe.io.oversample(
            [caffe.io.resize_image(self.images[1], (8, 8))], (6, 6))
        data = np.stack([c.transformer.preprocess('data', crop) for crop in crops])
        np.testing.assert_allclose(c.forward(data=data)['prob'].mean(0), scores[1],
                                   rtol=1e-6)

    def test_or_takes_the_centre(self):
        c = caffe.Classifier(self.net, self.weights, image_dims=np.array([8, 8]))
        scores = c.predict(self.images, oversample=False)
        centre = caffe.io.resize_image(self.images[2], (8, 8))[1:7, 1:7]
        data = np.repeat(centre.transpose(2, 0, 1)[None], 10, 0)
        np.testing.assert_allclose(c.forward(data=data)['prob'][0], scores[2], rtol=1e-5)

    def test_a_detector_classifies_windows(self):
        from PIL import Image
        Image.fromarray((self.images[0] * 255).astype(np.uint8)).save('im.png')
        d = caffe.Detector(self.net, self.weights, mean=np.array([.1, .2, .3]),
                           raw_scale=2, channel_swap=(2, 1, 0))
        windows = np.array([[0, 0, 6, 6], [2, 1, 8, 7]])
        found = d.detect_windows([('im.png', windows)])
        self.assertEqual([f['filename'] for f in found], ['im.png'] * 2)
        np.testing.assert_array_equal(found[1]['window'], windows[1])
        image = caffe.io.load_image('im.png')
        data = d.transformer.preprocess('data', image[2:8, 1:7])
        want = d.forward(data=np.repeat(data[None], 10, 0))['prob'][0]
        np.testing.assert_allclose(found[1]['prediction'], want, rtol=1e-5)

    def test_context_is_mean_where_the_image_ends(self):
        d = caffe.Detector(self.net, self.weights, mean=np.array([.1, .2, .3]),
                           raw_scale=2, channel_swap=(2, 1, 0), context_pad=1)
        crop = d.crop(np.ones((9, 8, 3), np.float32), np.array([0, 0, 4, 4]))
        self.assertEqual(crop.shape, (6, 6, 3))
        np.testing.assert_allclose(crop[0, 0], [.15, .1, .05], rtol=1e-6)
        np.testing.assert_allclose(crop[-1, -1], 1)


if __name__ == '__main__':
    unittest.main()
