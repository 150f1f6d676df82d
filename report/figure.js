// figure.js - the frame of every plot: title, controls, legend, data as table and CSV.
// Frames stay when data change, so that what a reader opened stays open.

/* A section of the page, made when first asked for; returns the grid for its
 * figures. */
function section(id, title, lead) {
  let node = byId(id);
  if (!node) {
    node = el('section', {id, 'aria-labelledby': id + '-title'}, el('h2', {id: id + '-title'}, title),
      el('p', {}), el('div', {class: 'grid'}));
    byId('report').append(node);
  }
  node.querySelector('p').textContent = lead || '';
  return node.querySelector('.grid');
}

/* A figure in a section. options: title, note, width ('whole', 'more' or 'less' than half).
 * Returns its parts. */
function figure(grid, id, options) {
  let node = byId(id);
  if (!node) {
    node = el('figure', {id, class: options.width},
      el('figcaption', {}, el('h3', {}), el('p', {hidden: true})),
      el('div', {class: 'body'}), el('div', {class: 'legend'}));
    grid.append(node);
  }
  node.querySelector('h3').textContent = options.title;
  const note = node.querySelector('figcaption p');
  note.hidden = !options.note;
  note.textContent = options.note || '';
  return {node, caption: node.querySelector('figcaption'), body: node.querySelector('.body'),
    legend: node.querySelector('.legend')};
}

/* A row of buttons of which one is pressed. choices: {value: label}. */
function segments(label, choices, chosen, pick) {
  return el('span', {class: 'segments', role: 'group', 'aria-label': label},
    Object.entries(choices).map(([value, text]) => el('button', {type: 'button',
      'aria-pressed': String(value === chosen), onclick: () => pick(value)}, text)));
}

/* A choice of one: buttons, or a list if their names need too much room. */
function chooser(label, choices, chosen, pick) {
  const names = Object.values(choices);
  if (names.length < 5 && names.join('').length + 3 * names.length < 30) return segments(label, choices, chosen, pick);
  return el('select', {class: 'quiet', 'aria-label': label, onchange: e => pick(e.target.value)},
    Object.entries(choices).map(([value, text]) => el('option', {value, selected: value === chosen}, text)));
}

/* Put a control into a figure's caption, or replace the one with this key. */
function control(frame, key, make) {
  const old = frame.caption.querySelector(`[data-key="${key}"]`);
  const fresh = make();
  fresh.dataset.key = key;
  if (old) old.replaceWith(fresh);
  else frame.caption.insertBefore(fresh, frame.caption.querySelector('p'));
}

function legendChip(name, mark, shown, toggle) {
  return el('button', {type: 'button', class: 'chip', 'aria-pressed': String(shown), onclick: toggle}, mark, name);
}

// ---- data ----

const MOST_ROWS = 300;

function csvCell(value) {
  const text = value === null || value === undefined || Number.isNaN(value) ? '' : String(value);
  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function download(name, table) {
  const text = [table.head, ...table.rows].map(row => row.map(csvCell).join(',')).join('\n') + '\n';
  const url = URL.createObjectURL(new Blob([text], {type: 'text/csv'}));
  el('a', {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/* Show a table; of more than MOST_ROWS rows only every n-th, the CSV file has all. */
function showTable(place, table) {
  const step = Math.max(1, Math.ceil(table.rows.length / MOST_ROWS));
  const rows = table.rows.filter((_, i) => i % step === 0 || i === table.rows.length - 1);
  const cell = x => typeof x === 'number' ? (Number.isInteger(x) ? whole(x) : num(x, 5)) : x === undefined ? '' : x;
  place.replaceChildren(
    el('div', {class: 'details-row'},
      el('button', {type: 'button', class: 'quiet', onclick: () => download(table.name + '.csv', table)}, 'Download CSV'),
      el('span', {}, step > 1 ? `every ${step}th of ${whole(table.rows.length)} rows is shown; the file has all`
        : plural(table.rows.length, 'row'))),
    el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Data of ' + table.title},
      el('table', {}, el('caption', {class: 'unseen'}, table.title),
        el('thead', {}, el('tr', {}, table.head.map(h => el('th', {scope: 'col'}, h)))),
        el('tbody', {}, rows.map(r => el('tr', {}, r.map(x => el('td', {}, cell(x)))))))));
}

/* The figure's numbers as a table, filled when the reader opens it. make() returns
 * {name, title, head, rows}. */
function dataTable(frame, make) {
  let details = frame.node.querySelector('details');
  if (!details) {
    details = el('details', {}, el('summary', {}, 'Data'), el('div', {}));
    frame.node.append(details);
    details.addEventListener('toggle', () => {
      if (details.open) showTable(details.lastChild, details.make());
    });
  }
  details.make = make;
  if (details.open) showTable(details.lastChild, make());
}
