// lineplot.js - curves: hover, keyboard, zoom, legend, smoothing.

/* The reader's choices by figure: zoom, logarithmic axis, hidden series. */
const choices = new Map();
const choiceOf = id => choices.get(id) || choices.set(id, {hidden: new Set(), zoom: null, log: null, at: null}).get(id);

/* Exponential moving average, divided by the weights seen so far so that it has no bias
 * at the start. NaN stays NaN. */
function smoothed(ys, factor) {
  if (!factor) return ys;
  let sum = 0, weight = 0;
  return ys.map(y => {
    if (!isNumber(y)) return y;
    sum = factor * sum + (1 - factor) * y;
    weight = factor * weight + (1 - factor);
    return sum / weight;
  });
}

/* The SVG path of a curve; values that are not numbers interrupt it. */
function pathOf(xs, ys, sx, sy) {
  let path = '', pen = false;
  for (let i = 0; i < xs.length; i++) {
    const y = sy(ys[i]);
    if (!isNumber(ys[i]) || !isFinite(y)) { pen = false; continue; }
    path += (pen ? 'L' : 'M') + sx(xs[i]).toFixed(1) + ' ' + y.toFixed(1);
    pen = true;
  }
  return path;
}

/* The SVG path of the area between lo and hi. */
function bandOf(xs, lo, hi, sx, sy) {
  const there = xs.map((_, i) => i).filter(i => isNumber(hi[i]) && isFinite(sy(hi[i])));
  if (there.length < 2) return '';
  /* values that a logarithmic axis cannot show are drawn at its end */
  const least = sy.domain[0];
  const line = (i, v) => sx(xs[i]).toFixed(1) + ' ' + sy(Math.max(v[i], least)).toFixed(1);
  return 'M' + there.map(i => line(i, hi)).join('L') + 'L' + there.reverse().map(i => line(i, lo)).join('L') + 'Z';
}

/* Draw curves into a figure.
 *   series  [{name, color, x, y, lo?, hi?, dash?, dots?, smooth?, ideal?}]
 *   xAxis   {label, kind: 'number'|'time', log?, range?, ticks?, format?}   xLabel(x): for the tip
 *   yAxis   {label, format, log?, zero?, most?}    events [{x, name}] (vertical lines) */
function linePlot(frame, plot) {
  const id = frame.node.id, choice = choiceOf(id);
  const log = choice.log === null ? Boolean(plot.yAxis.log) : choice.log;
  const all = plot.series.filter(s => s.x.length > 0);
  const shown = all.filter(s => !choice.hidden.has(s.name));

  if (plot.yAxis.canLog)
    control(frame, 'log', () => segments('Vertical axis', {linear: 'linear', log: 'log'}, log ? 'log' : 'linear',
      v => { choice.log = v === 'log'; linePlot(frame, plot); }));
  if (all.length > 1)
    frame.legend.replaceChildren(...all.map(s => legendChip(s.name, swatch(s.color, 'line', s.dash ? '4 3' : ''),
      !choice.hidden.has(s.name), () => {
        if (!choice.hidden.delete(s.name)) choice.hidden.add(s.name);
        linePlot(frame, plot);
      })));
  if (all.length === 0) {
    frame.body.replaceChildren(el('p', {class: 'empty'}, plot.empty || 'Nothing recorded yet.'));
    return;
  }
  drawLines(frame, plot, shown, choice, log);
  frame.redraw = () => linePlot(frame, plot);
  watchSize(frame);
}

/* Draw the figure again when its width changes. */
function watchSize(frame) {
  if (frame.node.watcher) { frame.node.redraw = frame.redraw; return; }
  frame.node.redraw = frame.redraw;
  let width = frame.body.clientWidth;
  frame.node.watcher = new ResizeObserver(() => {
    if (frame.body.clientWidth === width) return;
    width = frame.body.clientWidth;
    frame.node.redraw();
  });
  frame.node.watcher.observe(frame.body);
}

