#!/usr/bin/env python3
"""The nets of models/: files, names, sizes, solvers, and what docs/models.md says."""
import gzip
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import count

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "models"
FOLDERS = sorted(p.parent.name for p in MODELS.glob("*/train_val.prototxt"))

# Learnable values with biases, without BatchNorm's statistics, as in the literature.
PARAMETERS = {
    "lenet": 431080, "cifar10_quick": 145578, "cifar10_full": 89578,
    "nin_cifar10": 966986, "nin_imagenet": 7595176, "alexnet": 60965224,
    "caffenet": 60965224, "vgg16": 138357544, "vgg19": 143667240,
    "googlenet": 13378280, "resnet18": 11689512, "resnet20": 272474, "resnet50": 25557032,
    "resnet101": 44549160, "resnet152": 60192808, "squeezenet": 1235496,
    "mobilenet_v1": 4231976, "mobilenet_v2": 3504872,
}
# The FireCaffe paper's table at batch 1024: |W| in MB, |D| in GB, TFLOP of a training
# step. Its AlexNet has no groups.
PAPER = {
    "nin_imagenet": (30.4, 5.8, 6.8), "alexnet": (249.5, 1.7, 7.0),
    "googlenet": (53.5, 19.2, 9.8), "vgg19": (574.6, 42.7, 120.6),
}
# Layers that published caffemodels store, a few of each naming scheme.
PUBLISHED_NAMES = {
    "nin_imagenet": "conv1 cccp2 conv4-1024 cccp7-1024 cccp8-1024",
    "alexnet": "conv1 conv5 fc6 fc8",
    "vgg19": "conv1_1 conv3_4 conv5_4 fc8",
    "googlenet": "conv1/7x7_s2 conv2/3x3_reduce inception_3a/1x1"
                 " inception_4e/5x5_reduce inception_5b/pool_proj loss1/conv loss2/fc"
                 " loss3/classifier",
    "resnet50": "bn_conv1 scale_conv1 res2a_branch1 bn3d_branch2c scale4f_branch2b"
                " fc1000",
    "resnet101": "res3b3_branch2a bn4b22_branch2c scale5c_branch2b",
    "resnet152": "res3b7_branch2a bn4b35_branch2c",
    "squeezenet": "conv1 fire2/squeeze1x1 fire9/expand3x3 conv10",
    "mobilenet_v1": "conv2_1/dw conv2_1/dw/bn conv2_1/dw/scale conv5_6/sep conv6/dw"
                    " fc7",
    "mobilenet_v2": "conv2_2/expand conv4_7/dwise/bn conv6_3/linear/scale conv6_4 fc7",
}
TEST_IMAGES = {"examples/mnist/mnist_test_lmdb": 10000, "data/ilsvrc12/val_lmdb": 50000,
               "examples/cifar10/cifar10_test_lmdb": 10000}


def read(folder, name):
    return (MODELS / folder / name).read_text()


def layers(folder, name, phase, stages=()):
    return [layer for layer in count.parse(read(folder, name))["layer"]
            if count.included(layer, phase, stages)]


def weighted(entries):
    """Name and geometry of the layers with learned weights."""
    keep = "num_output", "kernel_size", "stride", "pad", "group", "bias_term"
    return {layer["name"][0]: [(k, p[k]) for k in keep for p in param if p[k]]
            for layer in entries if (param := layer["convolution_param"]
                                     + layer["inner_product_param"])}


class Files(unittest.TestCase):
    def test_every_prototxt_is_what_the_generator_writes(self):
        run = subprocess.run([sys.executable, MODELS / "generate.py", "--check"],
                             stdout=subprocess.PIPE, universal_newlines=True)
        self.assertEqual((run.returncode, run.stdout), (0, ""),
                         "run python3 models/generate.py")

    def test_every_folder_is_complete(self):
        for folder in FOLDERS:
            for name in "deploy.prototxt", "solver.prototxt", "README.md":
                self.assertTrue((MODELS / folder / name).exists(), f"{folder}/{name}")

    @unittest.skipUnless(shutil.which("protoc"), "protoc is not installed")
    def test_protoc_reads_every_file_with_our_schema(self):
        for path in sorted(MODELS.glob("*/*.prototxt")):
            kind = "Solver" if path.name.startswith("solver") else "Net"
            run = subprocess.run(
                ["protoc", f"--proto_path={ROOT / 'proto'}",
                 f"--encode=caffe.{kind}Parameter", ROOT / "proto" / "caffe.proto"],
                input=path.read_bytes(), stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE)
            self.assertEqual(run.returncode, 0, f"{path}: {run.stderr.decode()}")

    def test_mnist_is_the_original(self):
        readme = (ROOT / "data/mnist/README.md").read_text()
        for path in sorted((ROOT / "data/mnist").glob("*.gz")):
            for data in path.read_bytes(), gzip.open(path).read():
                self.assertIn(hashlib.sha256(data).hexdigest(), readme, path.name)


