"""Tests examples/python/: each script runs, says what it should and draws its picture."""
import os
import re
import subprocess
import sys

from nets import InFolder

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, '..', '..', 'examples', 'python')


class Examples(InFolder):
    def run_example(self, name, *arguments):
        out = subprocess.run([sys.executable, os.path.join(EXAMPLES, name + '.py'),
                              *arguments], stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True)
        self.assertEqual(out.returncode, 0, out.stderr)
        with open(name + '.png', 'rb') as file:
            self.assertEqual(file.read(4), b'\x89PNG')
        return [float(n) for n in re.findall(r'-?\d+\.?\d*(?:e-\d+)?', out.stdout)]

    def test_a_net_is_trained_classifies_and_is_operated_on(self):
        accuracy, = self.run_example('train_netspec', '100')
        self.assertGreater(accuracy, 0.85)
        right, of = self.run_example('classify')
        self.assertGreater(right, 0.85 * of)
        difference, right, of = self.run_example('surgery')
        self.assertLess(difference, 1e-5)
        self.assertGreater(right, 0.8 * of)

    def test_a_loss_in_python_fits_a_line(self):
        slope, shift = self.run_example('own_loss')
        self.assertAlmostEqual(slope, 2, delta=0.3)
        self.assertAlmostEqual(shift, 1, delta=0.3)

    def test_a_solver_is_stepped_by_hand(self):
        accuracy, rate = self.run_example('by_hand', '8')
        self.assertGreater(accuracy, 0.7)
        self.assertLessEqual(rate, 0.1)


if __name__ == '__main__':
    import unittest
    unittest.main()
