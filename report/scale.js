// scale.js - maps numbers to pixels, and chooses the ticks of an axis.

/* Round steps of 1, 2 or 5 times a power of ten, about `count` of them in [lo, hi], two at least. */
function linearTicks(lo, hi, count) {
  const rough = (hi - lo) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(m => m * power >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++) ticks.push(+(i * step).toPrecision(12));
  return ticks.length < 2 && count < 8 ? linearTicks(lo, hi, count + 1) : ticks;
}

/* Powers of ten; between them 2 and 5 where there is room. */
function logTicks(lo, hi) {
  const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi)), ticks = [];
  const inner = hi / lo < 150 ? [1, 2, 5] : [1], stride = Math.ceil((to - from) / 6);
  for (let e = from; e <= to; e += stride)
    for (const m of inner) {
      const x = +(m * 10 ** e).toPrecision(6);
      if (x >= lo * 0.999 && x <= hi * 1.001) ticks.push(x);
    }
  return ticks;
}

/* Ticks at whole seconds, minutes or hours. */
function timeTicks(lo, hi, count) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
  const rough = (hi - lo) / Math.max(1, count);
  if (rough < 1 || rough > 86400) return linearTicks(lo, hi, count);
  const step = steps.find(s => s >= rough) || 86400, ticks = [];
  for (let t = Math.ceil(lo / step) * step; t <= hi; t += step) ticks.push(t);
  return ticks;
}

function clockLabel(t) {
  if (t < 60) return num(t, 3) + ' s';
  const two = n => String(Math.floor(n)).padStart(2, '0');
  if (t < 3600) return `${Math.floor(t / 60)}:${two(t % 60)}`;
  if (t < 86400 * 2) return `${Math.floor(t / 3600)}:${two(t / 60 % 60)} h`;
  return num(t / 86400, 3) + ' d';
}

/* An axis with a tick at each of these numbers; logarithmic if they span more than a
 * factor of 8. */
function axisOf(label, numbers, extra) {
  const ticks = unique(numbers).sort((a, b) => a - b);
  return {label, kind: 'number', log: last(ticks) / ticks[0] > 8, ticks, ...extra};
}

/* A function that maps domain to range linearly, or by logarithm; .invert() maps
 * back. */
function scale(domain, range, log) {
  const f = log ? Math.log10 : x => x;
  const [a, b] = domain.map(f), [p, q] = range, k = (q - p) / (b - a || 1);
  const map = x => p + (f(x) - a) * k;
  map.invert = y => { const v = a + (y - p) / k; return log ? 10 ** v : v; };
  map.domain = domain;
  return map;
}

/* A range with a margin around the values; a single value gets a range around it. */
function padDomain(lo, hi, log) {
  if (!(lo <= hi)) return log ? [0.1, 1] : [0, 1];
  if (log) return lo === hi ? [lo / 2, hi * 2] : [lo / (hi / lo) ** 0.05, hi * (hi / lo) ** 0.05];
  const pad = (hi - lo) * 0.06 || Math.abs(hi) * 0.1 || 1;
  return [lo >= 0 && lo - pad < 0 ? 0 : lo - pad, hi + pad];
}

/* Index of the element of an ascending array nearest to x. */
function nearest(xs, x) {
  let lo = 0, hi = xs.length - 1;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (xs[mid] < x) lo = mid + 1;
    else hi = mid;
  }
  return lo > 0 && x - xs[lo - 1] <= xs[lo] - x ? lo - 1 : lo;
}
