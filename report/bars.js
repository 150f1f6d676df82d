// bars.js - parts of a whole: stacked bars, and stacked areas over the run.

const PHASES = [['data', 'waiting for data'], ['forward', 'forward'], ['backward', 'backward'],
  ['exposed', 'exposed communication'], ['update', 'update'], ['other', 'other']];
const phaseColor = name => `var(--${name})`;

/* Rows of stacked parts. rows: [{name, parts: [{name, color, value}], label}]. */
function stackedBars(frame, plot) {
  const choice = choiceOf(frame.node.id);
  const names = [...new Map(plot.rows.flatMap(r => r.parts.map(p => [p.name, p.color]))).entries()];
  const part = r => r.parts.filter(p => !choice.hidden.has(p.name) && p.value > 0);
  const total = r => part(r).reduce((sum, p) => sum + p.value, 0);

  frame.legend.replaceChildren(...names.map(([name, color]) => legendChip(name, swatch(color, 'box'),
    !choice.hidden.has(name), () => {
      if (!choice.hidden.delete(name)) choice.hidden.add(name);
      stackedBars(frame, plot);
    })));
  const width = Math.max(260, frame.body.clientWidth), most = Math.max(1e-12, ...plot.rows.map(total));
  const letters = Math.max(...plot.rows.map(r => r.name.length)), left = Math.min(width * 0.36, 14 + 7.2 * letters);
  const thick = plot.rows.length > 24 ? 12 : 22, gap = plot.rows.length > 24 ? 3 : 10, top = 4;
  const height = top + plot.rows.length * (thick + gap) + 26, sx = scale([0, most], [left, width - 74]);
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img', tabindex: 0, 'aria-label':
    frame.node.querySelector('h3').textContent + '. ' + plot.rows.slice(0, 8).map(r => `${r.name}: ` +
      r.parts.map(p => `${p.name} ${plot.format(p.value)}`).join(', ')).join('; ')});

  for (const t of linearTicks(0, most, Math.max(2, Math.floor((width - left) / 120))))
    image.append(svg('line', {class: 'rule', x1: sx(t), x2: sx(t), y1: top, y2: height - 22}),
      svg('text', {x: sx(t), y: height - 6, 'text-anchor': 'middle'}, plot.format(t)));
  plot.rows.forEach((r, i) => {
    const y = top + i * (thick + gap) + gap / 2;
    let at = 0;
    image.append(svg('text', {class: 'value', x: left - 10, y: y + thick / 2 + 4, 'text-anchor': 'end'}, shorten(r.name, left / 7)));
    for (const p of part(r)) {
      const bar = svg('rect', {x: sx(at), y, width: Math.max(0.5, sx(at + p.value) - sx(at) - 1), height: thick, fill: p.color, rx: 2});
      bar.addEventListener('pointermove', e => showTip(r.name, r.parts.map(q => [swatch(q.color, 'box'), q.name,
        `${plot.format(q.value)}${plot.share === false ? '' : ', ' + percent(q.value / r.parts.reduce((s, v) => s + v.value, 0))}`]), image, 0, e));
      bar.addEventListener('pointerleave', hideTip);
      image.append(bar);
      at += p.value;
    }
    image.append(svg('text', {x: sx(at) + 8, y: y + thick / 2 + 4}, r.label !== undefined ? r.label : plot.format(at)));
  });
  frame.body.replaceChildren(image);
  frame.redraw = () => stackedBars(frame, plot);
  watchSize(frame);
}

function shorten(text, letters) {
  return text.length > letters ? text.slice(0, Math.max(1, letters - 1)) + '…' : text;
}

/* Layers of areas over x. parts: [{name, color, y}] from the bottom up. */
function stackedArea(frame, plot) {
  const choice = choiceOf(frame.node.id), parts = plot.parts.filter(p => !choice.hidden.has(p.name));
  const width = Math.max(260, frame.body.clientWidth), height = width < 480 ? 230 : 260;
  const sums = plot.x.map((_, i) => parts.reduce((s, p) => s + p.y[i], 0));
  const d = {x: [plot.x[0], Math.max(last(plot.x), plot.x[0] + 1e-9)], y: [0, Math.max(...sums) * 1.05 || 1]};
  const yTicks = linearTicks(...d.y, 5), left = 14 + 7 * Math.max(...yTicks.map(t => plot.format(t).length));
  const right = 14, top = 20, bottom = 40;
  const sx = scale(d.x, [left, width - right]), sy = scale(d.y, [height - bottom, top]);
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img', tabindex: 0, 'aria-label':
    frame.node.querySelector('h3').textContent + '. At the end: ' + parts.map(p => `${p.name} ${plot.format(last(p.y))}`).join(', ')});

  drawAxes(image, {xAxis: plot.xAxis, yAxis: {label: plot.label}}, {sx, sy, yTicks, yFormat: plot.format, width, height, left, right, top, bottom});
  let floor = plot.x.map(() => 0);
  for (const p of parts) {
    const roof = floor.map((f, i) => f + p.y[i]);
    image.append(svg('path', {d: bandOf(plot.x, floor, roof, sx, sy), fill: p.color, stroke: 'var(--card)', 'stroke-width': 0.7}));
    floor = roof;
  }
  const cross = svg('line', {class: 'cross', y1: top, y2: height - bottom, visibility: 'hidden'});
  const read = (i, event) => {
    cross.setAttribute('x1', sx(plot.x[i]));
    cross.setAttribute('x2', sx(plot.x[i]));
    cross.setAttribute('visibility', 'visible');
    choice.at = i;
    const rows = plot.parts.map(p => [swatch(p.color, 'box'), p.name, plot.format(p.y[i])]).reverse();
    showTip(plot.xLabel(plot.x[i]), rows, image, sx(plot.x[i]) / width, event);
    if (!event) say(plot.xLabel(plot.x[i]) + ': ' + rows.map(r => `${r[1]} ${r[2]}`).join(', '));
  };
  const clear = () => { hideTip(); cross.setAttribute('visibility', 'hidden'); };
  image.append(cross);
  image.addEventListener('pointermove', e => {
    const r = image.getBoundingClientRect();
    read(nearest(plot.x, sx.invert((e.clientX - r.left) * width / r.width)), e);
  });
  image.addEventListener('pointerleave', clear);
  image.addEventListener('blur', clear);
  image.addEventListener('keydown', e => {
    const i = choice.at === null ? plot.x.length - 1 : choice.at;
    const to = {ArrowLeft: i - 1, ArrowRight: i + 1, Home: 0, End: plot.x.length - 1}[e.key];
    if (to === undefined) return;
    e.preventDefault();
    read(Math.max(0, Math.min(plot.x.length - 1, to)));
  });
  frame.body.replaceChildren(image);
  frame.legend.replaceChildren(...plot.parts.map(p => legendChip(p.name, swatch(p.color, 'box'), !choice.hidden.has(p.name), () => {
    if (!choice.hidden.delete(p.name)) choice.hidden.add(p.name);
    stackedArea(frame, plot);
  })));
  frame.redraw = () => stackedArea(frame, plot);
  watchSize(frame);
}
