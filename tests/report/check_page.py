"""The report as people see it: every plot, the pointer, the keyboard, phones, paper, bad logs."""
import json
import os
import random
import sys
import time

import bench
from bench import holds, is_quiet
from browser import Browser
from looks import check_figures, check_tables, check_words, csv_of

FIGURES_OF_ONE = ["loss", "accuracy", "lr", "speed", "phases", "workers", "communication", "timeline", "graph",
                  "layers", "filters", "confusion", "facts", "texts"]
FIGURES_OF_FOUR = ["loss", "accuracy", "lr", "speed", "phases", "workers", "communication", "timeline", "speedup",
                   "efficiency", "graph", "layers", "facts", "texts"]
KINDS = ["run", "net", "iterations", "display", "test", "times", "layers", "timeline", "snapshot", "step", "allreduce", "end"]


def tip_text(page):
    return page.evaluate("document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent")


def check_pointer(page):
    x, y, _, _ = page.place_of("#loss svg.plot")
    page.mouse("mouseMoved", x, y)
    page.wait("!document.getElementById('tip').hidden")
    holds("hovering tells values", "Iteration" in tip_text(page) and "training" in tip_text(page), tip_text(page))
    page.mouse("mouseMoved", 2, 2)
    holds("leaving ends that", tip_text(page) == "", tip_text(page))
    page.mouse("mousePressed", x - 60, y, button="left", clickCount=1)
    page.mouse("mouseMoved", x + 60, y, button="left")
    page.mouse("mouseReleased", x + 60, y, button="left", clickCount=1)
    holds("dragging zooms", page.evaluate("choices.get('loss').zoom !== null"))
    page.click("#loss [data-key=zoom]")
    holds("and a button goes back", page.evaluate("choices.get('loss').zoom === null"))
    count = "document.querySelectorAll('#loss path.curve').length"
    before = page.evaluate(count)
    page.click("#loss .legend .chip")
    holds("a legend hides a curve", page.evaluate(count) == before - 1)
    page.click("#loss .legend .chip")
    holds("and shows it again", page.evaluate(count) == before)
    page.click("#controls .segments button:last-child")
    holds("the axis can be time", "time" in page.evaluate("document.querySelector('#loss svg').textContent"))
    page.click("#controls .segments button:first-child")


def check_graph(page):
    """Every layer that takes time says so in its box, beside its name and not on it."""
    times = page.evaluate("document.querySelectorAll('#graph .time').length")
    holds("layers in the graph have their times", times >= 7, times)
    over = page.evaluate("""[...document.querySelectorAll('#graph [data-layers]')].filter(g => g.querySelector('.time'))
        .filter(g => g.querySelector('.name').getBoundingClientRect().right > g.querySelector('.time').getBoundingClientRect().left)
        .map(g => g.dataset.layers)""")
    holds("beside their names", not over, over)


def check_keyboard(page):
    page.evaluate("document.querySelector('#accuracy svg.plot').focus()")
    page.key("ArrowLeft")
    said = page.evaluate("document.getElementById('say').textContent")
    holds("arrow keys read values aloud", "accuracy" in said and "%" in said, said)
    unnamed = page.evaluate("[...document.querySelectorAll('svg.plot')].filter(s => !s.getAttribute('aria-label')).length")
    holds("every plot has a description", unnamed == 0, unnamed)


def check_sizes(browser, url):
    for words, options in {"a phone": dict(width=390, height=844, phone=True), "a phone, dark": dict(
            width=390, height=844, phone=True, dark=True), "a small window": dict(width=800, height=600)}.items():
        page = browser.open(url, **options)
        check_words(page, words)
        is_quiet(page, words)
    theme = page.evaluate("document.documentElement.dataset.theme")
    page.click("#theme")
    page.click("#theme")
    holds("the theme can be changed", page.evaluate("document.documentElement.dataset.theme") != theme)


def write_long_log(place, name, iterations):
    random.seed(1)
    place.write(name, "")
    with open(place.path(name), "w") as f:
        f.write(json.dumps({"type": "run", "version": 1, "batch": 64, "net": "long", "max_iter": iterations,
                            "iter": 0, "started": 1.7e9, "epoch": 60000}) + "\n")
        for i in range(0, iterations, 500):
            loss = ",".join("%.5g" % (2 / (1 + i / 5e4) + random.random() * 0.1) for _ in range(500))
            loss = loss if i != 500000 else "99" + loss[loss.index(","):]
            f.write(f'{{"type":"iterations","time":{i / 100},"iter":{i},"seconds":5,"lr":0.01,"loss":[{loss}]}}\n')
            f.write(f'{{"type":"test","time":{i / 100},"iter":{i},"net":0,"name":"accuracy","value":{1 - 1 / (1 + i / 1e4):.5g}}}\n')


