// Starts the page: draws charts, and binds tables and buttons.

const data = JSON.parse(document.getElementById('data').textContent);
const charts = [];

/** How to build a chart, by the key of its place in the page; falsy if there is nothing to draw. */
function plan(key) {
  const { progress, views, parallel } = data;
  if (key.startsWith('parallel-')) return planParallel(key, parallel, progress);
  if (['rate', 'time', 'memory'].includes(key)) {
    const facts = progressCurve(key, progress);
    return facts.points.length > 1 && { build: (look) => curve(look, facts), linked: true };
  }
  const view = views[Number(key)];
  switch (view.view) {
    case 'map':
      return {
        build: (look, width, height, zoom, names, told) => plotMap(look, view, width, height, zoom, names, told),
        height: (width) => mapHeight(layMap(view.nodes), width),
        canvas: view.links.length > MANY_LINKS,
      };
    case 'grid':
      return {
        build: (look, width, height) => plotGrid(look, view, width, height),
        height: (width) => gridHeight(view, width),
        canvas: view.values.length > MANY_CELLS,
      };
    case 'histogram':
      return { build: (look, width) => plotHistogram(look, view, width) };
    case 'bars':
      return { build: (look, width) => plotBars(look, view, width), height: (width, look) => barsHeight(look, view, width) };
    default:
      return {
        build: (look, width) => plotLines(look, view, width),
        height: (width, look) => linesHeight(look, view, width),
        canvas: view.lines.some(([, points]) => points.length > 20000),
      };
  }
}

/** Redraws a chart with the current colours and width. The zoom of a map is kept. */
function draw(chart, { moved = false } = {}) {
  const { place, drawing, planned } = chart;
  const width = place.clientWidth;
  if (width === 0) return;
  if (planned.height) place.style.height = `${planned.height(width, theme())}px`;
  drawing.resize();
  const zooms = drawing.getOption()?.dataZoom ?? [];
  const zoom = (at) => [zooms[at]?.start ?? 0, zooms[at]?.end ?? 100];
  const told = (text) => (chart.status.textContent = text);
  const option = planned.build(theme(), width, place.clientHeight, { x: zoom(0), y: zoom(1) }, chart.names.value, told);
  // While a map is moved, only names and labels of axes change.
  const { series, xAxis, yAxis } = option;
  if (moved) drawing.setOption({ series, xAxis: { axisLabel: xAxis.axisLabel }, yAxis: { axisLabel: yAxis.axisLabel } });
  else drawing.setOption(option, true);
  chart.width = width;
}

function addChart(place) {
  const planned = plan(place.dataset.chart);
  if (!planned) {
    const sentence = document.createElement('p');
    sentence.className = 'empty';
    sentence.textContent = 'The samples hold too little to draw a curve.';
    place.replaceWith(sentence);
    return;
  }
  const drawing = echarts.init(place, null, { renderer: planned.canvas ? 'canvas' : 'svg' });
  if (planned.linked) drawing.group = 'progress';
  // Only maps have a choice of names, and say which are hidden.
  const [names, status] = [place.parentElement.querySelector('[data-names]'), place.parentElement.querySelector('[data-named]')];
  const chart = { place, drawing, planned, width: 0, names: names ?? {}, status: status ?? {} };
  names?.addEventListener('change', () => draw(chart));
  draw(chart);
  let pending = 0;
  drawing.on('datazoom', () => {
    clearTimeout(pending);
    pending = setTimeout(() => draw(chart, { moved: true }), 150);
  });
  charts.push(chart);
}

/** Zooms a map in or out about its middle, or back to the whole. */
function zoomMap(drawing, way) {
  const batch = drawing.getOption().dataZoom.map(({ start, end }, dataZoomIndex) => {
    const middle = (start + end) / 2;
    const half = Math.min(50, ((end - start) / 2) * (way === 'in' ? 0.625 : 1.6));
    const from = Math.min(Math.max(0, middle - half), 100 - 2 * half);
    return way === 'all' ? { dataZoomIndex, start: 0, end: 100 } : { dataZoomIndex, start: from, end: from + 2 * half };
  });
  drawing.dispatchAction({ type: 'dataZoom', batch });
}

function bindZoom(card) {
  const chart = charts.find((one) => card.contains(one.place));
  for (const button of card.querySelectorAll('[data-zoom]')) {
    button.addEventListener('click', () => {
      zoomMap(chart.drawing, button.dataset.zoom);
      draw(chart);
    });
  }
}

async function copy(button) {
  const source = document.getElementById(button.dataset.copy);
  let done = true;
  try {
    await navigator.clipboard.writeText(source.textContent);
  } catch {
    getSelection().selectAllChildren(source);
    done = document.execCommand('copy');
  }
  button.textContent = done ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => (button.textContent = 'Copy'), 2000);
}

/** For printing, unfolds everything and redraws charts with the colours and the width of paper. */
function bindPrinting() {
  const root = document.documentElement;
  let opened = [];
  addEventListener('beforeprint', () => {
    opened = [...document.querySelectorAll('details.fold:not([open])')];
    for (const fold of opened) fold.open = true;
    root.classList.add('paper');
    charts.forEach((chart) => draw(chart));
  });
  addEventListener('afterprint', () => {
    for (const fold of opened) fold.open = false;
    root.classList.remove('paper');
    charts.forEach((chart) => draw(chart));
  });
}

function start() {
  document.querySelectorAll('[data-chart]').forEach(addChart);
  echarts.connect('progress');
  document.querySelectorAll('[data-table]').forEach((box) => bindTable(box, data.tables[Number(box.dataset.table)]));
  document.querySelectorAll('section:has([data-zoom])').forEach(bindZoom);
  document.querySelectorAll('[data-copy]').forEach((button) => button.addEventListener('click', () => copy(button)));
  bindPrinting();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => charts.forEach((chart) => draw(chart)));
  const watcher = new ResizeObserver(() => requestAnimationFrame(() => charts.filter((chart) => chart.place.clientWidth !== chart.width).forEach((chart) => draw(chart))));
  for (const chart of charts) watcher.observe(chart.place);
  document.documentElement.dataset.ready = 'yes';
}

start();
