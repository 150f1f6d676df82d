"""Pages of results that are no training: plan, simulator, sums, scores, times; and of a sweep."""
import csv
import json

import bench
from bench import holds, is_quiet
from browser import Browser
from looks import check_figures, check_tables, check_words, csv_of

STEPS = ["step-speedup", "step-efficiency", "step-time", "step-exposed", "step-split", "step-bytes", "step-memory",
         "facts", "texts"]
SWEEP = ["loss", "accuracy", "lr", "speed", "phases", "workers", "timeline", "sweep-accuracy", "sweep-loss", "graph",
         "layers", "facts", "texts"]
PHONE = dict(width=390, height=844, phone=True)


def look(browser, url, where, figures):
    """On a phone in the dark, then on a desk; returns the latter."""
    page = browser.open(url, dark=True, **PHONE)
    check_words(page, where + ", phone")
    is_quiet(page, where + ", phone")
    page = browser.open(url)
    check_figures(page, where, figures)
    check_tables(page, where)
    is_quiet(page, where)
    return page


def check_plan(place, browser):
    place.run("plan", "--model", "net.prototxt", "--machine", bench.ROOT + "/machines/titan_k20x.json", "--workers",
              "1,4,16,64", "--comm", "tree,ps,ring", "--run_dir", "plan", "--quiet")
    page = look(browser, place.report("plan.html", "plan"), "plan", STEPS)
    x, y, _, _ = page.place_of("#step-time svg.plot")
    page.mouse("mouseMoved", x, y)
    page.wait("document.getElementById('tip').textContent.includes('workers')")
    curves = "document.querySelectorAll('#step-time path.curve').length"
    page.click("#step-time .legend .chip")
    holds("plan: a legend hides an algorithm", page.evaluate(curves) == 2)
    lines = csv_of(page, "step-speedup")
    holds("plan: the table has a row per prediction", len(lines) == 1 + 10 and lines[0].startswith("net,machine,comm"), lines[:2])
    note = "document.querySelector('#step-speedup figcaption p').textContent"
    holds("plan: speed-up counts from one worker", page.evaluate(note) == "Counted from one worker.", page.evaluate(note))
    before = page.evaluate("document.querySelector('#step-split p').textContent")
    page.evaluate("""(() => { const list = document.querySelector('#step-split [data-key=family]');
        const other = [...(list.options || list.children)].find(o => !(o.selected || o.ariaPressed === 'true'));
        if (list.options) { list.value = other.value; list.dispatchEvent(new Event('change')); } else other.click(); })()""")
    holds("plan: another algorithm can be chosen", page.evaluate("document.querySelector('#step-split p').textContent") != before)


def check_baseline(place, browser):
    place.run("plan", "--model", "net.prototxt", "--machine", bench.ROOT + "/machines/titan_k20x.json", "--workers",
              "1,4", "--comm", "tree", "--baseline", "123.5", "--run_dir", "from", "--quiet")
    page = browser.open(place.report("from.html", "from"))
    for figure in ("step-speedup", "step-efficiency"):
        note = page.evaluate(f"document.querySelector('#{figure} figcaption p').textContent")
        holds(f"plan: {figure} says what it counts from", "123.5 samples/s" in note, note)
    row = next(csv.DictReader(csv_of(page, "step-speedup")))
    holds("plan: the table has the baseline", row["baseline_samples_per_s"] == "123.5", row)


def check_sim(place, browser):
    """As bench/sim writes it; that itself needs SimGrid."""
    lines = [{"type": "run", "version": 1, "kind": "sim", "started": 1.7e9, "net": "GoogleNet", "iter": 0}]
    lines += [{"type": "step", "time": 1, "net": "googlenet", "machine": "titan", "comm": comm, "overlap": overlap,
               "batch": 1024, "workers": n, "step_s": 10 / n + 0.1, "compute_s": 10 / n, "exposed_s": 0.1,
               "speedup": 10 / (10 / n + 0.1), "efficiency": 10 / (10 / n + 0.1) / n, "bytes": 5e7}
              for comm in ("tree", "ps") for overlap in ("off", "thread") for n in (2, 8, 32, 128)]
    place.write("sim/run.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    url = place.report("sim.html", "sim")
    page = look(browser, url, "sim", [f for f in STEPS if f not in ("step-memory", "texts")])
    names = page.evaluate("[...document.querySelectorAll('#step-time .legend .chip')].map(c => c.textContent)")
    holds("sim: a curve is named by what tells it from others", 
          sorted(names) == [f"{a} · overlap {b}" for a in ("ps", "tree") for b in ("off", "thread")], names)


def check_sums(place, browser):
    place.run("bench", "allreduce", "--workers", "2", "--bytes", "1K,64K,1M,2M", "--repeats", "3", "--run_dir", "sums", "--quiet")
    page = look(browser, place.report("sums.html", "sums"), "sums", ["sum-time", "sum-rate", "facts", "texts"])
    holds("sums: sizes are written short", "64 kB" in page.evaluate("document.querySelector('#sum-time svg').textContent"))
    holds("sums: the title says what it is", page.evaluate("document.title").startswith("Sums"), page.evaluate("document.title"))


def check_scores(place, browser):
    place.run("test", "--model", "net.prototxt", "--weights", "sweep/batch64_lr0.01/lenet_iter_20.caffemodel", "--iterations",
              "3", "--run_dir", "scores", "--quiet")
    page = look(browser, place.report("scores.html", "scores"), "test", ["score", "facts", "texts"])
    holds("test: accuracy is in percent", "%" in page.evaluate("document.querySelector('#score table').textContent"))
    place.run("time", "--model", "net.prototxt", "--iterations", "2", "--batch", "4,8", "--run_dir", "times", "--quiet")
    page = look(browser, place.report("times.html", "times"), "time", ["graph", "layers", "facts", "texts"])
    layer = next(csv.DictReader(csv_of(page, "layers")))
    holds("time: layers have their times", float(layer["forward_s"]) > 0, layer)


def check_sweep(place, browser):
    place.run("sweep", "--solver", place.solver(20, snapshot=20), "--run_dir", "sweep", "--batches", "64,128", "--rates",
              "0.01,0.1", "--quiet")
    page = look(browser, place.report("sweep.html", "sweep", flags=["--nosnapshots"]), "sweep", SWEEP)
    lines = csv_of(page, "sweep-accuracy")
    holds("sweep: a row per run", len(lines) == 5, lines)
    rates = {line.split(",")[0]: line.split(",")[2] for line in lines[1:]}
    holds("sweep: rates follow the batch", float(rates["batch128_lr0.01"]) == 2 * float(rates["batch64_lr0.01"]), rates)


def main():
    bench.need_browser()
    with bench.Place() as place, Browser() as browser:
        check_plan(place, browser)
        check_baseline(place, browser)
        check_sim(place, browser)
        check_sums(place, browser)
        check_sweep(place, browser)
        check_scores(place, browser)


main()
