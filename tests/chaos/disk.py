"""The disk of a job: a small file system of its own where that can be made (as root), so that it
can be full and can hang."""
import os
import subprocess

MEGABYTES = 48


def _run(*words):
    return subprocess.run(words, capture_output=True).returncode == 0


class Disk:
    def __init__(self, folder):
        self.folder = f"{folder}/disk"
        self.image = f"{folder}/image"
        self.frozen = False
        os.makedirs(self.folder)
        self.mounted = os.geteuid() == 0 and self._mount()

    def _mount(self):
        with open(self.image, "wb") as f:
            f.truncate(MEGABYTES << 20)
        if not _run("mkfs.ext4", "-q", "-m", "0", "-O", "^has_journal", self.image):
            return False
        return _run("mount", "-o", "loop", self.image, self.folder)

    def fill(self):
        try:
            with open(f"{self.folder}/filler", "wb") as f:
                while True:
                    f.write(b"\0" * (1 << 16))
                    f.flush()
        except OSError:
            pass

    def empty(self):
        if os.path.exists(f"{self.folder}/filler"):
            os.remove(f"{self.folder}/filler")

    def freeze(self):
        self.frozen = _run("fsfreeze", "-f", self.folder)

    def thaw(self):
        if self.frozen:
            _run("fsfreeze", "-u", self.folder)
        self.frozen = False

    def close(self):
        self.thaw()
        if self.mounted:
            _run("umount", "-l", self.folder)
        self.mounted = False
