// timeline.js - one iteration as a timeline: a bar for each stretch of work of each worker.

const WORKS = {data: ['data', 'data'], forward: ['forward', 'forward'], backward: ['backward', 'backward'],
  update: ['update', 'update'], wait: ['exposed', 'exposed communication'], exchange: ['hidden', 'exchange of a bucket']};
const workColor = work => `var(--${WORKS[work][0]})`;

/* Distribute spans to rows so that no two of a row overlap. */
function rowsOf(spans) {
  const free = [], rows = [];
  for (const s of spans.sort((a, b) => a.begin - b.begin)) {
    let k = free.findIndex(end => end <= s.begin + 1e-9);
    if (k < 0) { k = free.length; rows.push([]); }
    free[k] = s.begin + s.seconds;
    rows[k].push(s);
  }
  return rows;
}

/* Per worker: a row for computing and waiting, then rows for exchanges. */
function timelineLanes(run) {
  const sources = new Set((run.layers || []).filter(l => l.bottoms.length === 0).map(l => l.name));
  const workOf = (work, name) => work === 'forward' && sources.has(name) ? 'data' : work;
  return run.timeline.workers.map((list, worker) => {
    const spans = list.map(([work, name, begin, seconds]) => ({work: workOf(work, name), name, begin, seconds}));
    const isExchange = s => s.work === 'exchange';
    return {worker, lanes: [spans.filter(s => !isExchange(s)), ...rowsOf(spans.filter(isExchange))]};
  }).filter(w => w.lanes[0].length > 0);
}

function timelinePlot(frame, run) {
  const workers = timelineLanes(run), choice = choiceOf(frame.node.id), spans = workers.flatMap(w => w.lanes.flat());
  const end = Math.max(...spans.map(s => s.begin + s.seconds)), [x0, x1] = choice.zoom || [0, end];
  const g = {left: 84, right: 20, thick: 22, gap: 3, between: 14, width: Math.max(260, frame.body.clientWidth)};
  g.height = workers.reduce((h, w) => h + w.lanes.length * (g.thick + g.gap) + g.between, 0) + 30;
  g.sx = scale([x0, x1], [g.left, g.width - g.right]);
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${g.width} ${g.height}`, height: g.height, role: 'img', tabindex: 0,
    'aria-label': `Iteration ${run.timeline.iter}, ${duration(end)} long, of ${plural(workers.length, 'worker')}. ` +
      'The data table lists every stretch of work.'});

  drawLanes(image, workers, g, 'clip-' + frame.node.id, [x0, x1]);
  const zoom = domain => { choice.zoom = domain; timelinePlot(frame, run); };
  zoomOnDrag(image, g, zoom);
  frame.body.replaceChildren(image);
  frame.legend.replaceChildren(...Object.entries(WORKS).filter(([work]) => spans.some(s => s.work === work))
    .map(([work, [, name]]) => el('span', {class: 'chip'}, swatch(workColor(work), 'box'), name)));
  showAllButton(frame, choice, () => zoom(null));
  frame.redraw = () => timelinePlot(frame, run);
  watchSize(frame);
}

function drawLanes(image, workers, g, clip, domain) {
  const inside = svg('g', {'clip-path': `url(#${clip})`});
  for (const t of linearTicks(...domain, Math.max(2, Math.floor((g.width - g.left) / 110))))
    image.append(svg('line', {class: 'rule', x1: g.sx(t), x2: g.sx(t), y1: 0, y2: g.height - 24}),
      svg('text', {x: g.sx(t), y: g.height - 6, 'text-anchor': 'middle'}, duration(t)));
  let y = 4;
  for (const w of workers) {
    image.append(svg('text', {class: 'value', x: 0, y: y + 15}, 'worker ' + w.worker));
    w.lanes.forEach((lane, k) => {
      if (k === 1) image.append(svg('text', {x: 10, y: y + 15}, 'exchange'));
      for (const s of lane) inside.append(...drawSpan(s, g, y, image));
      y += g.thick + g.gap;
    });
    y += g.between;
  }
  image.append(svg('clipPath', {id: clip}, svg('rect', {x: g.left, y: 0, width: g.width - g.left - g.right, height: g.height})),
    inside);
}

function drawSpan(s, g, y, image) {
  const x = g.sx(s.begin), w = Math.max(0.6, g.sx(s.begin + s.seconds) - x - 0.6);
  const tip = e => showTip(s.name, [[swatch(workColor(s.work), 'box'), s.work, duration(s.seconds)],
    ['', 'begins at', duration(s.begin)]], image, 0, e);
  const bar = svg('rect', {x, y, width: w, height: g.thick, rx: Math.min(2, w / 3), fill: workColor(s.work),
    onpointermove: tip, onpointerleave: hideTip});
  if (w < 7 * s.name.length + 8) return [bar];
  return [bar, svg('text', {class: 'on-' + s.work, x: x + w / 2, y: y + g.thick / 2 + 4, 'text-anchor': 'middle',
    'pointer-events': 'none'}, s.name)];
}

/* Call zoomed(domain) after dragging across the plot, zoomed(null) after a double click
 * or Escape. */
function zoomOnDrag(image, g, zoomed) {
  const box = svg('rect', {class: 'zoom', y: 0, height: g.height - 24, visibility: 'hidden', 'pointer-events': 'none'});
  let from = null;
  const place = e => {
    const r = image.getBoundingClientRect();
    return Math.min(g.width - g.right, Math.max(g.left, (e.clientX - r.left) * g.width / r.width));
  };
  image.append(box);
  image.addEventListener('pointerdown', e => { if (e.pointerType !== 'touch') from = place(e); });
  image.addEventListener('pointermove', e => {
    if (from === null) return;
    box.setAttribute('visibility', 'visible');
    box.setAttribute('x', Math.min(from, place(e)));
    box.setAttribute('width', Math.abs(place(e) - from));
  });
  image.addEventListener('pointerup', e => {
    const a = from, b = place(e);
    from = null;
    box.setAttribute('visibility', 'hidden');
    if (a !== null && Math.abs(a - b) > 8) zoomed([g.sx.invert(Math.min(a, b)), g.sx.invert(Math.max(a, b))]);
  });
  image.addEventListener('dblclick', () => zoomed(null));
  image.addEventListener('keydown', e => { if (e.key === 'Escape') zoomed(null); });
}
