// page.js - the page: which sections there are and what they show.

const state = {data: null, axis: 'iter', smooth: 0.8, hiddenRuns: new Set(), detail: 0};

// ---- what a run is ----

const headOf = run => run.head || {};
const batchOf = run => headOf(run).batch || 0;
const workersOf = run => headOf(run).workers || 1;
const hasEpochs = run => headOf(run).epoch > 0 && batchOf(run) > 0;
const epochOf = (run, iter) => hasEpochs(run) ? iter * batchOf(run) / headOf(run).epoch : NaN;
const speedOf = run => median(run.speed.y.length > 4 ? run.speed.y.slice(1) : run.speed.y);
const accuracyLike = name => /acc|top-?\d|precision|recall|map\b/i.test(name);
const testCurves = run => run.curves.filter(c => c.net >= 0);
const bestAccuracy = run => Math.max(...testCurves(run).filter(c => accuracyLike(c.name)).flatMap(c => c.points.y.filter(isNumber)), -Infinity);
const finalLoss = run => run.smoothed.y.length ? last(run.smoothed.y) : run.loss.y.length ? last(smoothed(run.loss.y, 0.9)) : NaN;

function xsOf(run, points) {
  if (state.axis === 'time') return points.time;
  return state.axis === 'epoch' ? points.iter.map(i => epochOf(run, i)) : points.iter;
}

const axes = {iter: {label: 'iterations', kind: 'number'}, epoch: {label: 'epochs', kind: 'number'}, time: {label: 'time', kind: 'time'}};
const xLabels = {iter: x => 'Iteration ' + whole(x), epoch: x => 'Epoch ' + num(x, 4), time: x => 'After ' + duration(x)};

const visibleRuns = () => state.data.runs.map((run, i) => ({run, i})).filter(r => !state.hiddenRuns.has(r.i));
const several = () => state.data.runs.length > 1;
const detailRun = () => state.data.runs[Math.min(state.detail, state.data.runs.length - 1)];

/* A curve of a run, ready to draw. */
function curve(run, i, name, points, extra) {
  return {name: several() ? `${run.name}: ${name}` : name, color: runColor(i), x: xsOf(run, points), y: points.y, lo: points.lo, hi: points.hi, run, points, ...extra};
}

/* All points of all curves, one a row. */
function curveTable(title, series) {
  const rows = series.filter(s => s.points).flatMap(s => s.points.iter.map((iter, k) => [s.name, iter,
    hasEpochs(s.run) ? +epochOf(s.run, iter).toFixed(4) : '', s.points.time[k], s.points.y[k],
    ...(s.points.lo ? [s.points.lo[k], s.points.hi[k]] : ['', ''])]));
  return {name: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), title,
    head: ['series', 'iteration', 'epoch', 'seconds', 'value', 'least', 'most'], rows};
}

function curveFigure(grid, id, options, series, yAxis) {
  const frame = figure(grid, id, options);
  const events = several() ? [] : state.data.runs[0].restarts.map(iter => ({name: 'restarted', x: xOfIter(state.data.runs[0], iter)}));
  linePlot(frame, {series, xAxis: axes[state.axis], xLabel: xLabels[state.axis], yAxis, events});
  dataTable(frame, () => curveTable(options.title, series));
}

function xOfIter(run, iter) {
  if (state.axis === 'iter') return iter;
  if (state.axis === 'epoch') return epochOf(run, iter);
  return run.loss.time[nearest(run.loss.iter, iter)] || 0;
}

// ---- top of the page ----

function stateWords(run) {
  return {done: 'finished', stopped: 'stopped early', failed: 'failed', running: 'running', killed: 'ended without a word',
    unknown: 'unknown'}[run.state];
}

