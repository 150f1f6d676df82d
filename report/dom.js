// dom.js - helpers for elements, formatted numbers, colours and the theme.

const SVG = 'http://www.w3.org/2000/svg';

/* el('p', {class: 'x', onclick: f}, 'text', child) makes an element; svg() makes an SVG
 * element. */
function build(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? '' : value);
  }
  node.append(...children.flat().filter(c => c !== null && c !== undefined && c !== false));
  return node;
}
const el = (tag, attributes, ...children) => build(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => build(document.createElementNS(SVG, tag), attributes, children);
const byId = id => document.getElementById(id);

/* Let a screen reader read a text. */
function say(text) {
  byId('say').textContent = text;
}

// ---- numbers ----

const isNumber = x => typeof x === 'number' && isFinite(x);

/* A number with about `digits` significant digits, grouped thousands and no trailing
 * zeros. */
function num(x, digits = 4) {
  if (!isNumber(x)) return '–';
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(Math.max(0, digits - 2));
  const decimals = size === 0 ? 0 : Math.max(0, digits - 1 - Math.floor(Math.log10(size)));
  return x.toLocaleString('en', {maximumFractionDigits: Math.min(decimals, 8)});
}
const percent = (x, digits = 2) => isNumber(x) ? (100 * x).toFixed(digits) + ' %' : '–';
const whole = x => isNumber(x) ? Math.round(x).toLocaleString('en') : '–';

function duration(seconds) {
  if (!isNumber(seconds)) return '–';
  if (seconds === 0) return '0 s';
  if (seconds < 1e-3) return num(seconds * 1e6, 3) + ' µs';
  if (seconds < 1) return num(seconds * 1e3, 3) + ' ms';
  if (seconds < 60) return num(seconds, 3) + ' s';
  const s = Math.round(seconds), two = n => String(n).padStart(2, '0');
  if (s < 3600) return `${Math.floor(s / 60)} min ${two(s % 60)} s`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ${two(Math.floor(s / 60) % 60)} min`;
  return `${Math.floor(s / 86400)} d ${Math.floor(s / 3600) % 24} h`;
}

function bytes(n) {
  if (!isNumber(n)) return '–';
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let i = 0;
  for (; n >= 1000 && i < units.length - 1; i++) n /= 1000;
  return num(n, 3) + ' ' + units[i];
}

function plural(n, one, many = one + 's') {
  return `${whole(n)} ${n === 1 ? one : many}`;
}

function median(values) {
  const v = values.filter(isNumber).sort((a, b) => a - b);
  return v.length ? (v[(v.length - 1) >> 1] + v[v.length >> 1]) / 2 : NaN;
}

const last = a => a[a.length - 1];
const unique = a => [...new Set(a)];

/* A Map from key(x) to the elements x of the list with this key. */
function groupBy(list, key) {
  const groups = new Map();
  for (const x of list) (groups.get(key(x)) || groups.set(key(x), []).get(key(x))).push(x);
  return groups;
}

// ---- colours ----

const runColor = i => `var(--c${i % 8})`;

function swatch(color, shape = 'line', dash = '') {
  const mark = shape === 'box'
    ? svg('rect', {x: 1, y: 2, width: 12, height: 10, rx: 3, fill: color})
    : svg('line', {x1: 0, y1: 7, x2: 14, y2: 7, stroke: color, 'stroke-width': 3, 'stroke-dasharray': dash});
  return svg('svg', {class: 'swatch', viewBox: '0 0 14 14', 'aria-hidden': 'true'}, mark);
}

// ---- light and dark ----

function startTheme() {
  const choices = ['auto', 'light', 'dark'], dark = matchMedia('(prefers-color-scheme: dark)');
  let choice = 'auto';
  try { choice = localStorage.getItem('firecaffe-theme') || 'auto'; } catch (e) { /* a file has no storage */ }
  const apply = () => {
    document.documentElement.dataset.theme = choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice;
    byId('theme').textContent = 'Theme: ' + choice;
  };
  byId('theme').addEventListener('click', () => {
    choice = choices[(choices.indexOf(choice) + 1) % choices.length];
    try { localStorage.setItem('firecaffe-theme', choice); } catch (e) { /* then until the page closes */ }
    apply();
  });
  dark.addEventListener('change', apply);
  apply();
}
