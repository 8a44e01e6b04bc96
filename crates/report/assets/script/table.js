// Tables: sorting, filtering, and rows made only when they are asked for.

const FIRST_ROWS = 200;
/** Rows made in each frame, so that the page responds while thousands are made. */
const BATCH = 1000;

/** Binds sorting and filtering to the table in `box`. The page has its first rows already. */
function bindTable(box, { columns, rows }) {
  const body = box.querySelector('tbody');
  const heads = [...box.querySelectorAll('thead th')];
  const status = box.querySelector('output');
  const more = box.querySelector('.more');
  const state = { column: -1, down: false, words: [], all: false, pending: 0 };
  let haystacks = null;

  function chosen() {
    let found = rows.map((_, index) => index);
    if (state.words.length > 0) {
      haystacks ??= rows.map((row) => row.map((cell, at) => `${cell ?? ''} ${scalar(cell, columns[at].numeric)[0]}`).join('\n').toLowerCase());
      found = found.filter((index) => state.words.every((word) => haystacks[index].includes(word)));
    }
    if (state.column >= 0) found.sort(comparison(rows, state.column, columns[state.column].numeric, state.down));
    return found;
  }

  function append(found, from, to) {
    const fragment = document.createDocumentFragment();
    for (let at = from; at < Math.min(to, found.length); at += 1) {
      const line = fragment.appendChild(document.createElement('tr'));
      rows[found[at]].forEach((cell, column) => {
        const place = line.appendChild(document.createElement('td'));
        const [short, full] = scalar(cell, columns[column].numeric);
        place.textContent = short;
        if (full) place.title = full;
        if (columns[column].numeric) place.className = 'num';
      });
    }
    body.append(fragment);
    const ready = Math.min(to, found.length);
    if (ready < found.length && state.all) state.pending = requestAnimationFrame(() => append(found, ready, ready + BATCH));
  }

  function show() {
    cancelAnimationFrame(state.pending);
    const found = chosen();
    body.replaceChildren();
    append(found, 0, FIRST_ROWS);
    const total = `${grouped(String(rows.length))} ${rows.length === 1 ? 'row' : 'rows'}`;
    status.textContent = state.words.length > 0 ? `${grouped(String(found.length))} of ${total}` : total;
    if (more) {
      more.hidden = state.all || found.length <= FIRST_ROWS;
      more.querySelector('span').textContent = `The first ${FIRST_ROWS} of ${grouped(String(found.length))} rows.`;
      more.querySelector('button').textContent = `Show all ${grouped(String(found.length))} rows`;
    }
  }

  heads.forEach((head, column) => {
    head.querySelector('button').addEventListener('click', () => {
      state.down = state.column === column && !state.down;
      state.column = column;
      for (const other of heads) other.setAttribute('aria-sort', 'none');
      head.setAttribute('aria-sort', state.down ? 'descending' : 'ascending');
      show();
    });
  });
  box.querySelector('input').addEventListener('input', (event) => {
    state.words = event.target.value.toLowerCase().split(/\s+/).filter(Boolean);
    show();
  });
  more?.querySelector('button').addEventListener('click', () => {
    state.all = true;
    show();
    box.querySelector('.scroll').focus();
  });
}

/** Orders rows by a column, upwards or downwards. Missing cells come last; equal rows keep their order. */
function comparison(rows, column, numeric, down) {
  const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: 'base' });
  const key = rows.map((row) => {
    const cell = row[column];
    if (cell === null || cell === undefined) return null;
    return numeric ? Number(cell) : scalar(cell, false)[0];
  });
  const sign = down ? -1 : 1;
  return (one, other) => {
    const [left, right] = [key[one], key[other]];
    if (left === null || right === null) return (left === null) - (right === null) || one - other;
    const order = numeric ? left - right : collator.compare(left, right);
    return sign * order || one - other;
  };
}