class Nets(unittest.TestCase):
    def test_parameters_are_those_of_the_literature(self):
        counted = {folder: count.volume_of(folder).parameters for folder in FOLDERS}
        self.assertEqual(counted, PARAMETERS)

    def test_googlenet_without_its_auxiliary_heads_has_7_million_parameters(self):
        deploy = read("googlenet", "deploy.prototxt")
        self.assertEqual(count.count(deploy, [3, 224, 224]).parameters, 6998552)

    def test_volumes_are_those_of_the_paper(self):
        for folder, (weights, data, flops) in PAPER.items():
            v = count.volume_of(folder, group=folder != "alexnet")
            self.assertAlmostEqual(v.weights * 4 / 1e6, weights, delta=0.05)
            self.assertAlmostEqual(v.inputs * 4 * 1024 / 1e9, data, delta=0.05)
            self.assertAlmostEqual(v.macs * 2 * 3 * 1024 / 1e12, flops, delta=0.05)

    def test_layers_bear_the_names_that_published_caffemodels_use(self):
        for folder, names in PUBLISHED_NAMES.items():
            ours = {layer["name"][0] for layer in layers(folder, "train_val.prototxt",
                                                         "TRAIN")}
            self.assertLessEqual(set(names.split()), ours, folder)

    def test_no_name_occurs_twice_in_a_phase(self):
        for folder in FOLDERS:
            for phase in "TRAIN", "TEST":
                names = [layer["name"][0] for layer in
                         layers(folder, "train_val.prototxt", phase)]
                self.assertEqual(len(names), len(set(names)), (folder, phase))

    def test_the_deployed_net_is_the_trained_one_without_auxiliary_heads(self):
        for folder in FOLDERS:
            trained = weighted(layers(folder, "train_val.prototxt", "TEST"))
            trained = {name: geometry for name, geometry in trained.items()
                       if not name.startswith(("loss1/", "loss2/"))}
            deployed = weighted(layers(folder, "deploy.prototxt", "TEST"))
            self.assertEqual(trained, deployed, folder)

    def test_both_phases_are_connected_and_only_testing_measures_accuracy(self):
        for folder in FOLDERS:
            for phase in "TRAIN", "TEST":
                count.volume_of(folder, phase=phase)  # every bottom has a blob
                kinds = [layer["type"][0] for layer in
                         layers(folder, "train_val.prototxt", phase)]
                self.assertEqual("Accuracy" in kinds, phase == "TEST", folder)
                self.assertIn("SoftmaxWithLoss", kinds)


class Solvers(unittest.TestCase):
    def solvers(self):
        for path in sorted(MODELS.glob("*/solver*.prototxt")):
            yield path.parent.name, path.stem, count.parse(path.read_text())

    def test_a_solver_stays_in_its_folder(self):
        for folder, _, solver in self.solvers():
            self.assertEqual(solver["net"], [f"models/{folder}/train_val.prototxt"])
            self.assertTrue(
                solver["snapshot_prefix"][0].startswith(f"models/{folder}/"))

    def test_a_solver_trains_with_the_batch_in_its_name(self):
        for folder, stem, solver in self.solvers():
            stages = [s for state in solver["train_state"] for s in state["stage"]]
            data = [layer for layer in
                    layers(folder, "train_val.prototxt", "TRAIN", stages)
                    if layer["type"] == ["Data"]]
            self.assertEqual(len(data), 1, (folder, stem))
            if stem.split("_")[-1].isdigit():
                self.assertEqual(data[0]["data_param"][0]["batch_size"],
                                 [stem.split("_")[1]])

    def test_a_solver_tests_on_the_whole_test_set(self):
        for folder, stem, solver in self.solvers():
            data = layers(folder, "train_val.prototxt", "TEST")[0]["data_param"][0]
            images = int(solver["test_iter"][0]) * int(data["batch_size"][0])
            self.assertEqual(images, TEST_IMAGES[data["source"][0]], (folder, stem))

    def test_only_the_small_nets_ask_for_the_cpu(self):
        for folder, _, solver in self.solvers():
            small = folder in ("lenet", "resnet20") or "cifar10" in folder
            self.assertEqual(solver["solver_mode"], ["CPU"] if small else [], folder)


class Docs(unittest.TestCase):
    def test_the_table_holds_what_we_count(self):
        page = (ROOT / "docs/models.md").read_text()
        for folder in FOLDERS:
            self.assertIn(count.row(folder, count.volume_of(folder)), page)

    def test_readmes_tell_the_number_of_parameters(self):
        for folder in FOLDERS:
            self.assertIn(f"| parameters | {PARAMETERS[folder]:,} |",
                          read(folder, "README.md"))

    def test_links_lead_somewhere(self):
        pages = [*ROOT.glob("models/*/README.md"), *ROOT.glob("data/*/README.md"),
                 *ROOT.glob("examples/*/README.md"), ROOT / "docs/models.md",
                 ROOT / "docs/glossary.md", ROOT / "CONTRIBUTING.md"]
        for page in pages:
            for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
                self.assertTrue((page.parent / link).exists(), f"{page}: {link}")


if __name__ == "__main__":
    unittest.main()
