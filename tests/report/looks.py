"""What must hold of every page: its figures, their data, and that words stay apart."""
from bench import holds


def check_figures(page, where, ids):
    for name in ids:
        size = page.evaluate(f"""(() => {{ const e = document.querySelector('#{name} .body')?.firstElementChild;
            return e ? e.getBoundingClientRect().height : 0; }})()""")
        holds(f"{where}: there is a figure {name}", size > 20, size)
    empty = page.evaluate("[...document.querySelectorAll('path.curve')].filter(p => !p.getAttribute('d')).length")
    holds(f"{where}: no curve is empty", empty == 0, empty)
    bad = page.evaluate("document.getElementById('report').innerHTML.match(/NaN|undefined|Infinity/g)")
    holds(f"{where}: no number is broken", not bad, bad)
    check_words(page, where)


def check_words(page, where):
    """Labels of a plot do not lie on each other, and no part is cut off at the side."""
    hidden = page.evaluate("""[...document.querySelectorAll('svg.plot')].flatMap(plot => {
        const box = t => t.getBoundingClientRect();
        const texts = [...plot.querySelectorAll('text')].filter(t => t.textContent);
        return texts.flatMap((a, i) => texts.slice(i + 1).filter(b => box(a).left < box(b).right - 1 &&
            box(b).left < box(a).right - 1 && box(a).top < box(b).bottom - 4 && box(b).top < box(a).bottom - 4)
            .map(b => plot.closest('figure').id + ': ' + a.textContent + ' / ' + b.textContent)); })""")
    holds(f"{where}: no label lies on another", not hidden, hidden)
    out = page.evaluate("""[...document.querySelectorAll('figure')].flatMap(f =>
        [...f.querySelectorAll('figcaption *, .legend *')]
            .filter(e => e.getBoundingClientRect().right > f.getBoundingClientRect().right)
            .map(e => f.id + ': ' + e.textContent))""")
    over = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    holds(f"{where}: nothing sticks out", not out and over <= 0, (out, over))


def check_tables(page, where):
    page.evaluate("document.querySelectorAll('figure > details').forEach(d => { d.open = true; })")
    page.wait("[...document.querySelectorAll('figure > details[open]')].every(d => d.querySelector('table'))")
    bare = page.evaluate("""[...document.querySelectorAll('figure')].filter(f => f.id !== 'texts')
        .filter(f => !f.querySelector(':scope > details tbody tr')).map(f => f.id)""")
    holds(f"{where}: every figure has its data as a table", not bare, bare)
    page.evaluate("document.querySelectorAll('figure > details').forEach(d => { d.open = false; })")


def csv_of(page, figure):
    """The lines of what the figure's button gives."""
    page.evaluate(f"document.querySelector('#{figure} > details').open = true")
    page.wait(f"document.querySelector('#{figure} > details button') !== null")
    text = page.evaluate(f"""new Promise(done => {{
        const old = URL.createObjectURL;
        URL.createObjectURL = blob => {{ blob.text().then(done); return old.call(URL, blob); }};
        HTMLAnchorElement.prototype.click = () => {{}};
        document.querySelector('#{figure} > details button').click(); }})""")
    page.evaluate(f"document.querySelector('#{figure} > details').open = false")
    return text.strip().split("\n")
