"""Tests python/caffe/*.pyi: stubs name what there is, with its arguments."""
import ast
import glob
import importlib
import inspect
import os
import unittest

import caffe

FOLDER = os.path.dirname(caffe.__file__)


def arguments(node):
    a = node.args
    return [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]


class Stubs(unittest.TestCase):
    def stubs(self):
        for path in glob.glob(os.path.join(FOLDER, '**', '*.pyi'), recursive=True):
            name = os.path.relpath(path, FOLDER)[:-4].replace(os.sep, '.')
            module = 'caffe' if name == '__init__' else 'caffe.' + name
            with open(path) as file:
                yield importlib.import_module(module), ast.parse(file.read())

    def test_there_are_stubs(self):
        self.assertGreater(len(list(self.stubs())), 5)
        self.assertTrue(os.path.exists(os.path.join(FOLDER, 'py.typed')))

    def test_every_name_of_a_stub_exists(self):
        missing = []
        for module, tree in self.stubs():
            for node in tree.body:
                names = []
                if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                    names = [node.name]
                elif isinstance(node, ast.AnnAssign):
                    names = [node.target.id]
                elif isinstance(node, ast.ImportFrom) and module is caffe:
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
