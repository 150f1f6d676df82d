"""Tests python/caffe/proto/caffe_pb2.py, errors.py, draw.py, timer.py and the names of
the package."""
import copy
import os
import pickle
import subprocess
import sys
import time
import unittest

import caffe
from caffe.proto import caffe_pb2
from nets import SMALL, InFolder


class Messages(unittest.TestCase):
    def test_messages_have_caffes_fields_and_numbers(self):
        net = caffe_pb2.NetParameter(name='x')
        net.layer.add(type='Pooling').pooling_param.pool = caffe_pb2.PoolingParameter.AVE
        back = caffe_pb2.NetParameter.FromString(net.SerializeToString())
        self.assertEqual(back.layer[0].pooling_param.pool, 1)
        self.assertEqual((caffe_pb2.TRAIN, caffe_pb2.TEST), (caffe.TRAIN, caffe.TEST))
        self.assertEqual(caffe_pb2.Phase.Name(1), 'TEST')
        self.assertEqual(caffe_pb2.V1LayerParameter.CONVOLUTION, 4)
        self.assertEqual(caffe_pb2.V1LayerParameter.LayerType.Value('DATA'), 5)
        self.assertIs(caffe.io.caffe_pb2, caffe_pb2)

    def test_text_format_comes_with_caffe(self):
        code = ('import caffe, google.protobuf as pb2; n = caffe.proto.caffe_pb2.'
                'NetParameter(); pb2.text_format.Merge("name: \'a\'", n); print(n.name)')
        out = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE,
                             check=True).stdout
        self.assertEqual(out, b'a\n')

    def test_messages_can_be_copied_and_pickled(self):
        for message in (caffe_pb2.NetParameter(name='x'),
                        caffe_pb2.NetState(phase=caffe.TEST)):
            self.assertEqual(copy.deepcopy(message), message)
            self.assertEqual(pickle.loads(pickle.dumps(message)), message)

    def test_another_caffe_proto_does_not_collide(self):
        from google.protobuf import descriptor_pb2, descriptor_pool
        other = descriptor_pb2.FileDescriptorProto(name='caffe.proto', package='caffe')
        other.message_type.add(name='Datum')
        descriptor_pool.Default().Add(other)
        self.assertIn('label', caffe_pb2.Datum.DESCRIPTOR.fields_by_name)


class Errors(InFolder):
    def test_a_missing_file_is_named(self):
        with self.assertRaises(caffe.FileError) as caught:
            caffe.Net('none.prototxt', caffe.TEST)
        self.assertEqual(caught.exception.file, 'none.prototxt')
        self.assertIsInstance(caught.exception, OSError)
        self.assertIsInstance(caught.exception, RuntimeError)

    def test_bad_text_has_line_and_column(self):
        self.write('name: "x"\nlayer { type: "ReLU" bottom: "a" tip: "b" }\n')
        with self.assertRaises(caffe.ParseError) as caught:
            caffe.Net('net.prototxt', caffe.TEST)
        error = caught.exception
        self.assertEqual((error.file, error.line), ('net.prototxt', 2))
        self.assertIsInstance(error.column, int)

    def test_a_bad_setting_names_its_layer(self):
        with self.assertRaises(caffe.LayerError) as caught:
            caffe.Net(SMALL.replace('kernel_size: 3', 'kernel_size: 0'), caffe.TEST)
        self.assertEqual((caught.exception.layer, caught.exception.type),
                         ('conv', 'Convolution'))

    def test_weights_of_another_shape_are_refused(self):
        caffe.Net(SMALL, caffe.TEST).save('w.caffemodel')
        other = caffe.Net(SMALL.replace('num_output: 7', 'num_output: 8'), caffe.TEST)
        with self.assertRaises(caffe.ShapeError) as caught:
            other.copy_from('w.caffemodel')
        self.assertEqual(caught.exception.layer, 'ip')

    def test_damaged_weights_are_refused(self):
        with open('w.caffemodel', 'wb') as file:
            file.write(b'\xff' * 100)
        with self.assertRaises(caffe.Error):
            caffe.Net(SMALL, caffe.TEST, weights='w.caffemodel')


