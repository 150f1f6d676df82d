#!/usr/bin/python3
"""Make the golden cases of layers that BVLC Caffe does not have: record.py FOLDER.

Needs numpy, PyTorch and torchvision (1.13 and 0.14 made the packed ones), which the tests
do not. Nothing of FireCaffe runs here: what the layers must give is computed in double
precision from their published definitions."""
import sys

import annotated
import blobs
import detection
import losses
import neurons
import python_layer
import regions

if __name__ == "__main__":
    for module in (annotated, blobs, detection, losses, neurons, python_layer, regions):
        module.record(sys.argv[1])