function domainsOf(plot, shown, choice, log) {
  let [x0, x1] = plot.xAxis.range || [Infinity, -Infinity], y0 = Infinity, y1 = -Infinity;
  for (const s of shown) {
    x0 = Math.min(x0, s.x[0]);
    x1 = Math.max(x1, last(s.x));
  }
  if (choice.zoom) [x0, x1] = choice.zoom;
  for (const s of shown)
    for (let i = 0; i < s.x.length; i++) {
      if (s.x[i] < x0 || s.x[i] > x1) continue;
      for (const y of s.lo ? [s.lo[i], s.hi[i]] : [s.y[i]])
        if (isNumber(y) && (!log || y > 0)) { y0 = Math.min(y0, y); y1 = Math.max(y1, y); }
    }
  if (plot.yAxis.zero && !log) y0 = Math.min(0, y0);
  const y = padDomain(y0, y1, log);
  if (plot.yAxis.most !== undefined) y[1] = Math.min(y[1], Math.max(plot.yAxis.most, y1));
  if (!(x0 < x1)) { x0 = isFinite(x0) ? Math.max(0, x0 - 0.5) : 0; x1 = x0 + 1; }
  return {x: [x0, x1], y};
}

function drawLines(frame, plot, shown, choice, log) {
  const width = Math.max(260, frame.body.clientWidth), height = width < 480 ? 230 : 280;
  const d = domainsOf(plot, shown, choice, log);
  const yFormat = plot.yAxis.format || num;
  const yTicks = log ? logTicks(...d.y) : linearTicks(...d.y, 5);
  const left = 14 + 7 * Math.max(3, ...yTicks.map(t => yFormat(t).length)), right = 20, top = 20, bottom = 40;
  const sx = scale(d.x, [left, width - right], plot.xAxis.log), sy = scale(d.y, [height - bottom, top], log);
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, tabindex: 0, role: 'img',
    'aria-label': describe(frame, plot, shown)});
  const clip = `clip-${frame.node.id}`;

  drawAxes(image, plot, {sx, sy, yTicks, yFormat, width, height, left, right, top, bottom});
  image.append(svg('clipPath', {id: clip}, svg('rect', {x: left - 5, y: top - 6, width: width - left - right + 10,
    height: height - top - bottom + 8})));
  const inside = svg('g', {'clip-path': `url(#${clip})`});
  for (const e of plot.events || [])
    inside.append(svg('line', {class: 'event', x1: sx(e.x), x2: sx(e.x), y1: top, y2: height - bottom},
      svg('title', {}, e.name)));
  for (const s of shown) inside.append(...drawSeries(s, sx, sy));
  image.append(inside);
  follow(frame, plot, shown, image, {sx, sy, yFormat, width, height, left, right, top, bottom, choice});
  frame.body.replaceChildren(image);
}

/* What could be at best, for comparison. */
const idealLine = (x, y) => ({name: 'ideal', color: 'var(--faint)', ideal: true, dash: '4 4', x, y});

function describe(frame, plot, shown) {
  const format = plot.yAxis.format || num;
  const words = s => {
    const ys = s.y.filter(isNumber), least = format(Math.min(...ys)), most = format(Math.max(...ys));
    return ys.length ? `${s.name}: from ${format(ys[0])} to ${format(last(ys))}, least ${least}, most ${most}.` : '';
  };
  return [`${frame.node.querySelector('h3').textContent}, a plot against ${plot.xAxis.label}.`,
    ...shown.slice(0, 6).map(words), 'Arrow keys read values; the data table follows.'].join(' ');
}

