// net.js - the net: its graph, coloured by time, and its layers as a table.

/* The layers of a run with their forward and backward seconds. */
function layersOf(run) {
  const t = run.layerTimes;
  return (run.layers || []).map((l, i) => ({...l, forward: t ? t.forward[i] : NaN, backward: t ? t.backward[i] : NaN,
    seconds: t ? t.forward[i] + t.backward[i] : NaN}));
}

const totalSeconds = layers => layers.reduce((sum, l) => sum + (l.seconds || 0), 0);
const shapeText = shape => shape.length ? shape.join(' × ') : '1';
const shapesText = l => l.shapes.map(shapeText).join(', ');

function tipOfLayers(layers, total, place, event) {
  showTip(layers.map(l => l.name).join(' + '), layers.flatMap(l => [
    ['', l.type, shapesText(l)],
    l.params > 0 && ['', 'parameters', whole(l.params)],
    isNumber(l.seconds) && ['', 'forward', duration(l.forward)],
    isNumber(l.seconds) && ['', 'backward', `${duration(l.backward)}, together ${percent(l.seconds / total, 1)}`],
    l.kernel && ['', 'kernel', l.kernel]].filter(Boolean)), place, 0, event);
}

/* Write a layer's seconds to the right of its name, where graph.c left room. */
function writeTime(node, seconds) {
  const card = node.querySelector('.card'), at = name => +card.getAttribute(name);
  if (seconds > 0)
    node.append(svg('text', {class: 'time', x: at('x') + at('width') - 8, y: at('y') + 18, 'text-anchor': 'end'}, duration(seconds)));
}

/* Show the SVG that the program drew (run.graph), coloured by time, with tips. */
function netGraph(frame, run) {
  const layers = layersOf(run), known = new Map(layers.map(l => [l.name, l])), total = totalSeconds(layers);
  const most = Math.max(...layers.map(l => l.seconds).filter(isNumber), 0), old = frame.body.querySelector('.netscroll');
  const place = el('div', {class: 'netscroll', tabindex: 0, role: 'region',
    'aria-label': 'The net as a graph; the table of layers says the same in words'});
  place.innerHTML = run.graph;
  for (const node of place.querySelectorAll('[data-layers]')) {
    const own = node.dataset.layers.split('\n').map(name => known.get(name)).filter(Boolean);
    const warmth = most > 0 ? 0.5 * Math.sqrt(totalSeconds(own) / most) : 0;
    node.querySelector('.heat').style.fill = `rgba(var(--heat), ${Math.min(0.5, warmth).toFixed(3)})`;
    writeTime(node, totalSeconds(own));
    node.addEventListener('pointermove', e => tipOfLayers(own, total, place, e));
    node.addEventListener('pointerleave', hideTip);
  }
  const scrolled = old ? old.scrollTop : 0;
  frame.body.replaceChildren(place);
  place.scrollTop = scrolled;
}

/* All layers except splits, sorted by the column that the reader chose; the slowest
 * first by default. */
function layerTable(frame, run) {
  const choice = choiceOf(frame.node.id), key = choice.sort || 'seconds';
  const layers = layersOf(run).filter(l => l.type !== 'Split'), total = totalSeconds(layers);
  const most = Math.max(...layers.map(l => l.seconds).filter(isNumber), 1e-12);
  const sorted = key === 'order' ? layers : [...layers].sort((a, b) => (b[key] || 0) - (a[key] || 0));
  const head = (name, by, kind) => el('th', {scope: 'col', class: kind,
    'aria-sort': key === by && by !== 'order' ? 'descending' : undefined},
  !by ? name : el('button', {type: 'button', onclick: () => { choice.sort = by; layerTable(frame, run); }}, name));
  const meter = l => isNumber(l.seconds) && el('span', {class: 'meter',
    style: `width: ${100 * l.seconds / most}%; --f: ${100 * l.forward / (l.seconds || 1)}%`});
  const row = l => el('tr', {},
    el('th', {scope: 'row', class: 'words'}, l.name, el('small', {}, l.type)),
    el('td', {class: 'words'}, shapesText(l)), el('td', {}, l.params ? whole(l.params) : ''),
    el('td', {}, isNumber(l.forward) ? duration(l.forward) : ''), el('td', {}, l.backward ? duration(l.backward) : ''),
    el('td', {}, isNumber(l.seconds) ? percent(l.seconds / total, 1) : '', meter(l)));

  frame.body.replaceChildren(el('div', {class: 'scroll tall', tabindex: 0, role: 'region', 'aria-label': 'Layers'},
    el('table', {},
      el('thead', {}, el('tr', {}, head('Layer', 'order', 'words'), head('Output', null, 'words'),
        head('Parameters', 'params'), head('Forward', 'forward'), head('Backward', 'backward'),
        head('Share', 'seconds'))),
      el('tbody', {}, sorted.map(row)))));
  dataTable(frame, () => ({name: 'layers', title: 'Layers of the net',
    head: ['layer', 'type', 'shape', 'parameters', 'macs', 'forward_s', 'backward_s', 'kernel'],
    rows: layers.map(l => [l.name, l.type, shapesText(l), l.params, l.macs ?? '', l.forward, l.backward, l.kernel || ''])}));
}