function showTop() {
  const runs = state.data.runs, names = [...new Set(runs.map(r => headOf(r).net).filter(Boolean))];
  const title = runs.length === 1 ? `${names[0] || 'Training'}` : `${names.join(', ') || 'Training'}: ${runs.length} runs`;
  document.title = title + ' – training report';
  byId('title').replaceChildren(title + ' ', ...(runs.length === 1 ? [el('span', {class: 'pill ' + runs[0].state}, stateWords(runs[0]))] : []));
  const h = headOf(runs[0] || {});
  byId('subtitle').textContent = runs.length === 1 && runs[0].head
    ? `${runs[0].name} · ${plural(workersOf(runs[0]), 'worker')}, batch ${whole(batchOf(runs[0]))} · ${h.host || ''} · started ${new Date(1000 * h.started).toLocaleString()}`
    : runs.map(r => r.name).join(' · ');
  byId('footer').textContent = `${state.data.program} · ${state.data.live ? 'live, as of' : 'made'} ${new Date(1000 * state.data.made).toLocaleString()} · this page is complete in itself and asks nothing of the network.`;
}

function showControls() {
  const runs = state.data.runs, choicesOfAxis = {iter: 'Iterations', ...(runs.every(hasEpochs) ? {epoch: 'Epochs'} : {}), time: 'Time'};
  const slider = el('input', {type: 'range', min: 0, max: 0.99, step: 0.01, value: state.smooth, id: 'smooth',
    oninput: e => { state.smooth = +e.target.value; showCurves(); }});
  byId('controls').replaceChildren(
    el('span', {class: 'group'}, 'Against', segments('Horizontal axis', choicesOfAxis, state.axis, axis => {
      state.axis = axis;
      for (const c of choices.values()) c.zoom = null;
      render();
    })),
    el('label', {class: 'group'}, 'Smoothing', slider),
    ...(several() ? [el('span', {class: 'group', role: 'group', 'aria-label': 'Runs'}, el('span', {class: 'chips'}, runs.map((run, i) =>
      legendChip(run.name, swatch(runColor(i)), !state.hiddenRuns.has(i), () => {
        if (!state.hiddenRuns.delete(i)) state.hiddenRuns.add(i);
        render();
      }))))] : []));
}

function notes() {
  const all = state.data.runs.flatMap(run => [...run.notes,
    ...(run.state === 'failed' ? [`${run.name} failed${run.message ? ': ' + run.message : ''}`] : []),
    ...(run.state === 'killed' ? [`${run.name} ended without a word at iteration ${whole(run.iter)}: it was killed, or its machine was.`] : []),
    ...(run.restarts.length ? [`${run.name} was taken up again at iteration ${run.restarts.map(whole).join(', ')}.`] : [])]);
  let place = byId('notes');
  if (!place) byId('report').append(place = el('div', {id: 'notes'}));
  place.replaceChildren(...all.map(text => el('p', {class: 'note', role: 'status'}, text)));
}

const box = (term, value, unit, under) => el('div', {}, el('dt', {}, term), el('dd', {}, value, unit ? el('small', {}, ' ' + unit) : ''), under ? el('dd', {}, under) : null);

function showSummary() {
  let place = byId('summary');
  if (!place) byId('report').append(place = el('div', {id: 'summary'}));
  place.replaceChildren(...(several() ? [comparison()] : [keyFigures(state.data.runs[0])]));
}

function keyFigures(run) {
  const best = bestAccuracy(run), max = headOf(run).max_iter || 0, share = max ? run.iter / max : 0;
  const left = run.state === 'running' && run.iter > 0 ? (max - run.iter) * median(run.speed.y.map(s => batchOf(run) / s)) : NaN;
  return el('div', {}, el('dl', {class: 'figures'},
    isFinite(best) ? box('Best accuracy', percent(best).replace(' %', ''), '%', 'on the test set') : null,
    box('Loss', num(finalLoss(run), 3), '', 'training, smoothed'),
    box('Speed', whole(speedOf(run)), 'images/s', `${duration(batchOf(run) / speedOf(run))} per iteration`),
    box('Iterations', whole(run.iter), max ? 'of ' + whole(max) : '', hasEpochs(run) ? num(epochOf(run, run.iter), 3) + ' epochs' : ''),
    box('Time', duration(run.time), '', isFinite(left) ? 'about ' + duration(left) + ' left' : stateWords(run))),
  run.state === 'running' ? el('div', {class: 'progress', role: 'progressbar', 'aria-valuenow': Math.round(100 * share), 'aria-label': 'Progress'}, el('i', {style: `width:${100 * share}%`})) : null);
}

