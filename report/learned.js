// learned.js - what a snapshot has learned: filters of the first layer, confused classes.

const range = n => Array.from({length: n}, (_, i) => i);

/* Draw filters. filters: {layer, n, height, width, pixels}; pixels are base64 of (n,
 * height, width, 3) bytes, red first. */
function filterPictures(frame, filters) {
  const {n, height, width} = filters, rgb = atob(filters.pixels), plane = height * width;
  const target = n > 64 ? 44 : n > 24 ? 62 : 88, size = Math.max(2, Math.round(target / width));
  const picture = k => {
    const canvas = el('canvas', {width, height, style: `width:${width * size}px;height:${height * size}px`});
    const pen = canvas.getContext('2d'), image = pen.createImageData(width, height);
    for (let i = 0; i < plane; i++) {
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = rgb.charCodeAt(3 * (k * plane + i) + c);
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    return canvas;
  };
  frame.body.replaceChildren(el('div', {class: 'filters', role: 'img',
    'aria-label': `${n} filters of ${filters.layer}, ${height} by ${width} pixels each`}, range(n).map(picture)));
  dataTable(frame, () => ({name: 'filters', title: 'Filters of ' + filters.layer,
    head: ['filter', 'row', 'column', 'red', 'green', 'blue'],
    rows: range(n * plane).map(i => [Math.floor(i / plane), Math.floor(i / width) % height, i % width,
      ...[0, 1, 2].map(c => rgb.charCodeAt(3 * i + c))])}));
}

/* Show a confusion matrix. confusion: {classes, images, counts}; counts[true class *
 * classes + predicted class]. */
function confusionMatrix(frame, confusion) {
  const n = confusion.classes, at = (i, j) => confusion.counts[i * n + j];
  const sums = range(n).map(i => range(n).reduce((sum, j) => sum + at(i, j), 0) || 1);
  const share = (i, j) => at(i, j) / sums[i];
  frame.body.replaceChildren(n > 40 ? confusionList(n, at, share) : confusionTable(n, at, share));
  dataTable(frame, () => ({name: 'confusion', title: 'Confusion matrix', head: ['true', 'predicted', 'images'],
    rows: range(n * n).map(k => [Math.floor(k / n), k % n, confusion.counts[k]])}));
}

function confusionTable(n, at, share) {
  const wrong = range(n).flatMap(i => range(n).filter(j => j !== i).map(j => share(i, j))), worst = Math.max(1e-9, ...wrong);
  const color = (i, j) => i === j ? `rgba(43, 138, 62, ${0.1 + 0.35 * share(i, j)})`
    : `rgba(var(--heat), ${0.15 + 0.7 * Math.sqrt(share(i, j) / worst)})`;
  const cell = (i, j) => el('td', {class: at(i, j) === 0 ? 'zero' : '',
    style: at(i, j) === 0 ? undefined : `background: ${color(i, j)}`,
    title: `${at(i, j)} of class ${i} taken for ${j} (${percent(share(i, j))})`}, String(at(i, j)));
  return el('div', {class: 'confusion', tabindex: 0, role: 'region', 'aria-label': 'Confusion matrix'}, el('table', {},
    el('caption', {class: 'unseen'}, 'Rows: true class; columns: predicted class'),
    el('thead', {}, el('tr', {}, el('th', {}, 'true \\ said'), range(n).map(j => el('th', {scope: 'col'}, String(j))))),
    el('tbody', {}, range(n).map(i => el('tr', {}, el('th', {scope: 'row'}, String(i)), range(n).map(j => cell(i, j)))))));
}

/* More than 40 classes: a list of the pairs that are confused most. */
function confusionList(n, at, share) {
  const pairs = range(n).flatMap(i => range(n).filter(j => j !== i && at(i, j) > 0).map(j => [i, j]));
  pairs.sort((a, b) => at(...b) - at(...a));
  const row = ([i, j]) => el('tr', {}, [i, j, whole(at(i, j)), percent(share(i, j))].map(x => el('td', {}, String(x))));
  return el('div', {class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Classes most mixed up'}, el('table', {},
    el('thead', {}, el('tr', {}, ['True class', 'Taken for', 'Images', 'Share'].map(h => el('th', {scope: 'col'}, h)))),
    el('tbody', {}, pairs.slice(0, 100).map(row))));
}