def check_long_run(place, browser):
    write_long_log(place, "long/run.jsonl", 1000000)
    url = place.report("long.html", "long")
    size = os.path.getsize(place.path("long.html"))
    holds("a million iterations make a page below 5 MB", size < 5e6, size)
    page = browser.open(url)
    took = page.evaluate("performance.now() && performance.getEntriesByType('navigation')[0].loadEventEnd")
    holds("that opens in less than two seconds", 0 < took < 2000, took)
    print(f"        {size / 1e6:.2f} MB, {took:.0f} ms")
    holds("and keeps its extremes", page.evaluate("Math.max(...state.data.runs[0].loss.hi)") == 99)
    is_quiet(page, "a million iterations")


def check_bad_logs(place, browser):
    with open(place.path("two/run.jsonl")) as f:
        good = f.read()
    logs = {"cut": (good[:len(good) * 2 // 3], "breaks off"), "foreign": ("<html>not a log</html>\n" * 3, "no run log"),
            "empty": ("", "empty"), "mixed": (good[:200] + "\n" + good, "could not be read"),
            "future": (good.replace('"version":1', '"version":9'), "newer program"),
            "binary": (random.Random(3).randbytes(200000).decode("latin-1"), "no run log"),
            "huge": ("x" * 30000000 + "\n" + good, "could not be read"),
            "types": ("".join('{"type":"%s","iter":"x","loss":{},"seconds":[[]],"n":-3,"layers":3,"forward":"a","workers":7}\n'
                              % kind for kind in KINDS), "could not be read"),
            "begun": ('{"type":"run"}\n', None),
            "script": (good.replace('"net":"LeNet"', '"net":"</script><b id=evil>x"'), None)}
    for name, (text, note) in logs.items():
        place.write(f"{name}/run.jsonl", text)
        page = browser.open(place.report(f"{name}.html", name, flags=["--nosnapshots"]))
        words = page.evaluate("[...document.querySelectorAll('.note')].map(n => n.textContent).join(' ')")
        holds(f"{name}: a note says what is wrong", note is None or note in words, words)
        holds(f"{name}: the page is not blank", page.evaluate("document.querySelectorAll('figure').length") > 0)
        bad = page.evaluate("document.body.innerText.match(/NaN|undefined|Infinity|Invalid Date/g)")
        holds(f"{name}: no number or date is broken", not bad, bad)
        is_quiet(page, name)
    holds("a log cannot smuggle in elements", page.evaluate("document.getElementById('evil')") is None)


def main():
    bench.need_browser()
    with bench.Place() as place, Browser() as browser:
        place.train("two", "--workers", "2", iters=40, snapshot=40)
        for workers in (1, 2, 3, 4):
            place.train(f"sweep/{workers}", "--workers", str(workers), iters=20)
        url = place.report("one.html", "two")
        page = browser.open(url)
        check_figures(page, "one run", FIGURES_OF_ONE)
        check_pointer(page)
        check_graph(page)
        check_keyboard(page)
        check_tables(page, "one run")
        lines = csv_of(page, "loss")
        holds("and as CSV", lines[0].startswith("series,iteration,epoch,seconds,value") and len(lines) > 20, lines[:2])
        page.pdf(place.path("one.pdf"))
        holds("it can be printed", os.path.getsize(place.path("one.pdf")) > 20000)
        is_quiet(page, "one run")
        page = browser.open(place.report("four.html", *[f"sweep/{w}" for w in (1, 2, 3, 4)]))
        check_figures(page, "four runs", FIGURES_OF_FOUR)
        check_tables(page, "four runs")
        page.click("#controls .chips .chip")
        holds("a run can be hidden everywhere", page.evaluate("document.querySelectorAll('#speed path.curve').length") == 3)
        is_quiet(page, "four runs")
        check_sizes(browser, url)
        check_long_run(place, browser)
        check_bad_logs(place, browser)


main()
