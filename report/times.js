// times.js - the phases of an iteration: for each run, each worker, over time.

const PHASES = [['data', 'waiting for data'], ['forward', 'forward'], ['backward', 'backward'],
  ['exposed', 'exposed communication'], ['update', 'update']];
const PARTS = [...PHASES, ['other', 'other']];

/* Seconds of an iteration that belong to no phase. */
const otherOf = (seconds, of) => Math.max(0, seconds - PHASES.reduce((sum, [p]) => sum + of(p), 0));
const withOther = t => ({...t, other: otherOf(t.seconds, p => t[p])});

/* Seconds of an iteration and its phases, mean over workers. */
function meanTimes(run) {
  const mean = {};
  for (const key of ['seconds', 'hidden', 'bytes', ...PHASES.map(p => p[0])])
    mean[key] = run.worker.reduce((sum, w) => sum + w[key], 0) / run.worker.length;
  return withOther(mean);
}

function showTimes() {
  const able = r => r.times && r.worker.length > 0, runs = state.data.runs.filter(able);
  if (!runs.length) return;
  const grid = section('time', 'Where the time goes',
    'An iteration cut into its phases. Exposed communication is time in which a worker could only wait for ' +
    'others; hidden communication ran beside computation and cost nothing.');
  const over = figure(grid, 'phases', {title: 'Time per iteration'});
  const run = pickRun(over, able);
  showPhases(over, run);
  const rows = several() ? runs.map(r => [r.name, meanTimes(r)]) : run.worker.map((w, i) => ['worker ' + i, withOther(w)]);
  showBars(figure(grid, 'workers', {title: several() ? 'Phases of each run' : 'Phases of each worker'}), rows);
  showCommunication(grid, rows);
  showTimeline(grid);
}

function showPhases(frame, run) {
  const t = run.times, columnOf = name => name !== 'other' ? t[name] : t.seconds.map((s, i) => otherOf(s, p => t[p][i]));
  const parts = PARTS.map(([key, name]) => ({name, color: `var(--${key})`, y: columnOf(key)}));
  stackedArea(frame, {x: xsOf(run, t), parts: parts.filter(p => Math.max(...p.y) > 0), format: duration,
    xAxis: xAxis([run]), xLabel: xLabels[state.axis]});
  dataTable(frame, () => ({name: 'phases', title: 'Time per iteration',
    head: ['iteration', 'seconds', ...PHASES.map(p => p[0]), 'hidden', 'bytes'],
    rows: t.iter.map((iter, i) => [iter, t.seconds[i], ...PHASES.map(([p]) => t[p][i]), t.hidden[i], t.bytes[i]])}));
}

function showBars(frame, rows) {
  const parts = w => PARTS.map(([key, name]) => ({name, color: `var(--${key})`, value: w[key]}));
  stackedBars(frame, {format: duration, rows: rows.map(([name, w]) => ({name, parts: parts(w)}))});
  dataTable(frame, () => ({name: 'workers', title: 'Phases',
    head: [several() ? 'run' : 'worker', 'seconds', ...PARTS.map(p => p[0]), 'hidden', 'bytes'],
    rows: rows.map(([name, w]) => [name, w.seconds, ...PARTS.map(([p]) => w[p]), w.hidden, w.bytes])}));
}

function showCommunication(grid, all) {
  const rows = all.filter(([, w]) => w.bytes > 0 || w.exposed > 0);
  if (!rows.length) return;
  const frame = figure(grid, 'communication', {title: 'Communication', width: 'whole',
    note: 'Per iteration: what was hidden behind computation, what was not, and how much was sent.'});
  stackedBars(frame, {format: duration, rows: rows.map(([name, w]) => ({name, label: bytes(w.bytes), parts: [
    {name: 'exposed', color: 'var(--exposed)', value: w.exposed},
    {name: 'hidden', color: 'var(--hidden)', value: w.hidden}]}))});
  dataTable(frame, () => ({name: 'communication', title: 'Communication', head: ['name', 'exposed_s', 'hidden_s', 'bytes'],
    rows: rows.map(([name, w]) => [name, w.exposed, w.hidden, w.bytes])}));
}

function showTimeline(grid) {
  if (!state.data.runs.some(r => r.timeline)) return;
  const frame = figure(grid, 'timeline', {title: 'Timeline of an iteration', width: 'whole'});
  const run = pickRun(frame, r => r.timeline);
  frame.node.querySelector('h3').textContent = `Timeline of iteration ${whole(run.timeline.iter)}`;
  timelinePlot(frame, run);
  dataTable(frame, () => ({name: 'timeline', title: 'Timeline', head: ['worker', 'work', 'name', 'begin_s', 'seconds'],
    rows: run.timeline.workers.flatMap((list, w) => list.map(s => [w, ...s]))}));
}
