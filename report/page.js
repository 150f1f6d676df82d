// page.js - the order of the page's sections, and the last of them: the net, what it
// learned, how it was run.

function showNet() {
  const runs = state.data.runs.filter(r => r.layers);
  if (!runs.length) return;
  const grid = section('net', 'The net', 'The warmer the colour of a layer, the more of the computation it takes.');
  const drawn = runs.some(r => r.graph), graph = drawn && figure(grid, 'graph', {title: 'Graph', width: 'less'});
  const table = figure(grid, 'layers', {title: 'Layers', width: drawn ? 'more' : 'whole'});
  const run = pickRun(table, r => r.layers);
  layerTable(table, run);
  if (!run.graph) return;
  netGraph(graph, run);
  dataTable(graph, () => ({name: 'graph', title: 'Connections', head: ['layer', 'type', 'bottoms', 'tops'],
    rows: run.layers.map(l => [l.name, l.type, l.bottoms.join(' '), l.tops.join(' ')])}));
}

function showLearned() {
  const has = key => state.data.runs.some(r => r[key]);
  if (!has('filters') && !has('confusion')) return;
  const grid = section('learned', 'What it learned', 'From the newest snapshot.');
  if (has('filters')) {
    const frame = figure(grid, 'filters', {title: 'Filters'}), {filters} = pickRun(frame, r => r.filters);
    frame.node.querySelector('h3').textContent = `Filters of ${filters.layer}`;
    filterPictures(frame, filters);
  }
  if (has('confusion')) {
    const frame = figure(grid, 'confusion', {title: 'Confusion matrix', note: ' '});
    const {confusion} = pickRun(frame, r => r.confusion);
    frame.node.querySelector('figcaption p').textContent =
      `${whole(confusion.images)} test images. Rows are true classes, columns predicted classes.`;
    confusionMatrix(frame, confusion);
  }
}

// ---- how it was run ----

const facts = {
  Net: h => h.net, Workers: h => ['plan', 'sim'].includes(h.kind) ? undefined : h.workers, Lanes: h => h.lanes,
  'Threads of a worker': h => h.worker_threads, Batch: h => h.batch,
  Iterations: h => h.max_iter, Seed: h => h.seed, 'Training images': h => h.epoch && whole(h.epoch),
  Program: h => h.program, 'Built with': h => (h.built_with || []).join(', '), Host: h => h.host, System: h => h.os,
  CPU: h => h.cpu, Cores: h => h.cores, Memory: h => h.memory && bytes(h.memory), MPI: h => h.mpi,
  GPUs: h => h.gpus && h.gpus.join(', '),
  Directory: h => h.directory, Variables: h => Object.entries(h.threads || {}).map(e => e.join('=')).join(' '),
};

function showFacts(grid, runs) {
  const frame = figure(grid, 'facts', {title: several() ? 'Settings and machines' : 'Settings and machine', width: 'whole',
    note: several() ? 'What differs is marked.' : ''});
  const rows = Object.entries(facts).map(([name, get]) => [name, ...runs.map(r => get(headOf(r)) ?? '')])
    .filter(row => row.slice(1).some(x => x !== ''));
  const differs = row => unique(row.slice(1).map(String)).length > 1;
  const head = several() && el('thead', {}, el('tr', {}, ['', ...runs.map(r => r.name)]
    .map(h => el('th', {scope: 'col', class: 'words'}, h))));
  const line = row => el('tr', {}, el('th', {scope: 'row', class: 'words'}, row[0]),
    row.slice(1).map(x => el('td', {class: differs(row) ? 'wrap differs' : 'wrap'}, String(x))));
  frame.body.replaceChildren(el('div', {class: 'scroll free', tabindex: 0, role: 'region', 'aria-label': 'Settings'},
    el('table', {}, head, el('tbody', {}, rows.map(line)))));
  dataTable(frame, () => ({name: 'settings', title: 'Settings', head: ['setting', ...runs.map(r => r.name)], rows}));
}

const quote = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function showTexts(grid) {
  const frame = figure(grid, 'texts', {title: 'Command, solver, net', width: 'whole'}), h = headOf(pickRun(frame, r => r.head));
  const open = [...frame.body.querySelectorAll('details')].map(d => d.open);
  const fold = (title, text, k) => text && el('details', {open: open[k]}, el('summary', {}, title),
    el('div', {class: 'scroll'}, el('pre', {tabindex: 0}, text)));
  frame.body.replaceChildren(...[el('pre', {class: 'command'}, (h.command || []).map(quote).join(' ')),
    fold('Solver', h.solver, 0), fold('Net', h.model, 1)].filter(Boolean));
}

function showRun() {
  const runs = state.data.runs.filter(r => r.head);
  if (!runs.length) return;
  const grid = section('run', 'How it was run', !runs.some(r => headOf(r).kind === 'train') ? '' :
    'Everything needed to run it again: firecaffe train --repeat with the run’s directory does so exactly.');
  showFacts(grid, runs);
  showTexts(grid);
}

// ---- all of it ----

const parts = [showTop, showControls, showNotes, showSummary, showCurves, showTimes, showScaling, showSweep, showScores,
  showSteps, showSums, showNet, showLearned, showRun];

/* Draw the whole page. A part that fails is replaced by a note; the others are
 * drawn. */
function render() {
  for (const show of parts) {
    try {
      show();
    } catch (e) {
      console.error(e);
      part('notes').append(el('p', {class: 'note', role: 'status'}, `A part of this page could not be drawn: ${e.message}`));
    }
  }
}

function start() {
  startTheme();
  state.data = JSON.parse(byId('data').textContent);
  render();
  addEventListener('scroll', hideTip, {passive: true});
  if (state.data.live) listen();
}