/* One row per run, the best of each column marked. */
function comparison() {
  const runs = state.data.runs, columns = [['Workers', workersOf, whole], ['Batch', batchOf, whole], ['Iterations', r => r.iter, whole],
    ['Epochs', r => epochOf(r, r.iter), x => num(x, 3)], ['Time', r => r.time, duration], ['Images/s', speedOf, whole, Math.max],
    ['Loss', finalLoss, x => num(x, 3), Math.min], ['Best accuracy', bestAccuracy, x => isFinite(x) ? percent(x) : '–', Math.max]];
  const best = columns.map(([, get, , pick]) => pick ? pick(...runs.map(get).filter(isNumber)) : NaN);
  return el('div', {class: 'scroll free', style: 'margin-top: 20px; background: var(--card); border-radius: 14px', tabindex: 0, role: 'region', 'aria-label': 'Runs compared'}, el('table', {},
    el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Run'), el('th', {scope: 'col', class: 'words'}, 'State'), columns.map(c => el('th', {scope: 'col'}, c[0])))),
    el('tbody', {}, runs.map((run, i) => el('tr', {}, el('th', {scope: 'row', class: 'words'}, swatch(runColor(i), 'box'), ' ' + run.name),
      el('td', {class: 'words'}, el('span', {class: 'pill ' + run.state}, stateWords(run))),
      columns.map(([, get, format], k) => el('td', {class: get(run) === best[k] ? 'differs' : ''}, format(get(run)))))))));
}

// ---- curves ----

function lossSeries() {
  return visibleRuns().flatMap(({run, i}) => [
    ...(run.loss.y.length ? [curve(run, i, 'training', run.loss, {smooth: state.smooth})] :
      run.smoothed.y.length ? [curve(run, i, 'training', run.smoothed, {})] : []),
    ...testCurves(run).filter(c => /loss/i.test(c.name)).map((c, k) => curve(run, i, 'test ' + outputName(c),
      c.points, {dash: '6 4', dots: true, color: several() ? runColor(i) : runColor(1 + k)}))]);
}

const outputName = c => c.net > 0 ? `${c.name} (net ${c.net})` : c.name;

function testSeries(wanted) {
  return visibleRuns().flatMap(({run, i}) => testCurves(run).filter(c => wanted(c.name)).map((c, k) =>
    curve(run, i, outputName(c), c.points, {dots: true, color: several() ? runColor(i) : runColor(k), dash: several() && k > 0 ? '6 4' : ''})));
}

function showCurves() {
  const grid = section('learning', 'Learning', several()
    ? 'The same measure of all runs in one plot. Drag across a plot to look closer, double-click to go back; a name in a legend hides its curve.'
    : 'How loss and accuracy went. The pale band holds every single iteration. Drag across a plot to look closer, double-click to go back.');
  curveFigure(grid, 'loss', {title: 'Loss'}, lossSeries(), {format: x => num(x, 3), canLog: true});
  const accuracy = testSeries(accuracyLike);
  if (accuracy.length) curveFigure(grid, 'accuracy', {title: 'Test accuracy'}, accuracy, {format: x => num(100 * x, 4) + ' %', most: 1});
  const other = testSeries(name => !accuracyLike(name) && !/loss/i.test(name));
  if (other.length) curveFigure(grid, 'outputs', {title: 'Other test outputs'}, other, {format: x => num(x, 3)});
  curveFigure(grid, 'lr', {title: 'Learning rate'}, visibleRuns().map(({run, i}) => curve(run, i, 'learning rate', run.lr, {lo: undefined, hi: undefined})), {format: x => num(x, 3), canLog: true, zero: true});
  curveFigure(grid, 'speed', {title: 'Images per second'}, visibleRuns().map(({run, i}) => curve(run, i, 'images/s', run.speed, {smooth: state.smooth / 2})), {format: whole, zero: true});
}

// ---- time ----

function withOther(t) {
  return {...t, other: Math.max(0, t.seconds - PHASES.slice(0, 5).reduce((s, [p]) => s + t[p], 0))};
}

