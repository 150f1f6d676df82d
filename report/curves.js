// curves.js - loss, accuracy, learning rate and speed over the run; speed over workers.

/* A curve of run number i, ready for linePlot(). `what` names it among the curves of
 * the same run; with extra.only there is one per run, which has the run's name. */
function curve(run, i, what, points, extra) {
  const name = !several() ? what : extra.only ? run.name : `${run.name}, ${what}`;
  return {name, color: runColor(i), x: xsOf(run, points), y: points.y, lo: points.lo, hi: points.hi, run, points, ...extra};
}

/* The data table of curves: a row per point. */
function curveTable(title, series) {
  const row = (s, k) => [s.name, s.points.iter[k], hasEpochs(s.run) ? +epochOf(s.run, s.points.iter[k]).toFixed(4) : '',
    s.points.time[k], s.points.y[k], s.points.lo ? s.points.lo[k] : '', s.points.hi ? s.points.hi[k] : ''];
  return {name: title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-'), title,
    head: ['series', 'iteration', 'epoch', 'seconds', 'value', 'least', 'most'],
    rows: series.flatMap(s => s.points.iter.map((_, k) => row(s, k)))};
}

function curveFigure(grid, id, title, series, yAxis) {
  const frame = figure(grid, id, {title}), run = state.data.runs[0];
  const events = several() ? [] : run.restarts.map(iter => ({name: 'resumed', x: xOfIter(run, iter)}));
  linePlot(frame, {series, xAxis: xAxis(), xLabel: xLabels[state.axis], yAxis, events});
  dataTable(frame, () => curveTable(title, series));
}

const outputName = c => c.net > 0 ? `${c.name} (net ${c.net})` : c.name;

function lossSeries() {
  return visibleRuns().flatMap(({run, i}) => {
    const own = run.loss.y.length ? run.loss : run.smoothed;
    const tests = testCurves(run).filter(c => lossLike(c.name));
    return [curve(run, i, 'training', own, {smooth: own === run.loss ? state.smooth : 0}),
      ...tests.map((c, k) => curve(run, i, 'test ' + outputName(c), c.points,
        {dash: '6 4', dots: true, color: several() ? runColor(i) : runColor(1 + k)}))];
  });
}

function testSeries(wanted) {
  return visibleRuns().flatMap(({run, i}) => {
    const list = testCurves(run).filter(c => wanted(c.name));
    return list.map((c, k) => curve(run, i, outputName(c), c.points, {dots: true, only: list.length === 1,
      color: several() ? runColor(i) : runColor(k), dash: several() && k > 0 ? '6 4' : ''}));
  });
}

/* Did the loss fall by more than a factor of 12? Then its axis is logarithmic at
 * first. */
function fellFar(series) {
  const means = series.flatMap(s => smoothed(s.y, 0.9)).filter(y => isNumber(y) && y > 0);
  return means.length > 1 && Math.max(...means) / Math.min(...means) > 12;
}

const zooming = 'Drag across a plot to look closer, double-click to go back.';

function showCurves() {
  if (!state.data.runs.some(isTraining)) return;
  const grid = section('learning', 'Learning', several()
    ? 'The same measure of all runs in one plot. A name in a legend hides its curve. ' + zooming
    : 'How loss and accuracy went. The pale band holds every single iteration. ' + zooming);
  const each = (what, key, extra) => visibleRuns().map(({run, i}) => curve(run, i, what, run[key], {only: true, ...extra}));
  const loss = lossSeries(), accuracy = testSeries(accuracyLike);
  const other = testSeries(name => !accuracyLike(name) && !lossLike(name));

  curveFigure(grid, 'loss', 'Loss', loss, {format: x => num(x, 3), canLog: true, log: fellFar(loss)});
  if (accuracy.length)
    curveFigure(grid, 'accuracy', 'Test accuracy', accuracy, {format: x => num(100 * x, 4) + ' %', most: 1});
  if (other.length) curveFigure(grid, 'outputs', 'Other test outputs', other, {format: x => num(x, 3)});
  curveFigure(grid, 'lr', 'Learning rate', each('learning rate', 'lr', {lo: null, hi: null}),
    {format: x => num(x, 3), canLog: true, zero: true});
  curveFigure(grid, 'speed', 'Images per second', each('images/s', 'speed', {smooth: state.smooth / 2}),
    {format: whole, zero: true});
}

// ---- scaling ----

/* Groups of runs of the same net: the fastest run for each number of workers, with
 * speed-up and efficiency relative to the fewest workers. */
function scalingGroups() {
  const runs = visibleRuns().map(v => v.run).filter(r => isNumber(speedOf(r)));
  const fastest = list => list.reduce((a, b) => speedOf(b) > speedOf(a) ? b : a);
  return [...groupBy(runs, r => headOf(r).net || 'net')].map(([net, all]) => {
    const list = [...groupBy(all, workersOf).values()].map(fastest).sort((a, b) => workersOf(a) - workersOf(b));
    const one = speedOf(list[0]) / workersOf(list[0]);
    return {net, list, x: list.map(workersOf), speedup: list.map(r => speedOf(r) / one),
      efficiency: list.map(r => speedOf(r) / one / workersOf(r))};
  }).filter(g => g.list.length > 1);
}

function showScaling() {
  const groups = scalingGroups();
  byId('scaling')?.toggleAttribute('hidden', !groups.length);
  if (!groups.length) return;
  const grid = section('scaling', 'Scaling',
    'Speed with more workers, measured against the run with the fewest. The dashed line is the ideal.');
  const workers = axisOf('workers', groups.flatMap(g => g.x)), {ticks} = workers;
  const series = key => groups.map((g, i) => ({name: g.net, color: runColor(i), x: g.x, y: g[key], dots: true}));
  const plot = (id, title, lines, format) => {
    const frame = figure(grid, id, {title});
    linePlot(frame, {series: lines, xAxis: workers, xLabel: x => plural(x, 'worker'), yAxis: {format, zero: true}});
    dataTable(frame, () => ({name: 'scaling', title,
      head: ['net', 'workers', 'batch', 'images_per_s', 'speed_up', 'efficiency'],
      rows: groups.flatMap(g => g.list.map((r, k) =>
        [g.net, workersOf(r), batchOf(r), speedOf(r), g.speedup[k], g.efficiency[k]]))}));
  };
  plot('speedup', 'Speed-up', [...series('speedup'), idealLine(ticks, ticks)], x => num(x, 3) + '×');
  plot('efficiency', 'Efficiency', [...series('efficiency'), idealLine(ticks, ticks.map(() => 1))], x => num(100 * x, 3) + ' %');
}