class Drawing(InFolder):
    def net(self):
        from google.protobuf import text_format
        return text_format.Parse(SMALL, caffe_pb2.NetParameter())

    def test_a_net_is_drawn_with_and_without_graphviz(self):
        import caffe.draw
        path = os.environ['PATH']
        try:
            for there in (path, ''):
                os.environ['PATH'] = there
                caffe.draw.draw_net_to_file(self.net(), 'net.png', 'TB')
                with open('net.png', 'rb') as file:
                    self.assertEqual(file.read(4), b'\x89PNG')
                self.assertEqual(caffe.draw.draw_net(self.net(), 'LR')[:4], b'\x89PNG')
        finally:
            os.environ['PATH'] = path

    def test_dot_has_layers_blobs_and_edges(self):
        import caffe.draw
        dot = caffe.draw.get_dot(self.net(), 'TB', phase=caffe.TEST, display_lrm=True)
        self.assertIn('conv (Convolution) kernel size: 3 stride: 1 pad: 0 lr mult: 1.0, '
                      '1.0', dot)
        self.assertEqual(dot.count('->'), 11)
        self.assertIn(b'digraph', caffe.draw.draw_net(self.net(), 'LR', 'raw'))

    def test_labels_are_caffes(self):
        import caffe.draw
        layer = caffe_pb2.LayerParameter(name='p', type='Pooling')
        layer.pooling_param.kernel_size = 3
        self.assertEqual(caffe.draw.get_layer_label(layer, 'TB'),
                         '"p (Pooling MAX) kernel size: 3 stride: 1 pad: 0"')
        with self.assertRaises(ValueError):
            caffe.draw.get_layer_lr_mult(layer)


class Names(unittest.TestCase):
    def test_every_name_of_pycaffe_is_there(self):
        names = '''Net SGDSolver NesterovSolver AdaGradSolver RMSPropSolver AdaDeltaSolver
            AdamSolver NCCL Timer init_log log set_mode_cpu set_mode_gpu set_device Layer
            get_solver layer_type_list set_random_seed solver_count set_solver_count
            solver_rank set_solver_rank set_multiprocess has_nccl __version__ TRAIN TEST
            Classifier Detector io layers params NetSpec to_proto'''.split()
        self.assertEqual([n for n in names if not hasattr(caffe, n)], [])
        names = 'Net Blob BlobVec Layer Solver SGDSolver NCCL Timer get_solver'.split()
        self.assertEqual([n for n in names if not hasattr(caffe._caffe, n)], [])

    def test_settings_of_the_process_are_kept(self):
        caffe.set_solver_count(1)
        caffe.set_solver_rank(0)
        caffe.set_multiprocess(False)
        self.assertEqual((caffe.solver_count(), caffe.solver_rank()), (1, 0))
        caffe.set_device(0)
        caffe.set_mode_cpu()
        self.assertFalse(caffe.has_nccl())
        for kind in ('Convolution', 'Data', 'Python', 'LSTM'):
            self.assertIn(kind, list(caffe.layer_type_list()))

    def test_a_timer_measures(self):
        timer = caffe.Timer()
        timer.start()
        time.sleep(0.02)
        timer.stop()
        self.assertGreater(timer.ms, 19)
        self.assertEqual(timer.ms, timer.ms)

    def test_import_opens_no_mpi(self):
        with open(os.path.join(os.path.dirname(caffe.__file__), '_caffe.abi3.so'), 'rb') as f:
            self.assertNotIn(b'libpython', f.read())
        linked = subprocess.run(['ldd', caffe._caffe.__file__], stdout=subprocess.PIPE)
        if b'libmpi' in linked.stdout:
            self.skipTest('this build links MPI')
        code = ('import caffe; print([line for line in open("/proc/self/maps") '
                'if "libmpi" in line or "libcuda" in line])')
        out = subprocess.run([sys.executable, '-c', code], stdout=subprocess.PIPE,
                             check=True).stdout
        self.assertEqual(out, b'[]\n')

    def test_the_log_can_be_silenced(self):
        code = 'import caffe; caffe.log("hello"); caffe.init_log(2); caffe.log("again")'
        run = subprocess.run([sys.executable, '-c', code], stderr=subprocess.PIPE,
                             env={**os.environ, 'GLOG_minloglevel': '0'}, check=True)
        self.assertRegex(run.stderr.decode(), r'^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ '
                                              r'[\w.]+:\d+\] hello\n$')


if __name__ == '__main__':
    unittest.main()
