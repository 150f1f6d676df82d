"""Tests python/caffe/*.pyi and python/firecaffe/*.pyi: stubs name what there is, with its
arguments."""
import ast
import glob
import importlib
import inspect
import os
import unittest

import caffe
import firecaffe


def arguments(node):
    a = node.args
    return [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


class Stubs(unittest.TestCase):
    def stubs(self):
        for package in caffe, firecaffe:
            folder = os.path.dirname(package.__file__)
            for path in glob.glob(os.path.join(folder, '**', '*.pyi'), recursive=True):
                name = os.path.relpath(path, folder)[:-4].replace(os.sep, '.')
                module = package.__name__ + ('' if name == '__init__' else '.' + name)
                with open(path) as file:
                    yield importlib.import_module(module), ast.parse(file.read())

    def test_there_are_stubs(self):
        self.assertGreater(len(list(self.stubs())), 5)
        for package in caffe, firecaffe:
            self.assertTrue(os.path.exists(os.path.join(os.path.dirname(package.__file__),
                                                        'py.typed')))

    def test_every_name_of_a_stub_exists(self):
        missing = []
        for module, tree in self.stubs():
            for node in tree.body:
                names = []
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    names = [node.name]
                elif isinstance(node, ast.AnnAssign):
                    names = [node.target.id]
                elif isinstance(node, ast.ImportFrom) and module in (caffe, firecaffe):
                    names = [a.asname for a in node.names]
                missing += ['%s.%s' % (module.__name__, n) for n in names
                            if n != '__getattr__' and not hasattr(module, n)
                            and n not in ('coord_map', 'draw')]
        self.assertEqual(missing, [])

    def test_methods_have_the_arguments_of_their_stubs(self):
        wrong = []
        for module, tree in self.stubs():
            for cls in [n for n in tree.body if isinstance(n, ast.ClassDef)]:
                real = getattr(module, cls.name)
                for node in [n for n in cls.body if isinstance(n, ast.FunctionDef)]:
                    method = inspect.getattr_static(real, node.name, None)
                    if method is None and node.name != '__buffer__':
                        wrong.append('%s.%s is not there' % (cls.name, node.name))
                    if not inspect.isfunction(method):
                        continue
                    names = [p.name for p in inspect.signature(method).parameters.values()
                             if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
                    if names != arguments(node):
                        wrong.append('%s.%s%s' % (cls.name, node.name, names))
        self.assertEqual(wrong, [])


if __name__ == '__main__':
    unittest.main()
