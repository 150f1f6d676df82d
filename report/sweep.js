// sweep.js - results by batch size and learning rate; the scores of `firecaffe test`.

/* The base learning rate of a run, read from the solver's text in its log. */
function baseRate(run) {
  const number = (name, other) => {
    const found = new RegExp(`^\\s*${name}:\\s*(\\S+)`, 'm').exec(headOf(run).solver || '');
    return found ? +found[1] : other;
  };
  return +(number('base_lr', NaN) * number('scale_lr', 1)).toPrecision(6);
}

/* Groups of runs of one net that differ in learning rate, one group per batch size. */
function sweepGroups() {
  const runs = visibleRuns().map(v => v.run).filter(r => isNumber(baseRate(r)) && headOf(r).net === headOf(state.data.runs[0]).net);
  return unique(runs.map(baseRate)).length < 2 ? [] : [...groupBy(runs, batchOf)].sort((a, b) => a[0] - b[0])
    .map(([batch, list]) => ({batch, list: list.sort((a, b) => baseRate(a) - baseRate(b))}));
}

function showSweep() {
  const groups = sweepGroups();
  byId('sweep')?.toggleAttribute('hidden', !groups.length);
  if (!groups.length) return;
  const grid = section('sweep', 'Batch sizes and learning rates', 'What each setting reached; a point is a run.');
  const rate = axisOf('learning rate', groups.flatMap(g => g.list.map(baseRate)), {format: x => num(x, 3)});
  rate.range = padDomain(rate.ticks[0], last(rate.ticks), rate.log);
  const plot = (id, title, get, yAxis) => {
    const series = groups.map((g, i) => ({name: 'batch ' + whole(g.batch), color: runColor(i), dots: true,
      x: g.list.map(baseRate), y: g.list.map(get)})).filter(s => s.y.some(isNumber));
    if (!series.length) return;
    const frame = figure(grid, id, {title});
    linePlot(frame, {series, xAxis: rate, xLabel: x => 'Learning rate ' + num(x, 3), yAxis});
    dataTable(frame, () => ({name: 'sweep', title, head: ['run', 'batch', 'learning_rate', 'iterations', 'seconds', 'loss', 'best_accuracy'],
      rows: groups.flatMap(g => g.list.map(r => [r.name, g.batch, baseRate(r), r.iter, r.time, finalLoss(r), bestAccuracy(r)]))}));
  };
  plot('sweep-accuracy', 'Best test accuracy', bestAccuracy, {format: x => num(100 * x, 4) + ' %', most: 1});
  plot('sweep-loss', 'Training loss at the end', finalLoss, {format: x => num(x, 3), canLog: true});
}

// ---- firecaffe test ----

function showScores() {
  const runs = state.data.runs.filter(r => headOf(r).kind === 'test' && r.curves.length);
  if (!runs.length) return;
  const frame = figure(section('scores', 'Scores', 'What firecaffe test found, as a mean over its batches.'), 'score',
    {title: 'Outputs of the net', width: 'whole'});
  const names = unique(runs.flatMap(r => r.curves.map(c => c.name)));
  const value = (run, name) => last(run.curves.find(c => c.name === name)?.points.y || []);
  const text = (run, name) => accuracyLike(name) ? percent(value(run, name)) : num(value(run, name), 5);
  frame.body.replaceChildren(el('div', {class: 'scroll free', tabindex: 0, role: 'region', 'aria-label': 'Scores'},
    el('table', {}, el('thead', {}, el('tr', {}, ['Run', ...names].map(h => el('th', {scope: 'col'}, h)))),
      el('tbody', {}, runs.map(r => el('tr', {}, el('th', {scope: 'row', class: 'words'}, r.name),
        names.map(n => el('td', {}, text(r, n)))))))));
  dataTable(frame, () => ({name: 'scores', title: 'Outputs of the net', head: ['run', ...names],
    rows: runs.map(r => [r.name, ...names.map(n => value(r, n))])}));
}
