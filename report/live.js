// live.js - updates the page while a run continues. `firecaffe watch` sends an event when
// the log has grown, then the page fetches data.json. The browser reconnects by itself.

function listen() {
  const token = new URLSearchParams(location.search).get('token');
  const address = path => path + (token ? '?token=' + encodeURIComponent(token) : '');
  let busy = false, again = false;

  async function refresh() {
    if (busy) { again = true; return; }
    busy = true;
    try {
      const answer = await fetch(address('data.json'), {cache: 'no-store'});
      if (answer.ok) {
        state.data = await answer.json();
        render();
      }
    } catch (e) { /* the next event will try again */ }
    busy = false;
    if (again) { again = false; refresh(); }
  }

  const source = new EventSource(address('events'));
  source.addEventListener('news', refresh);
  source.addEventListener('open', () => { lost(false); refresh(); });
  source.addEventListener('error', () => lost(true));
}

/* Show or remove the note that the connection is lost. */
function lost(yes) {
  let note = byId('lost');
  if (yes && !note) {
    note = el('p', {id: 'lost', class: 'note', role: 'status'},
      'The connection to firecaffe watch is lost; trying again. What is shown is the last that came.');
    byId('report').prepend(note);
  } else if (!yes && note) {
    note.remove();
  }
}

start();
