// results.js - results of firecaffe plan, the simulator and benchmarks: steps on many workers,
// and collectives.

const resultsOf = type => shownRuns().flatMap(({run}) => run.results.filter(r => r.type === type).map(r => ({...r, run: run.name})));

/* Group results by the given keys. A group's name has only the keys that differ. */
function families(rows, keys) {
  const differing = keys.filter(k => unique(rows.map(r => r[k])).length > 1);
  const word = (k, v) => ({batch: `batch ${whole(v)}`, batch_each: `${whole(v)} a worker`, overlap: `overlap ${v}`}[k] ?? v);
  const nameOf = r => differing.map(k => r[k] === undefined ? '' : word(k, r[k])).filter(Boolean).join(' · ') || r[keys[0]];
  return [...groupBy(rows, nameOf)].map(([name, list]) => ({name, list}));
}

/* Groups of steps. If the batch grows with the number of workers, the batch per worker
 * is the setting. */
function stepFamilies() {
  const rows = resultsOf('step'), least = list => Math.min(...list.map(r => r.batch));
  const grows = unique([...groupBy(rows, r => r.workers).values()].map(least)).length > 1;
  const keyed = rows.map(r => grows ? {...r, batch_each: r.batch / r.workers} : r);
  const list = families(keyed.filter(r => r.workers > 1), ['comm', 'net', grows ? 'batch_each' : 'batch', 'overlap', 'machine', 'run']);
  return list.map(f => ({...f, list: f.list.sort((a, b) => a.workers - b.workers)}));
}

const stepColumns = [['net', 'net'], ['machine', 'machine'], ['comm', 'comm'], ['overlap', 'overlap'], ['batch', 'batch'],
  ['workers', 'workers'], ['step_s', 'step_s'], ['speedup', 'speedup'], ['efficiency', 'efficiency'],
  ['baseline_samples_per_s', 'baseline_samples_per_s'],
  ['compute_s', 'compute_s'], ['exposed_s', 'exposed_s'], ['hidden_s', 'hidden_s'], ['update_s', 'update_s'],
  ['bytes', 'wire_bytes'], ['memory', 'memory_bytes'], ['run', 'run']];

function stepTable(title, rows) {
  const used = stepColumns.filter(([k]) => rows.some(r => r[k] !== undefined && r[k] !== ''));
  return {name: 'steps', title, head: used.map(c => c[1]), rows: rows.map(r => used.map(([k]) => r[k] ?? ''))};
}

/* The note that tells what speed-up and efficiency are relative to. */
function baselineNote(rows) {
  const rates = unique(rows.map(r => r.baseline_samples_per_s));
  if (rates.length > 1) return 'Counted from different rates of one worker: see the data table.';
  return isNumber(rates[0]) ? `Counted from ${num(rates[0])} samples/s, given for one worker.` : 'Counted from one worker.';
}

function showSteps() {
  const found = stepFamilies(), rows = resultsOf('step');
  byId('steps')?.toggleAttribute('hidden', !found.length);
  if (!found.length) return;
  const grid = section('steps', 'Steps on many workers',
    'Predicted by firecaffe plan or simulated, not measured. A name in a legend hides its curve.');
  const workers = axisOf('workers', rows.map(r => r.workers)), {ticks} = workers;
  const plot = (id, title, get, format, extra = [], yAxis = {}, note = '') => {
    const series = found.map((f, i) => ({name: f.name, color: runColor(i), dash: i < 8 ? '' : '5 3', dots: true,
      x: f.list.map(r => r.workers), y: f.list.map(get)}));
    const able = series.filter(s => s.y.some(isNumber));
    if (!able.length) return;
    const frame = figure(grid, id, {title, note});
    linePlot(frame, {series: [...able, ...extra], xAxis: workers, xLabel: x => plural(x, 'worker'), yAxis: {format, zero: true, ...yAxis}});
    dataTable(frame, () => stepTable(title, rows));
  };
  plot('step-speedup', 'Speed-up', r => r.speedup, x => num(x, 3) + '×', [idealLine(ticks, ticks)], {canLog: true, log: workers.log},
    baselineNote(rows));
  plot('step-efficiency', 'Efficiency', r => r.efficiency, x => num(100 * x, 3) + ' %', [idealLine(ticks, ticks.map(() => 1))], {most: 1},
    baselineNote(rows));
  plot('step-time', 'Time of a step', r => r.step_s, duration, [], {canLog: true, log: true});
  plot('step-exposed', 'Waiting for gradients', r => r.exposed_s, duration, [], {canLog: true});
  showSplit(grid, found);
  plot('step-bytes', 'Bytes that a worker sends in a step', r => r.bytes, bytes, [], {canLog: true});
  plot('step-memory', 'Memory of a worker', r => r.memory, bytes, [], {canLog: true});
}

/* Computation and communication by number of workers, as in the FireCaffe paper's
 * supplement. */
function showSplit(grid, found) {
  const able = found.filter(f => f.list.some(r => isNumber(r.compute_s)));
  if (!able.length) return;
  const frame = figure(grid, 'step-split', {title: 'Where a step goes', width: 'whole', note: ' '}), choice = choiceOf('step-split');
  const most = Math.max(...able.map(f => last(f.list).workers)), end = f => f.list.find(r => r.workers === most)?.step_s ?? Infinity;
  const chosen = able.find(f => f.name === choice.family) || able.reduce((a, b) => end(b) < end(a) ? b : a);
  const names = Object.fromEntries(able.map(f => [f.name, f.name]));
  if (able.length > 1)
    control(frame, 'family', () => chooser('Setting', names, chosen.name, name => { choice.family = name; render(); }));
  frame.node.querySelector('figcaption p').textContent =
    `${chosen.name}: hidden communication runs beside computing and is not part of the step.`;
  const part = (name, color, value) => ({name, color: `var(--${color})`, value: value || 0});
  stackedBars(frame, {format: duration, rows: chosen.list.map(r => ({name: plural(r.workers, 'worker'), label: duration(r.step_s),
    parts: [part('computing', 'forward', r.compute_s), part('exposed communication', 'exposed', r.exposed_s),
      part('update', 'update', r.update_s)]}))});
  dataTable(frame, () => stepTable('Where a step goes', chosen.list));
}

function showSums() {
  const rows = resultsOf('allreduce'), found = families(rows, ['algo', 'workers', 'run']);
  byId('sums')?.toggleAttribute('hidden', !found.length);
  if (!found.length) return;
  const grid = section('sums', 'Sums of gradients', 'Measured: the median time of the slowest worker, and what a link carried.');
  const size = axisOf('bytes', rows.map(r => r.bytes), {format: bytes});
  const plot = (id, title, get, format, yAxis) => {
    const frame = figure(grid, id, {title});
    linePlot(frame, {xAxis: size, xLabel: bytes, yAxis: {format, canLog: true, ...yAxis}, series: found.map((f, i) => {
      const list = f.list.sort((a, b) => a.bytes - b.bytes);
      return {name: f.name, color: runColor(i), dash: i < 8 ? '' : '5 3', dots: true, x: list.map(r => r.bytes), y: list.map(get)};
    })});
    dataTable(frame, () => ({name: 'sums', title, head: ['algorithm', 'workers', 'bytes', 'seconds', 'best_s', 'bus_bytes_per_s', 'x_library'],
      rows: rows.map(r => [r.algo, r.workers, r.bytes, r.seconds, r.best, r.bus, r.library])}));
  };
  plot('sum-time', 'Time of a sum', r => r.seconds, duration, {log: true});
  plot('sum-rate', 'Rate of a link', r => r.bus, x => bytes(x) + '/s', {zero: true});
}
