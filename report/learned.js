// learned.js - what training has made: filters of the first layer, mistakes.

/* filters: {layer, n, channels, height, width, pixels: base64 of n*height*width RGB}. */
function filterPictures(frame, filters) {
  const bytesOf = atob(filters.pixels), size = Math.max(2, Math.round((filters.n > 64 ? 44 : filters.n > 24 ? 62 : 88) / filters.width));
  const place = el('div', {class: 'filters', role: 'img', 'aria-label': `${filters.n} filters of ${filters.layer}, ${filters.height} by ${filters.width} each, as small pictures`});
  for (let k = 0, at = 0; k < filters.n; k++) {
    const canvas = el('canvas', {width: filters.width, height: filters.height, style: `width:${filters.width * size}px;height:${filters.height * size}px`});
    const pen = canvas.getContext('2d'), image = pen.createImageData(filters.width, filters.height);
    for (let i = 0; i < filters.width * filters.height; i++) {
      for (let c = 0; c < 3; c++) image.data[4 * i + c] = bytesOf.charCodeAt(at++);
      image.data[4 * i + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    place.append(canvas);
  }
  frame.body.replaceChildren(place);
  dataTable(frame, () => ({name: 'filters', title: 'Filters of ' + filters.layer, head: ['filter', 'row', 'column', 'red', 'green', 'blue'],
    rows: Array.from({length: filters.n * filters.height * filters.width}, (_, i) => [Math.floor(i / (filters.height * filters.width)),
      Math.floor(i / filters.width) % filters.height, i % filters.width, ...[0, 1, 2].map(c => bytesOf.charCodeAt(3 * i + c))])}));
}

/* confusion: {classes, images, counts: [classes * classes], row: true class}. */
function confusionMatrix(frame, confusion) {
  const n = confusion.classes, at = (i, j) => confusion.counts[i * n + j];
  const rowSum = i => { let s = 0; for (let j = 0; j < n; j++) s += at(i, j); return s; };
  const worst = Math.max(1e-9, ...Array.from({length: n * n}, (_, k) => Math.floor(k / n) === k % n ? 0 : confusion.counts[k] / (rowSum(Math.floor(k / n)) || 1)));
  if (n > 40) frame.body.replaceChildren(confusionList(confusion, at, rowSum));
  else frame.body.replaceChildren(el('div', {class: 'confusion', tabindex: 0, role: 'region', 'aria-label': 'Confusion matrix'}, el('table', {},
    el('caption', {class: 'unseen'}, 'Rows: true class; columns: predicted class'),
    el('thead', {}, el('tr', {}, el('th', {}, 'true \\ predicted'), Array.from({length: n}, (_, j) => el('th', {scope: 'col'}, String(j))))),
    el('tbody', {}, Array.from({length: n}, (_, i) => el('tr', {}, el('th', {scope: 'row'}, String(i)), Array.from({length: n}, (_, j) => {
      const share = at(i, j) / (rowSum(i) || 1), right = i === j;
      const strength = right ? 0.10 + 0.35 * share : 0.15 + 0.7 * Math.sqrt(share / worst);
      const color = at(i, j) === 0 ? 'transparent' : right ? `rgba(43, 138, 62, ${strength})` : `rgba(var(--heat), ${strength})`;
      return el('td', {class: at(i, j) === 0 ? 'zero' : '', style: `background: ${color}`, title: `${at(i, j)} of class ${i} taken for ${j} (${percent(share)})`}, String(at(i, j)));
    })))))));
  dataTable(frame, () => ({name: 'confusion', title: 'Confusion matrix', head: ['true', 'predicted', 'images'],
    rows: Array.from({length: n * n}, (_, k) => [Math.floor(k / n), k % n, confusion.counts[k]])}));
}

/* Many classes: the pairs that are mixed up most. */
function confusionList(confusion, at, rowSum) {
  const n = confusion.classes, pairs = [];
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) if (i !== j && at(i, j) > 0) pairs.push([i, j, at(i, j)]);
  pairs.sort((a, b) => b[2] - a[2]);
  return el('div', {class: 'scroll', tabindex: 0}, el('table', {}, el('thead', {}, el('tr', {}, ['True class', 'Taken for', 'Images', 'Share'].map(h => el('th', {scope: 'col'}, h)))),
    el('tbody', {}, pairs.slice(0, 100).map(([i, j, c]) => el('tr', {}, el('td', {}, String(i)), el('td', {}, String(j)), el('td', {}, whole(c)), el('td', {}, percent(c / rowSum(i))))))));
}