function drawAxes(image, plot, g) {
  const floor = g.height - g.bottom;
  for (const t of g.yTicks)
    image.append(svg('line', {class: 'rule', x1: g.left, x2: g.width - g.right, y1: g.sy(t), y2: g.sy(t)}),
      svg('text', {x: g.left - 8, y: g.sy(t) + 4, 'text-anchor': 'end'}, g.yFormat(t)));
  const count = Math.max(2, Math.floor((g.width - g.left - g.right) / 90)), isTime = plot.xAxis.kind === 'time';
  const shown = t => t >= g.sx.domain[0] && t <= g.sx.domain[1];
  const xTicks = plot.xAxis.ticks?.filter(shown) || (isTime ? timeTicks : linearTicks)(...g.sx.domain, count);
  const label = isTime ? clockLabel : plot.xAxis.format || num;
  let free = Infinity; /* labels from the right, because the last one matters most */
  for (const t of xTicks.reverse()) {
    const x = g.sx(t), half = 3.5 * label(t).length + 3;
    image.append(svg('line', {class: 'axis', x1: x, x2: x, y1: floor, y2: floor + 4}));
    if (x + half > free) continue;
    image.append(svg('text', {x, y: floor + 17, 'text-anchor': 'middle'}, label(t)));
    free = x - half;
  }
  image.append(svg('line', {class: 'axis', x1: g.left, x2: g.width - g.right, y1: floor, y2: floor}),
    svg('text', {x: g.width - g.right, y: g.height - 4, 'text-anchor': 'end'}, plot.xAxis.label),
    svg('text', {x: 0, y: 10}, plot.yAxis.label || ''));
}

function drawSeries(s, sx, sy) {
  const parts = [];
  if (s.ideal) return [svg('path', {class: 'ideal', d: pathOf(s.x, s.y, sx, sy)})];
  if (s.lo) parts.push(svg('path', {class: 'band', d: bandOf(s.x, s.lo, s.hi, sx, sy), fill: s.color}));
  else if (s.smooth) parts.push(svg('path', {class: 'raw', d: pathOf(s.x, s.y, sx, sy), stroke: s.color}));
  parts.push(svg('path', {class: 'curve', d: pathOf(s.x, smoothed(s.y, s.smooth), sx, sy), stroke: s.color,
    'stroke-dasharray': s.dash}));
  if (s.dots || s.x.length === 1)
    for (let i = 0; i < s.x.length && s.x.length <= 80; i++)
      if (isNumber(s.y[i])) parts.push(svg('circle', {cx: sx(s.x[i]), cy: sy(s.y[i]), r: 2.6, fill: s.color}));
  return parts;
}

/* Show the values under the pointer or step through them with keys; drag to zoom,
 * Escape or double click to go back. */