/* Mean over workers of what an iteration takes. */
function meanTimes(run) {
  const n = run.worker.length, mean = {seconds: 0, hidden: 0, bytes: 0};
  for (const [p] of PHASES.slice(0, 5)) mean[p] = 0;
  for (const w of run.worker) for (const k of Object.keys(mean)) mean[k] += w[k] / n;
  return withOther(mean);
}

function pickRun(frame, keep) {
  const able = state.data.runs.map((run, i) => [i, run]).filter(([, run]) => keep(run));
  if (able.length < 2) return able.length ? able[0][1] : null;
  if (!able.some(([i]) => i === state.detail)) state.detail = able[0][0];
  control(frame, 'run', () => segments('Run', Object.fromEntries(able.map(([i, run]) => [i, run.name])), String(state.detail),
    i => { state.detail = +i; render(); }));
  return state.data.runs[state.detail];
}

function showTimes() {
  const runs = state.data.runs.filter(r => r.times && r.worker.length);
  if (!runs.length) return;
  const grid = section('time', 'Where the time goes', 'An iteration cut into its phases. Exposed communication is time in which a worker could only wait for others; hidden communication ran beside computation and cost nothing.');
  const over = figure(grid, 'phases', {title: 'Time per iteration'}), run = pickRun(over, r => r.times && r.worker.length);
  const t = run.times, parts = PHASES.map(([p, name]) => ({name, color: phaseColor(p), y: p === 'other'
    ? t.seconds.map((s, i) => Math.max(0, s - PHASES.slice(0, 5).reduce((sum, [q]) => sum + t[q][i], 0))) : t[p]})).filter(p => Math.max(...p.y) > 0);
  stackedArea(over, {x: xsOf(run, t), parts, format: duration, xAxis: axes[state.axis], xLabel: xLabels[state.axis]});
  dataTable(over, () => ({name: 'phases', title: 'Time per iteration', head: ['iteration', 'seconds', ...PHASES.slice(0, 5).map(p => p[0]), 'hidden', 'bytes'],
    rows: t.iter.map((iter, i) => [iter, t.seconds[i], ...PHASES.slice(0, 5).map(([p]) => t[p][i]), t.hidden[i], t.bytes[i]])}));

  const rows = several() ? runs.map(r => [r.name, meanTimes(r)]) : run.worker.map((w, i) => ['worker ' + i, withOther(w)]);
  const each = figure(grid, 'workers', {title: several() ? 'Phases of each run' : 'Phases of each worker'});
  stackedBars(each, {format: duration, rows: rows.map(([name, w]) => ({name, parts: PHASES.map(([p, label]) => ({name: label, color: phaseColor(p), value: w[p]}))}))});
  dataTable(each, () => ({name: 'workers', title: 'Phases', head: [several() ? 'run' : 'worker', 'seconds', ...PHASES.map(p => p[0]), 'hidden', 'bytes'],
    rows: rows.map(([name, w]) => [name, w.seconds, ...PHASES.map(([p]) => w[p]), w.hidden, w.bytes])}));
  showCommunication(grid, rows);
  showTimeline(grid);
}

function showCommunication(grid, rows) {
  const busy = rows.filter(([, w]) => w.bytes > 0 || w.exposed > 0);
  if (!busy.length) return;
  const frame = figure(grid, 'communication', {title: 'Communication', whole: true, note: 'Per iteration: what was hidden behind computation and what was not, and how much was sent.'});
  stackedBars(frame, {format: duration, rows: busy.map(([name, w]) => ({name, label: bytes(w.bytes), parts: [
    {name: 'exposed', color: 'var(--exposed)', value: w.exposed}, {name: 'hidden', color: 'var(--hidden)', value: w.hidden}]}))});
  dataTable(frame, () => ({name: 'communication', title: 'Communication', head: ['name', 'exposed_s', 'hidden_s', 'bytes'], rows: busy.map(([name, w]) => [name, w.exposed, w.hidden, w.bytes])}));
}

