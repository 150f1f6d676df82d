"""Drive Chromium without a window, over its debugging pipe: no package is needed.

    with Browser() as b:
        page = b.open("file:///tmp/report.html")
        page.evaluate("document.title")
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    """One browser process; messages are JSON with a zero byte behind each."""

    def __enter__(self):
        self.home = tempfile.mkdtemp(prefix="browser-")
        to_read, self.out = os.pipe()
        self.inp, to_write = os.pipe()

        def wire():
            os.dup2(to_read, 100), os.dup2(to_write, 101)
            os.dup2(100, 3), os.dup2(101, 4)

        self.process = subprocess.Popen(
            [find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--remote-debugging-pipe", "--no-first-run", "--hide-scrollbars",
             "--disable-background-networking", "--disable-component-update",
             "--user-data-dir=" + self.home, "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read), os.close(to_write)
        self.rest, self.number, self.events = b"", 0, []
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.out), os.close(self.inp)
        shutil.rmtree(self.home, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.rest:
            got = os.read(self.inp, 1 << 20)
            if not got:
                raise RuntimeError("the browser went away")
            self.rest += got
        line, self.rest = self.rest.split(b"\0", 1)
        return json.loads(line)

    def call(self, method, session=None, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, url, width=1280, height=900, dark=False, phone=False):
        return Page(self, url, width, height, dark, phone)


class Page:
    def __init__(self, browser, url, width, height, dark, phone):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.width = width
        self.load(url)

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def load(self, url):
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete'")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"].get("exception", {}).get("description", "exception"))
        return result["result"].get("value")

    def wait(self, expression, seconds=20):
        end = time.time() + seconds
        while time.time() < end:
            if self.evaluate(expression):
                return
            time.sleep(0.05)
        raise RuntimeError(f"never came true: {expression}")

    def mine(self, method):
        """Events of this page so far."""
        self.call("Runtime.evaluate", expression="0")
        return [e["params"] for e in self.browser.events
                if e.get("method") == method and e.get("sessionId") == self.session]

    def errors(self):
        bad = [p["exceptionDetails"].get("exception", {}).get("description", "?")
               for p in self.mine("Runtime.exceptionThrown")]
        bad += [" ".join(str(a.get("value", a.get("description"))) for a in p["args"])
                for p in self.mine("Runtime.consoleAPICalled") if p["type"] in ("error", "warning", "assert")]
        return bad + [p["entry"]["text"] for p in self.mine("Log.entryAdded") if p["entry"]["level"] in ("error", "warning")]

    def requests(self):
        return [p["request"]["url"] for p in self.mine("Network.requestWillBeSent")]

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key)

    def place_of(self, selector):
        """Middle of an element, scrolled into view; the page has seen the scrolling then."""
        return self.evaluate(f"""(async () => {{ const e = document.querySelector({json.dumps(selector)});
            e.scrollIntoView({{block: 'center', behavior: 'instant'}});
            for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
            const r = e.getBoundingClientRect();
            return [r.left + r.width / 2, r.top + r.height / 2, r.width, r.height]; }})()""")

    def click(self, selector):
        x, y, _, _ = self.place_of(selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.mouse(kind, x, y, button="left", clickCount=1)

    def screenshot(self, path, whole=True):
        if whole:
            height = self.evaluate("document.documentElement.scrollHeight")
            clip = {"x": 0, "y": 0, "width": self.width, "height": height, "scale": 1}
            data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        else:
            data = self.call("Page.captureScreenshot")["data"]
        with open(path, "wb") as f:
            f.write(base64.b64decode(data))

    def pdf(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"]))
