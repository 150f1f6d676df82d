"""run.py TEST.py - runs the tests of a file and prints "N passed, M failed, K skipped"."""
import os
import sys
import unittest


def main():
    name = os.path.splitext(os.path.basename(sys.argv[1]))[0]
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(verbosity=1, stream=sys.stdout).run(suite)
    failed = len(result.failures) + len(result.errors)
    for test, reason in result.skipped:
        print('skipped %s: %s' % (test, reason))
    skipped = len(result.skipped)
    print('%d passed, %d failed, %d skipped' % (result.testsRun - failed - skipped,
                                                failed, skipped))
    sys.stdout.flush()
    return 1 if failed or not result.testsRun else 0


if __name__ == '__main__':
    sys.exit(main())