function showTimeline(grid) {
  const frame = state.data.runs.some(r => r.timeline) && figure(grid, 'timeline', {title: 'Timeline of one iteration', whole: true});
  const run = frame && pickRun(frame, r => r.timeline);
  if (!run) return;
  frame.node.querySelector('h3').textContent = `Timeline of iteration ${whole(run.timeline.iter)}`;
  timelinePlot(frame, run);
  dataTable(frame, () => ({name: 'timeline', title: 'Timeline', head: ['worker', 'work', 'name', 'begin_s', 'seconds'],
    rows: run.timeline.workers.flatMap((list, w) => list.map(s => [w, ...s]))}));
}

// ---- scaling ----

/* Runs of one net with different numbers of workers: speed against the smallest. */
function scalingGroups() {
  const groups = new Map();
  for (const {run} of visibleRuns())
    if (isNumber(speedOf(run))) groups.set(headOf(run).net, [...(groups.get(headOf(run).net) || []), run]);
  return [...groups].map(([net, runs]) => {
    const fastest = new Map();
    for (const r of runs) if (!(speedOf(fastest.get(workersOf(r)) || r) > speedOf(r))) fastest.set(workersOf(r), r);
    const list = [...fastest.values()].sort((a, b) => workersOf(a) - workersOf(b));
    const one = speedOf(list[0]) / workersOf(list[0]);
    return {net, list, x: list.map(workersOf), speedup: list.map(r => speedOf(r) / one), efficiency: list.map(r => speedOf(r) / one / workersOf(r))};
  }).filter(g => g.list.length > 1);
}

function showScaling() {
  const groups = scalingGroups();
  byId('scaling')?.toggleAttribute('hidden', !groups.length);
  if (!groups.length) return;
  const grid = section('scaling', 'Scaling', 'Speed with more workers, measured against the run with the fewest. The dashed line is what would be ideal.');
  const ticks = [...new Set(groups.flatMap(g => g.x))].sort((a, b) => a - b), log = last(ticks) / ticks[0] > 8;
  const xAxis = {label: 'workers', kind: 'number', log, ticks}, xLabel = x => plural(x, 'worker');
  const series = key => groups.map((g, i) => ({name: g.net || 'net', color: runColor(i), x: g.x, y: g[key], dots: true}));
  const ideal = {name: 'ideal', color: 'var(--faint)', ideal: true, dash: '4 4', x: ticks, y: ticks};
  const rows = groups.flatMap(g => g.list.map((r, k) => [g.net, workersOf(r), batchOf(r), speedOf(r), g.speedup[k], g.efficiency[k]]));
  const table = title => () => ({name: 'scaling', title, head: ['net', 'workers', 'batch', 'images_per_s', 'speed_up', 'efficiency'], rows});
  const up = figure(grid, 'speedup', {title: 'Speed-up'}), efficiency = figure(grid, 'efficiency', {title: 'Efficiency'});
  linePlot(up, {series: [...series('speedup'), ideal], xAxis, xLabel, yAxis: {format: x => num(x, 3) + '×', zero: true}});
  linePlot(efficiency, {series: series('efficiency'), xAxis, xLabel, yAxis: {format: x => num(100 * x, 3) + ' %', zero: true, most: 1.05}});
  dataTable(up, table('Speed-up'));
  dataTable(efficiency, table('Efficiency'));
}

// ---- the net and what it learned ----

function showNet() {
  if (!state.data.runs.some(r => r.layers)) return;
  const grid = section('net', 'The net', 'The warmer the colour of a layer, the more of the computation it takes.');
  const graph = state.data.runs.some(r => r.graph) && figure(grid, 'graph', {title: 'Graph'});
  const table = figure(grid, 'layers', {title: 'Layers', whole: !graph}), run = pickRun(table, r => r.layers);
  if (graph && run.graph) netGraph(graph, run);
  if (graph) dataTable(graph, () => ({name: 'graph', title: 'Connections', head: ['layer', 'type', 'bottoms', 'tops'], rows: run.layers.map(l => [l.name, l.type, l.bottoms.join(' '), l.tops.join(' ')])}));
  layerTable(table, run);
}

