// runs.js - the state of the page: the data, the reader's choices, and functions to read both.

const state = {data: null, axis: 'iter', smooth: 0.8, hiddenRuns: new Set(), detail: 0};

const headOf = run => run.head || {};
/* Is it a training run, not a result of test, time, plan, sim or bench? */
const isTraining = run => !['test', 'time', 'plan', 'sim', 'bench'].includes(headOf(run).kind);
const batchOf = run => headOf(run).batch || 0;
const workersOf = run => headOf(run).workers || 1;
const hasEpochs = run => headOf(run).epoch > 0 && batchOf(run) > 0;
const epochOf = (run, iter) => hasEpochs(run) ? iter * batchOf(run) / headOf(run).epoch : NaN;

/* Images per second: the median, without the first value, which includes the
 * warm-up. */
const speedOf = run => median(run.speed.y.length > 4 ? run.speed.y.slice(1) : run.speed.y);

const accuracyLike = name => /acc|top-?\d|precision|recall|map\b/i.test(name);
const lossLike = name => /loss/i.test(name) && !accuracyLike(name);
const testCurves = run => run.curves.filter(c => c.net >= 0);

function bestAccuracy(run) {
  const all = testCurves(run).filter(c => accuracyLike(c.name)).flatMap(c => c.points.y.filter(isNumber));
  return all.length ? Math.max(...all) : NaN;
}

function finalLoss(run) {
  if (run.smoothed.y.length) return last(run.smoothed.y);
  return run.loss.y.length ? last(smoothed(run.loss.y, 0.9)) : NaN;
}

const several = () => state.data.runs.length > 1;
const shownRuns = () => state.data.runs.map((run, i) => ({run, i})).filter(r => !state.hiddenRuns.has(r.i));
const visibleRuns = () => shownRuns().filter(r => isTraining(r.run));

// ---- the horizontal axis ----

const axes = {iter: {label: 'iterations', kind: 'number'}, epoch: {label: 'epochs', kind: 'number'},
  time: {label: 'time', kind: 'time'}};
const xLabels = {iter: x => 'Iteration ' + whole(x), epoch: x => 'Epoch ' + num(x, 4),
  time: x => 'After ' + duration(x)};

function xsOf(run, points) {
  if (state.axis === 'time') return points.time;
  return state.axis === 'epoch' ? points.iter.map(i => epochOf(run, i)) : points.iter;
}

/* The horizontal axis of all plots over iterations: the same range, so that they can be
 * compared by eye. */
function xAxis(runs = visibleRuns().map(v => v.run)) {
  const ends = runs.flatMap(run => state.axis === 'time' ? [0, run.time]
    : [headOf(run).iter || 0, run.iter].map(iter => xOfIter(run, iter)));
  return {...axes[state.axis], range: [Math.min(...ends), Math.max(...ends)]};
}

function xOfIter(run, iter) {
  if (state.axis === 'iter') return iter;
  if (state.axis === 'epoch') return epochOf(run, iter);
  return run.loss.time[nearest(run.loss.iter, iter)] || 0;
}

/* For a figure that shows one run: the chosen one of those that can be shown, with a
 * chooser if there are several. */
function pickRun(frame, able) {
  const list = state.data.runs.map((run, i) => [i, run]).filter(([, run]) => able(run));
  if (list.length < 2) return list.length ? list[0][1] : null;
  if (!list.some(([i]) => i === state.detail)) state.detail = list[0][0];
  const names = Object.fromEntries(list.map(([i, run]) => [i, run.name]));
  control(frame, 'run', () => chooser('Run', names, String(state.detail), i => {
    state.detail = +i;
    render();
  }));
  return state.data.runs[state.detail];
}
