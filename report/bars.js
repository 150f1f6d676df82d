// bars.js - parts of a whole: stacked bars, and stacked areas over the iterations of a run.
// Both draw into a frame made by figure(); choices of the reader are kept in choiceOf(id).

/* A legend whose chips hide and show the parts of a plot. parts: [[name, color]]. */
function partLegend(frame, parts, choice, redraw) {
  frame.legend.replaceChildren(...parts.map(([name, color]) =>
    legendChip(name, swatch(color, 'box'), !choice.hidden.has(name), () => {
      if (!choice.hidden.delete(name)) choice.hidden.add(name);
      redraw();
    })));
}

/* Cut a text to so many characters. */
function shorten(text, letters) {
  return text.length > letters ? text.slice(0, Math.max(1, letters - 1)) + '…' : text;
}

/* Horizontal bars. plot: {rows, format}; rows: [{name, parts: [{name, color, value}],
 * label?}], where label replaces the formatted sum at the end of the bar. */
function stackedBars(frame, plot) {
  const choice = choiceOf(frame.node.id), names = new Map(plot.rows.flatMap(r => r.parts.map(p => [p.name, p.color])));
  const shown = r => r.parts.filter(p => !choice.hidden.has(p.name) && p.value > 0);
  const most = Math.max(1e-12, ...plot.rows.map(r => shown(r).reduce((sum, p) => sum + p.value, 0)));
  const many = plot.rows.length > 24, thick = many ? 12 : 22, gap = many ? 3 : 10, top = 4;
  const width = Math.max(260, frame.body.clientWidth), height = top + plot.rows.length * (thick + gap) + 26;
  const left = Math.min(width * 0.36, 14 + 7.2 * Math.max(...plot.rows.map(r => r.name.length)));
  const sx = scale([0, most], [left, width - 74]);
  const words = plot.rows.slice(0, 8).map(r => `${r.name}: ` + r.parts.map(p => `${p.name} ${plot.format(p.value)}`).join(', '));
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img', tabindex: 0,
    'aria-label': `${frame.node.querySelector('h3').textContent}. ${words.join('; ')}`});

  for (const t of linearTicks(0, most, Math.max(2, Math.floor((width - left) / 120))))
    image.append(svg('line', {class: 'rule', x1: sx(t), x2: sx(t), y1: top, y2: height - 22}),
      svg('text', {x: sx(t), y: height - 6, 'text-anchor': 'middle'}, plot.format(t)));
  plot.rows.forEach((r, i) => {
    const y = top + i * (thick + gap) + gap / 2, middle = y + thick / 2 + 4;
    const name = svg('text', {class: 'value', x: left - 10, y: middle, 'text-anchor': 'end'}, shorten(r.name, left / 7));
    const end = drawBar(image, shown(r), sx, y, thick, e => tipOfBar(plot, r, image, e));
    image.append(name, svg('text', {x: sx(end) + 8, y: middle}, r.label ?? plot.format(end)));
  });
  frame.body.replaceChildren(image);
  partLegend(frame, [...names], choice, () => stackedBars(frame, plot));
  frame.redraw = () => stackedBars(frame, plot);
  watchSize(frame);
}

/* Draw the parts of a bar side by side; returns their sum. */
function drawBar(image, parts, sx, y, thick, tip) {
  let at = 0;
  for (const p of parts) {
    image.append(svg('rect', {x: sx(at), y, width: Math.max(0.5, sx(at + p.value) - sx(at) - 1), height: thick,
      fill: p.color, rx: 2, onpointermove: tip, onpointerleave: hideTip}));
    at += p.value;
  }
  return at;
}

function tipOfBar(plot, row, image, event) {
  const total = row.parts.reduce((sum, p) => sum + p.value, 0);
  showTip(row.name, row.parts.map(p => [swatch(p.color, 'box'), p.name,
    `${plot.format(p.value)}, ${percent(p.value / total, 1)}`]), image, 0, event);
}

/* Areas stacked over x. plot: {x, xAxis, xLabel, parts, format}; parts: [{name, color,
 * y}] from the bottom up, with as many y as x. */
function stackedArea(frame, plot) {
  const choice = choiceOf(frame.node.id), parts = plot.parts.filter(p => !choice.hidden.has(p.name));
  const width = Math.max(260, frame.body.clientWidth), height = width < 480 ? 230 : 260;
  const sums = plot.x.map((_, i) => parts.reduce((s, p) => s + p.y[i], 0)), most = Math.max(...sums) * 1.05 || 1;
  const yTicks = linearTicks(0, most, 5), left = 14 + 7 * Math.max(...yTicks.map(t => plot.format(t).length));
  const g = {yTicks, yFormat: plot.format, width, height, left, right: 20, top: 20, bottom: 40};
  g.sx = scale(plot.xAxis.range, [left, width - g.right]);
  g.sy = scale([0, most], [height - g.bottom, g.top]);
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img', tabindex: 0,
    'aria-label': `${frame.node.querySelector('h3').textContent}. At the end: ` +
      parts.map(p => `${p.name} ${plot.format(last(p.y))}`).join(', ')});

  drawAxes(image, {xAxis: plot.xAxis, yAxis: {}}, g);
  let floor = plot.x.map(() => 0);
  for (const p of parts) {
    const roof = floor.map((f, i) => f + p.y[i]);
    image.append(svg('path', {d: bandOf(plot.x, floor, roof, g.sx, g.sy), fill: p.color, class: 'area'}));
    floor = roof;
  }
  followArea(image, plot, g, choice);
  frame.body.replaceChildren(image);
  partLegend(frame, plot.parts.map(p => [p.name, p.color]), choice, () => stackedArea(frame, plot));
  frame.redraw = () => stackedArea(frame, plot);
  watchSize(frame);
}

/* Show the values under the pointer, or step through them with the arrow keys. */
function followArea(image, plot, g, choice) {
  const cross = svg('line', {class: 'cross', y1: g.top, y2: g.height - g.bottom, visibility: 'hidden'});
  const read = (i, event) => {
    const rows = plot.parts.map(p => [swatch(p.color, 'box'), p.name, plot.format(p.y[i])]).reverse();
    const head = plot.xLabel(plot.x[i]), x = g.sx(plot.x[i]);
    for (const [name, value] of [['x1', x], ['x2', x], ['visibility', 'visible']]) cross.setAttribute(name, value);
    choice.at = i;
    showTip(head, rows, image, x / g.width, event);
    if (!event) say(head + ': ' + rows.map(r => `${r[1]} ${r[2]}`).join(', '));
  };
  const clear = () => { hideTip(); cross.setAttribute('visibility', 'hidden'); };
  image.append(cross);
  image.addEventListener('pointermove', e => {
    const r = image.getBoundingClientRect();
    read(nearest(plot.x, g.sx.invert((e.clientX - r.left) * g.width / r.width)), e);
  });
  image.addEventListener('pointerleave', clear);
  image.addEventListener('blur', clear);
  image.addEventListener('keydown', e => {
    const i = choice.at ?? plot.x.length - 1;
    const to = {ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: plot.x.length - 1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    read(Math.max(0, Math.min(plot.x.length - 1, to)));
  });
}
