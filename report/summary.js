// summary.js - the top of the page: title, controls, notes, key figures or a comparison of runs.

function stateWords(run) {
  return {done: 'finished', stopped: 'stopped early', failed: 'failed', running: 'running',
    killed: 'ended unexpectedly', unknown: 'unknown'}[run.state];
}

const pill = run => el('span', {class: 'pill ' + run.state}, stateWords(run));
const clock = unix => new Date(1000 * unix).toLocaleString();

function showTop() {
  const runs = state.data.runs, one = runs.length === 1 ? runs[0] : null;
  const kinds = {bench: 'Sums of gradients', plan: 'Plan', sim: 'Simulation', test: 'Test', time: 'Times'};
  const nets = unique(runs.map(r => headOf(r).net).filter(Boolean)).join(', ') || kinds[headOf(runs[0]).kind] || 'Training';
  const title = one ? nets : `${nets}: ${runs.length} runs`;
  document.title = title + ' – training report';
  byId('title').replaceChildren(title + ' ', ...(one ? [pill(one)] : []));
  byId('subtitle').textContent = one && one.head
    ? [one.name, isTraining(one) && `${plural(workersOf(one), 'worker')}, batch ${whole(batchOf(one))}`, one.head.host,
      isNumber(one.head.started) && 'started ' + clock(one.head.started)].filter(Boolean).join(' · ')
    : runs.map(r => r.name).join(' · ');
  byId('footer').textContent = [state.data.program, (state.data.live ? 'live, as of ' : 'made ') + clock(state.data.made),
    'this page needs no network'].join(' · ');
}

function showControls() {
  const runs = state.data.runs;
  const trainings = runs.filter(isTraining);
  const names = {iter: 'Iterations', ...(trainings.every(hasEpochs) ? {epoch: 'Epochs'} : {}), time: 'Time'};
  const axis = segments('Horizontal axis', names, state.axis, chosen => {
    state.axis = chosen;
    for (const c of choices.values()) c.zoom = null;
    render();
  });
  const slider = el('input', {type: 'range', min: 0, max: 0.99, step: 0.01, value: state.smooth, oninput: e => {
    state.smooth = +e.target.value;
    showCurves();
  }});
  const chips = runs.map((run, i) => legendChip(run.name, swatch(runColor(i)), !state.hiddenRuns.has(i), () => {
    if (!state.hiddenRuns.delete(i)) state.hiddenRuns.add(i);
    render();
  }));
  byId('controls').closest('nav').hidden = !trainings.length && !several();
  byId('controls').replaceChildren(...(trainings.length ? [el('span', {class: 'group'}, 'Against', axis),
    el('label', {class: 'group'}, 'Smoothing', slider)] : []), ...(several() ? [el('span', {class: 'group chips', role: 'group', 'aria-label': 'Runs'}, chips)] : []));
}

/* An element of the page, made when first asked for. */
function part(id) {
  if (!byId(id)) byId('report').append(el('div', {id}));
  return byId(id);
}

function showNotes() {
  const texts = state.data.runs.flatMap(run => [...run.notes,
    run.state === 'failed' && `${run.name} failed${run.message ? ': ' + run.message : '.'}`,
    run.state === 'killed' &&
      `${run.name} ended unexpectedly at iteration ${whole(run.iter)}: it was killed, or its machine was.`,
    run.restarts.length > 0 && `${run.name} was resumed at iteration ${run.restarts.map(whole).join(', ')}.`,
  ].filter(Boolean));
  part('notes').replaceChildren(...texts.map(text => el('p', {class: 'note', role: 'status'}, text)));
}

function showSummary() {
  const runs = state.data.runs.filter(isTraining);
  part('summary').replaceChildren(...(runs.length ? [several() ? comparison(runs) : keyFigures(runs[0])] : []));
}

// ---- one run: a few large numbers ----

function box(term, value, unit, under) {
  return el('div', {}, el('dt', {}, term), el('dd', {}, value, unit ? el('small', {}, ' ' + unit) : null),
    under ? el('dd', {}, under) : null);
}

function keyFigures(run) {
  const best = bestAccuracy(run), speed = speedOf(run), max = headOf(run).max_iter || 0;
  const left = run.state === 'running' && speed > 0 ? (max - run.iter) * batchOf(run) / speed : NaN;
  const share = max ? Math.min(1, run.iter / max) : 0;
  return el('div', {}, el('dl', {class: 'figures'},
    isNumber(best) ? box('Best accuracy', percent(best).replace(' %', ''), '%', 'on the test set') : null,
    box('Loss', num(finalLoss(run), 3), '', 'training, smoothed'),
    box('Speed', whole(speed), 'images/s', `${duration(batchOf(run) / speed)} per iteration`),
    box('Iterations', whole(run.iter), max ? 'of ' + whole(max) : '',
      hasEpochs(run) ? num(epochOf(run, run.iter), 3) + ' epochs' : ''),
    box('Time', duration(run.time), '', isNumber(left) ? `about ${duration(left)} left` : stateWords(run))),
  run.state !== 'running' ? null : el('div', {class: 'progress', role: 'progressbar', 'aria-label': 'Progress',
    'aria-valuenow': Math.round(100 * share)}, el('i', {style: `width:${100 * share}%`})));
}

// ---- several runs: a table, the best of a column marked ----

const columns = [
  {name: 'Workers', get: workersOf, show: whole},
  {name: 'Batch', get: batchOf, show: whole},
  {name: 'Iterations', get: run => run.iter, show: whole},
  {name: 'Epochs', get: run => epochOf(run, run.iter), show: x => num(x, 3)},
  {name: 'Time', get: run => run.time, show: duration},
  {name: 'Images/s', get: speedOf, show: whole, best: Math.max},
  {name: 'Loss', get: finalLoss, show: x => num(x, 3), best: Math.min},
  {name: 'Best accuracy', get: bestAccuracy, show: percent, best: Math.max},
];

function comparison(runs) {
  const best = columns.map(c => c.best ? c.best(...runs.map(c.get).filter(isNumber)) : NaN);
  const row = run => el('tr', {},
    el('th', {scope: 'row', class: 'words'}, swatch(runColor(state.data.runs.indexOf(run)), 'box'), ' ' + run.name),
    el('td', {class: 'words'}, pill(run)),
    columns.map((c, k) => el('td', {class: c.get(run) === best[k] ? 'differs' : ''}, c.show(c.get(run)))));
  return el('div', {class: 'scroll free card', tabindex: 0, role: 'region', 'aria-label': 'Runs compared'},
    el('table', {},
      el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Run'), el('th', {scope: 'col', class: 'words'}, 'State'),
        columns.map(c => el('th', {scope: 'col'}, c.name)))),
      el('tbody', {}, runs.map(row))));
}
