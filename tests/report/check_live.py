"""The live page: follows a run, and survives its end, its death, its restart and the server's."""
import json
import os
import signal
import time
import urllib.error
import urllib.request

import bench
from bench import holds
from browser import Browser

ITER = "state.data.runs[0].iter"
STATE = "state.data.runs[0].state"


def ask(url, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=10) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


def newest_state(place):
    files = [f for f in os.listdir(place.path("run")) if f.endswith(".solverstate")]
    return os.path.join("run", max(files, key=lambda f: int(f.split("_")[-1].split(".")[0])))


def check_rules(place, url):
    status, body = ask(url + "data.json")
    holds("the data can be had as JSON", status == 200 and json.loads(body)["live"])
    holds("other names for this machine are refused", ask(url, Host="evil.example")[0] == 403)
    holds("there is nothing else", ask(url + "etc/passwd")[0] == 404)
    request = urllib.request.Request(url, method="POST", data=b"x")
    try:
        urllib.request.urlopen(request)
        refused = False
    except urllib.error.HTTPError as error:
        refused = error.code == 405
    holds("it is for reading only", refused)
    with_token = place.start("watch", "run", "--serve", "0.0.0.0:0", stdout=-1, text=True)
    shown = with_token.stdout.readline().split()[1].replace("0.0.0.0", "127.0.0.1")
    holds("an address for others has a token", "?token=" in shown, shown)
    holds("without it nothing is shown", ask(shown.split("?")[0])[0] == 403)
    holds("with a wrong one neither", ask(shown[:-1] + "x")[0] == 403)
    holds("with it the page comes", ask(shown)[0] == 200)
    with_token.send_signal(signal.SIGINT)
    holds("the server ends when asked", with_token.wait(20) == 0)


def main():
    bench.need_browser()
    with bench.Place() as place, Browser() as browser:
        solver = place.solver(100000, interval=50, snapshot=10)
        train = ["train", "--solver", solver, "--run_dir", "run", "--workers", "2", "--quiet"]
        run = place.start(*train)
        while not os.path.exists(place.path("run/run.jsonl")):
            time.sleep(0.1)
        server = place.start("watch", "run", "--serve", "0", stdout=-1, text=True)
        url = server.stdout.readline().split()[1]
        page = browser.open(url)
        page.wait(ITER + " > 0", 60)
        before = page.evaluate(ITER)
        page.wait(f"{ITER} > {before + 10}", 60)
        holds("the page follows the run", page.evaluate(STATE) == "running")
        page.evaluate("document.querySelector('#loss details').open = true; choices.get('loss').hidden.add('x')")
        before = page.evaluate(ITER)
        page.wait(f"{ITER} > {before}", 60)
        holds("what a reader opened stays open", page.evaluate("document.querySelector('#loss details').open"))
        page.wait("true")
        while not any(f.endswith(".solverstate") for f in os.listdir(place.path("run"))):
            time.sleep(0.1)
        run.kill()
        run.wait()
        page.wait(f"{STATE} === 'killed'", 60)
        holds("a killed run is seen as such", "killed" in page.evaluate("document.getElementById('notes').textContent"))
        run = place.start(*train, "--snapshot", newest_state(place))
        page.wait(f"{STATE} === 'running' && state.data.runs[0].restarts.length === 1", 60)
        before = page.evaluate(ITER)
        page.wait(f"{ITER} > {before}", 60)
        holds("a restarted run is followed on", True)
        run.send_signal(signal.SIGINT)
        run.wait(120)
        page.wait(f"{STATE} === 'stopped'", 60)
        holds("the end of a run is seen", "stopped" in page.evaluate("document.getElementById('title').textContent"))
        check_rules(place, url)
        holds("nothing went wrong in the page", not page.errors(), page.errors())
        server.send_signal(signal.SIGINT)
        server.wait(20)
        page.wait("document.getElementById('lost') !== null", 60)
        holds("the page stays when the server goes", page.evaluate("document.querySelectorAll('svg.plot').length") > 4)
        server = place.start("watch", "run", "--serve", url.split(":")[2].strip("/"), stdout=-1, text=True)
        page.wait("document.getElementById('lost') === null", 60)
        holds("and goes on when it comes back", page.evaluate(STATE) == "stopped")
        server.send_signal(signal.SIGINT)
        holds("which ends when asked", server.wait(20) == 0)


main()
