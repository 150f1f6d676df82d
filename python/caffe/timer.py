"""timer - how long something takes."""
import time


class Timer:
    """start(), stop(), then ms: milliseconds between them."""

    def __init__(self):
        self._began = self._ended = None

    def start(self):
        self._began, self._ended = time.perf_counter(), None

    def stop(self):
        if self._began is not None and self._ended is None:
            self._ended = time.perf_counter()

    @property
    def ms(self):
        """Milliseconds from start() to stop(); it stops a timer that runs."""
        self.stop()
        return 0.0 if self._began is None else 1000 * (self._ended - self._began)
