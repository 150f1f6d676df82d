// timeline.js - one iteration, stretch by stretch, of every worker.

const LANES = {forward: 'compute', backward: 'compute', data: 'compute', update: 'compute', wait: 'compute', exchange: 'exchange'};

/* Put exchanges that run at once into rows of their own. */
function rowsOf(spans) {
  const free = [], rows = [];
  for (const s of spans) {
    let k = free.findIndex(end => end <= s.begin + 1e-9);
    if (k < 0) { k = free.length; free.push(0); rows.push([]); }
    free[k] = s.begin + s.seconds;
    rows[k].push(s);
  }
  return rows;
}

const spanColor = {forward: 'var(--forward)', backward: 'var(--backward)', data: 'var(--data)',
  update: 'var(--update)', wait: 'var(--exposed)', exchange: 'var(--hidden)'};

function timelineLanes(run) {
  const sources = new Set((run.layers || []).filter(l => l.bottoms.length === 0).map(l => l.name));
  return run.timeline.workers.map((list, worker) => {
    const spans = list.map(([work, name, begin, seconds]) => ({
      work: work === 'forward' && sources.has(name) ? 'data' : work, name, begin, seconds}));
    const compute = spans.filter(s => LANES[s.work] === 'compute');
    const exchange = rowsOf(spans.filter(s => s.work === 'exchange').sort((a, b) => a.begin - b.begin));
    return {worker, lanes: [compute, ...exchange]};
  }).filter(w => w.lanes[0].length);
}

function timelinePlot(frame, run) {
  const workers = timelineLanes(run), choice = choiceOf(frame.node.id);
  const spans = workers.flatMap(w => w.lanes.flat());
  const end = Math.max(...spans.map(s => s.begin + s.seconds)), [x0, x1] = choice.zoom || [0, end];
  const width = Math.max(260, frame.body.clientWidth), left = 84, right = 10, thick = 22, gap = 3, between = 14;
  const height = workers.reduce((h, w) => h + w.lanes.length * (thick + gap) + between, 0) + 30;
  const sx = scale([x0, x1], [left, width - right]);
  const clip = 'clip-' + frame.node.id;
  const image = svg('svg', {class: 'plot', viewBox: `0 0 ${width} ${height}`, height, role: 'img', tabindex: 0,
    'aria-label': `Timeline of iteration ${run.timeline.iter}, ${duration(end)} long, of ${plural(workers.length, 'worker')}. The data table lists every stretch of work.`},
    svg('clipPath', {id: clip}, svg('rect', {x: left, y: 0, width: width - left - right, height})));
  const inside = svg('g', {'clip-path': `url(#${clip})`});

  for (const t of linearTicks(x0, x1, Math.max(2, Math.floor((width - left) / 110))))
    image.append(svg('line', {class: 'rule', x1: sx(t), x2: sx(t), y1: 0, y2: height - 24}),
      svg('text', {x: sx(t), y: height - 6, 'text-anchor': 'middle'}, duration(t)));
  let y = 4;
  for (const w of workers) {
    image.append(svg('text', {class: 'value', x: 0, y: y + 15}, 'worker ' + w.worker));
    w.lanes.forEach((lane, k) => {
      if (k === 1) image.append(svg('text', {x: 10, y: y + 15}, 'exchange'));
      for (const s of lane) inside.append(...drawSpan(s, sx, y, thick, image));
      y += thick + gap;
    });
    y += between;
  }
  image.append(inside);
  zoomOnDrag(image, sx, {left, right, width, height}, zoom => { choice.zoom = zoom; timelinePlot(frame, run); });
  frame.body.replaceChildren(image);
  frame.legend.replaceChildren(...[['data', 'data'], ['forward', 'forward'], ['backward', 'backward'], ['update', 'update'],
    ['wait', 'exposed communication'], ['exchange', 'exchange of a bucket']].filter(([work]) => spans.some(s => s.work === work))
    .map(([work, name]) => el('span', {class: 'chip'}, swatch(spanColor[work], 'box'), name)));
  if (choice.zoom) control(frame, 'zoom', () => el('button', {type: 'button', class: 'quiet', onclick: () => {
    choice.zoom = null;
    timelinePlot(frame, run);
  }}, 'Show all'));
  else frame.caption.querySelector('[data-key="zoom"]')?.remove();
  frame.redraw = () => timelinePlot(frame, run);
  watchSize(frame);
}

function drawSpan(s, sx, y, thick, image) {
  const x = sx(s.begin), w = Math.max(0.6, sx(s.begin + s.seconds) - x - 0.6);
  const bar = svg('rect', {x, y, width: w, height: thick, rx: Math.min(2, w / 3), fill: spanColor[s.work]});
  bar.addEventListener('pointermove', e => showTip(s.name, [[swatch(spanColor[s.work], 'box'), s.work, duration(s.seconds)],
    ['', 'begins at', duration(s.begin)]], image, 0, e));
  bar.addEventListener('pointerleave', hideTip);
  if (w < 7 * s.name.length + 8) return [bar];
  const ink = s.work === 'backward' ? '#fff' : s.work === 'exchange' ? 'var(--ink)' : '#1b1a18';
  return [bar, svg('text', {x: x + w / 2, y: y + thick / 2 + 4, 'text-anchor': 'middle', 'pointer-events': 'none', style: `fill:${ink}`}, s.name)];
}

/* Drag a stretch of the plot: zoomed(domain); double click or Escape: zoomed(null). */
function zoomOnDrag(image, sx, g, zoomed) {
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
    if (a !== null && Math.abs(a - b) > 8) zoomed([sx.invert(Math.min(a, b)), sx.invert(Math.max(a, b))]);
  });
  image.addEventListener('dblclick', () => zoomed(null));
  image.addEventListener('keydown', e => { if (e.key === 'Escape') zoomed(null); });
}
