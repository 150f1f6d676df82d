// net.js - the net: its graph, coloured by time, and its layers as a table.

/* Layers with their times, joined by place. */
function layersOf(run) {
  const t = run.layerTimes;
  return (run.layers || []).map((l, i) => ({...l, forward: t ? t.forward[i] : NaN, backward: t ? t.backward[i] : NaN,
    seconds: t ? t.forward[i] + t.backward[i] : NaN}));
}

const shapeText = shape => shape.length ? shape.join(' × ') : '1';

/* The picture was laid out by the program; here it gets colours and tips. */
function netGraph(frame, run) {
  const layers = layersOf(run), most = Math.max(...layers.map(l => l.seconds).filter(isNumber));
  const total = layers.reduce((s, l) => s + (isNumber(l.seconds) ? l.seconds : 0), 0);
  const place = el('div', {class: 'netscroll', tabindex: 0, role: 'region', 'aria-label': 'The net as a graph; the table of layers holds the same'});
  const known = new Map(layers.map(l => [l.name, l]));
  const old = frame.body.querySelector('.netscroll');
  if (old && old.graph === run.graph) { /* keep the scrolled place */ }
  place.innerHTML = run.graph;
  place.graph = run.graph;
  for (const node of place.querySelectorAll('[data-layers]')) {
    const own = node.dataset.layers.split('\n').map(n => known.get(n)).filter(Boolean);
    const seconds = own.reduce((s, l) => s + (isNumber(l.seconds) ? l.seconds : 0), 0);
    const heat = node.querySelector('.heat');
    if (most > 0 && heat) heat.style.fill = `rgba(var(--heat), ${(0.75 * Math.sqrt(seconds / most)).toFixed(3)})`;
    node.addEventListener('pointermove', e => showTip(own.map(l => l.name).join(' + '), own.flatMap(l => [
      ['', l.type, l.shapes.map(shapeText).join(', ')],
      l.params > 0 ? ['', 'parameters', whole(l.params)] : null,
      isNumber(l.seconds) ? ['', 'forward, backward', `${duration(l.forward)}, ${duration(l.backward)} (${percent(l.seconds / total)})`] : null,
      l.kernel ? ['', 'kernel', l.kernel] : null]).filter(Boolean), place, 0, e));
    node.addEventListener('pointerleave', hideTip);
  }
  const scrolled = old ? old.scrollTop : 0;
  frame.body.replaceChildren(place);
  place.scrollTop = scrolled;
}

/* All layers but the splits, the slowest first or in order. */
function layerTable(frame, run) {
  const choice = choiceOf(frame.node.id), key = choice.sort || 'seconds';
  const layers = layersOf(run).filter(l => l.type !== 'Split');
  const most = Math.max(...layers.map(l => l.seconds).filter(isNumber), 1e-12);
  const total = layers.reduce((s, l) => s + (isNumber(l.seconds) ? l.seconds : 0), 0);
  const sorted = key === 'order' ? layers : [...layers].sort((a, b) => (b[key] || 0) - (a[key] || 0));
  const head = (name, by, words) => el('th', {scope: 'col', class: words && 'words', 'aria-sort': key === by && by !== 'order' ? 'descending' : undefined},
    by ? el('button', {type: 'button', onclick: () => { choice.sort = by; layerTable(frame, run); }}, name) : name);
  frame.body.replaceChildren(el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Layers', style: 'max-height: 560px'}, el('table', {},
    el('thead', {}, el('tr', {}, head('Layer', 'order', true), head('Type', null, true), head('Output', null, true), head('Parameters', 'params'),
      head('Forward', 'forward'), head('Backward', 'backward'), head('Share', 'seconds'), el('th', {scope: 'col', style: 'width: 22%'}, el('span', {class: 'unseen'}, 'Bar')))),
    el('tbody', {}, sorted.map(l => el('tr', {}, el('th', {scope: 'row', class: 'words'}, l.name), el('td', {class: 'words'}, l.type),
      el('td', {class: 'words'}, l.shapes.map(shapeText).join(', ')), el('td', {}, l.params ? whole(l.params) : ''),
      el('td', {}, duration(l.forward)), el('td', {}, l.backward ? duration(l.backward) : ''), el('td', {}, isNumber(l.seconds) ? percent(l.seconds / total) : ''),
      el('td', {}, isNumber(l.seconds) ? el('span', {class: 'meter', style: `width: ${100 * l.seconds / most}%; --f: ${100 * l.forward / (l.seconds || 1)}%`}) : '')))))));
  dataTable(frame, () => ({name: 'layers', title: 'Layers of the net',
    head: ['layer', 'type', 'shape', 'parameters', 'forward_s', 'backward_s', 'kernel'],
    rows: layers.map(l => [l.name, l.type, l.shapes.map(shapeText).join('; '), l.params, l.forward, l.backward, l.kernel || ''])}));
}