function follow(frame, plot, shown, image, g) {
  const cross = svg('line', {class: 'cross', y1: g.top, y2: g.height - g.bottom, visibility: 'hidden'});
  const box = svg('rect', {class: 'zoom', y: g.top, height: g.height - g.top - g.bottom, visibility: 'hidden'});
  const marks = svg('g', {});
  const reading = shown.filter(s => !s.ideal);
  let from = null;
  image.append(cross, box, marks);

  const place = event => {
    const r = image.getBoundingClientRect();
    return Math.min(g.width - g.right, Math.max(g.left, (event.clientX - r.left) * g.width / r.width));
  };
  const read = (x, aloud, event) => {
    const rows = reading.map(s => ({s, i: nearest(s.x, x)}));
    if (!rows.length) return;
    const main = rows.reduce((a, b) => Math.abs(b.s.x[b.i] - x) < Math.abs(a.s.x[a.i] - x) ? b : a);
    const at = main.s.x[main.i], near = Math.abs(g.sx.invert(g.left + 24) - g.sx.invert(g.left));
    const close = plot.xAxis.log ? rows : rows.filter(r => Math.abs(r.s.x[r.i] - at) <= near);
    g.choice.at = at;
    cross.setAttribute('x1', g.sx(at));
    cross.setAttribute('x2', g.sx(at));
    cross.setAttribute('visibility', 'visible');
    marks.replaceChildren(...close.filter(r => isNumber(r.s.y[r.i])).map(({s, i}) => svg('circle', {class: 'mark',
      cx: g.sx(s.x[i]), cy: g.sy(smoothed(s.y, s.smooth)[i]), r: 4.5, fill: s.color})));
    const value = ({s, i}) => g.yFormat(smoothed(s.y, s.smooth)[i]) +
      (s.lo && s.hi[i] > s.lo[i] ? ` (${g.yFormat(s.lo[i])} – ${g.yFormat(s.hi[i])})` : '');
    const head = plot.xLabel ? plot.xLabel(at) : `${plot.xAxis.label} ${num(at)}`;
    showTip(head, close.map(r => [swatch(r.s.color), r.s.name, value(r)]), image, g.sx(at) / g.width, event);
    if (aloud) say(head + ': ' + close.map(r => `${r.s.name} ${value(r)}`).join(', '));
  };
  const clear = () => {
    hideTip();
    cross.setAttribute('visibility', 'hidden');
    box.setAttribute('visibility', 'hidden');
    marks.replaceChildren();
    from = null;
  };
  const zoom = domain => {
    g.choice.zoom = domain;
    clear();
    linePlot(frame, plot);
    frame.body.firstChild.focus({preventScroll: true});
  };

  image.addEventListener('pointermove', e => {
    const p = place(e);
    read(g.sx.invert(p), false, e);
    if (from === null || e.pointerType === 'touch') return;
    box.setAttribute('visibility', Math.abs(p - from) > 4 ? 'visible' : 'hidden');
    box.setAttribute('x', Math.min(p, from));
    box.setAttribute('width', Math.abs(p - from));
  });
  image.addEventListener('pointerdown', e => { from = place(e); });
  image.addEventListener('pointerup', e => {
    const p = place(e), a = from;
    from = null;
    if (a !== null && e.pointerType !== 'touch' && Math.abs(p - a) > 8)
      zoom([g.sx.invert(Math.min(a, p)), g.sx.invert(Math.max(a, p))]);
  });
  image.addEventListener('pointerleave', clear);
  image.addEventListener('blur', clear);
  image.addEventListener('dblclick', () => zoom(null));
  image.addEventListener('keydown', e => {
    const xs = reading.length ? reading.reduce((a, b) => b.x.length > a.x.length ? b : a).x : [];
    const step = e.shiftKey ? Math.ceil(xs.length / 20) : 1;
    const i = g.choice.at === null ? xs.length - 1 : nearest(xs, g.choice.at);
    const to = {ArrowLeft: i - step, ArrowRight: i + step, Home: 0, End: xs.length - 1}[e.key];
    if (e.key === 'Escape') { if (g.choice.zoom) zoom(null); else clear(); return; }
    if (to === undefined || !xs.length) return;
    e.preventDefault();
    read(xs[Math.max(0, Math.min(xs.length - 1, to))], true);
  });
  showAllButton(frame, g.choice, () => zoom(null));
}

/* The button that ends zooming; it exists while a figure is zoomed. */
function showAllButton(frame, choice, reset) {
  if (!choice.zoom) frame.caption.querySelector('[data-key="zoom"]')?.remove();
  else control(frame, 'zoom', () => el('button', {type: 'button', class: 'quiet', onclick: reset}, 'Show all'));
}

// ---- the tooltip ----

function showTip(head, rows, image, share, event) {
  const tip = byId('tip'), r = image.getBoundingClientRect();
  const line = ([mark, name, value]) => el('div', {}, mark || null, el('span', {}, name), el('span', {}, value));
  tip.replaceChildren(el('b', {}, head), ...rows.slice(0, 14).map(line));
  tip.hidden = false;
  const x = event ? event.clientX : r.left + share * r.width, y = event ? event.clientY : r.top + 30;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = Math.max(6, x + 18 + w > innerWidth ? x - w - 18 : x + 18) + 'px';
  tip.style.top = Math.max(6, Math.min(innerHeight - h - 6, y - h / 2)) + 'px';
}

function hideTip() {
  byId('tip').hidden = true;
}