function showLearned() {
  if (!state.data.runs.some(r => r.filters || r.confusion)) return;
  const grid = section('learned', 'What it learned', 'From the newest snapshot.');
  const pictures = state.data.runs.some(r => r.filters) && figure(grid, 'filters', {title: 'First-layer filters'}), a = pictures && pickRun(pictures, r => r.filters);
  if (a) {
    pictures.node.querySelector('h3').textContent = `Filters of ${a.filters.layer}`;
    filterPictures(pictures, a.filters);
  }
  const matrix = state.data.runs.some(r => r.confusion) && figure(grid, 'confusion', {title: 'Confusion matrix', note: ' '}), b = matrix && pickRun(matrix, r => r.confusion);
  if (!b) return;
  matrix.node.querySelector('figcaption p').textContent = `${whole(b.confusion.images)} test images. Rows are true classes, columns what the net said.`;
  confusionMatrix(matrix, b.confusion);
}

// ---- how it was run ----

const facts = [['Net', h => h.net], ['Workers', h => h.workers], ['Lanes', h => h.lanes], ['Batch', h => h.batch], ['Iterations', h => h.max_iter], ['Seed', h => h.seed],
  ['Training images', h => h.epoch ? whole(h.epoch) : undefined], ['Program', h => h.program], ['Built with', h => (h.built_with || []).join(', ')], ['Host', h => h.host],
  ['System', h => h.os], ['CPU', h => h.cpu], ['Cores', h => h.cores], ['Memory', h => h.memory ? bytes(h.memory) : undefined], ['MPI', h => h.mpi],
  ['Directory', h => h.directory], ['Threads', h => Object.entries(h.threads || {}).map(e => e.join('=')).join(' ') || undefined]];

const quote = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

function showRun() {
  const runs = state.data.runs.filter(r => r.head);
  if (!runs.length) return;
  const grid = section('run', 'How it was run', 'Everything needed to run it again: firecaffe train --repeat with the run’s directory does so exactly.');
  const frame = figure(grid, 'facts', {title: several() ? 'Settings and machines' : 'Settings and machine', whole: true, note: several() ? 'What differs is marked.' : ''});
  const rows = facts.map(([name, get]) => [name, ...runs.map(r => get(headOf(r)))]).filter(row => row.slice(1).some(x => x !== undefined && x !== ''));
  const differs = row => new Set(row.slice(1).map(String)).size > 1;
  frame.body.replaceChildren(el('div', {class: 'scroll free', tabindex: 0, role: 'region', 'aria-label': 'Settings'}, el('table', {},
    several() ? el('thead', {}, el('tr', {}, ['', ...runs.map(r => r.name)].map(h => el('th', {scope: 'col', class: 'words'}, h)))) : null,
    el('tbody', {}, rows.map(row => el('tr', {}, el('th', {scope: 'row', class: 'words'}, row[0]), row.slice(1).map(x => el('td', {class: 'wrap' + (differs(row) ? ' differs' : '')}, x === undefined ? '' : String(x)))))))));
  dataTable(frame, () => ({name: 'settings', title: 'Settings', head: ['setting', ...runs.map(r => r.name)], rows}));
  showTexts(grid);
}

function showTexts(grid) {
  const frame = figure(grid, 'texts', {title: 'Command, solver, net', whole: true}), run = pickRun(frame, r => r.head), h = headOf(run);
  const kept = [...frame.body.querySelectorAll('details')].map(d => d.open);
  const fold = (title, text, k) => text ? el('details', {open: kept[k]}, el('summary', {}, title), el('div', {class: 'scroll'}, el('pre', {tabindex: 0}, text))) : null;
  frame.body.replaceChildren(el('pre', {class: 'command'}, (h.command || []).map(quote).join(' ')),
    ...[fold('Solver', h.solver, 0), fold('Net', h.model, 1)].filter(Boolean));
}

// ---- all of it ----

function render() {
  showTop();
  showControls();
  notes();
  if (!state.data.runs.length) return;
  showSummary();
  showCurves();
  showTimes();
  showScaling();
  showNet();
  showLearned();
  showRun();
}

function start() {
  startTheme();
  state.data = JSON.parse(byId('data').textContent);
  render();
  addEventListener('scroll', hideTip, {passive: true});
  if (state.data.live) listen();
}
