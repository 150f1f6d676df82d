"""Tests python/caffe/__init__.py: what an import opens and sets."""
import os
import subprocess
import sys
import unittest


class Start(unittest.TestCase):
    def test_threads_that_wait_sleep_soon(self):
        """libgomp's own choice is 300000 rounds, milliseconds."""
        environment = {name: value for name, value in os.environ.items()
                       if name not in ('GOMP_SPINCOUNT', 'OMP_WAIT_POLICY')}
        shown = subprocess.run([sys.executable, '-c', 'import caffe'], capture_output=True, text=True,
                               env=dict(environment, OMP_DISPLAY_ENV='VERBOSE')).stderr
        self.assertNotIn("GOMP_SPINCOUNT = '300000'", shown)
