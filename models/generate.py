#!/usr/bin/env python3
"""Write train_val.prototxt and deploy.prototxt of every net in nets.py.

    python3 models/generate.py            write what is stale, name it
    python3 models/generate.py --check    write nothing, name what is stale, exit 1

Both files of a net come from one definition, so they cannot drift apart. Solvers
and READMEs are written by hand. Needs Python 3.6 and nothing else.
"""
import pathlib
import sys

from nets import NETS, PUBLISHED


def files():
    """Path and content of every generated file."""
    here = pathlib.Path(__file__).resolve().parent
    for folder, net in NETS.items():
        yield here / folder / "train_val.prototxt", net.train_val()
        yield here / folder / "deploy.prototxt", net.deploy()
    for folder, net in PUBLISHED.items():
        yield here / folder / "deploy_published.prototxt", net.deploy()


def main(arguments):
    if arguments not in ([], ["--check"]):
        sys.exit(__doc__.strip())
    stale = [(path, text) for path, text in files()
             if not path.exists() or path.read_text() != text]
    for path, text in stale:
        print(path)
        if not arguments:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
    return 1 if stale and arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
