"""_paint - draws a net with Pillow, where Graphviz is not installed: one column (or row)
for each step from the inputs, boxes below each other, straight arrows."""
from io import BytesIO

GAP, MARGIN, PAD = 44, 20, 10


def _levels(nodes, edges):
    """{node: longest way from a node without edges into it}. Edges of layers in place
    lead back; a node's level is fixed when it is reached the second time around."""
    below = {name: [] for name in nodes}
    for source, target, _ in edges:
        below[target].append(source)
    levels = {}
    for start in nodes:  # in the order of the net, sources come first
        stack = [(start, iter(below[start]))]
        open_ = {start}
        while stack:
            name, sources = stack[-1]
            for source in sources:
                if source not in levels and source not in open_:
                    stack.append((source, iter(below[source])))
                    open_.add(source)
                    break
            else:
                levels[name] = 1 + max([levels[s] for s in below[name] if s in levels],
                                       default=-1)
                open_.discard(name)
                stack.pop()
    return levels


def _lines(label):
    return label.strip('"').replace(r'\n', '\n').split('\n')


def _place(sizes, levels, along):
    """{node: (x, y)} of the upper left corners, and the size of the whole. along: 0 if
    levels are columns, 1 if they are rows."""
    places, at, total = {}, MARGIN, 0
    for level in range(max(levels.values(), default=-1) + 1):
        here = [name for name in sizes if levels[name] == level]
        across = MARGIN
        for name in here:
            places[name] = (at, across) if along == 0 else (across, at)
            across += sizes[name][1 - along] + GAP // 2
        at += max((sizes[name][along] for name in here), default=0) + GAP
        total = max(total, across)
    end = (at - GAP + MARGIN, total + MARGIN)
    return places, end if along == 0 else end[::-1]


def paint(nodes, edges, rankdir, ext):
    """The bytes of a picture: nodes {name: (label, style)}, edges (from, to, label)."""
    from PIL import Image, ImageDraw, ImageFont
    font = ImageFont.load_default()
    pen = ImageDraw.Draw(Image.new('RGB', (1, 1)))
    sizes = {}
    for name, (label, _) in nodes.items():
        boxes = [pen.textbbox((0, 0), line, font=font) for line in _lines(label)]
        sizes[name] = (max(b[2] for b in boxes) + 2 * PAD, 14 * len(boxes) + PAD)
    along = 0 if rankdir in ('LR', 'RL') else 1
    places, size = _place(sizes, _levels(nodes, edges), along)
    image = Image.new('RGB', size, 'white')
    pen = ImageDraw.Draw(image)
    for source, target, label in edges:
        a, b = [(places[name][0] + sizes[name][0] // 2, places[name][1] + sizes[name][1] // 2)
                for name in (source, target)]
        pen.line([a, b], fill='#808080')
        if label != '""':
            pen.text(((a[0] + b[0]) // 2, (a[1] + b[1]) // 2), label, '#404040', font)
    for name, (label, style) in nodes.items():
        (x, y), (w, h) = places[name], sizes[name]
        box = pen.rounded_rectangle if style['shape'] == 'octagon' else pen.rectangle
        box([x, y, x + w, y + h], fill=style['fillcolor'], outline='black')
        pen.text((x + PAD, y + PAD // 2), '\n'.join(_lines(label)), 'black', font)
    out = BytesIO()
    image.save(out, {'jpg': 'jpeg', 'ps': 'eps'}.get(ext, ext))
    return out.getvalue()
