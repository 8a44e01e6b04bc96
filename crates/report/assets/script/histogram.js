// Histograms: every bar covers its range, and its area stands for its count.

/** How the bars are laid out: which axis, and whether their heights are counts or densities. */
function histogramLayout(bars) {
  const even = (sizes) => Math.max(...sizes) <= 1.1 * Math.min(...sizes);
  const low = Math.min(...bars.map((bar) => bar.low));
  const high = Math.max(...bars.map((bar) => bar.high));
  const widths = bars.map((bar) => bar.high - bar.low);
  // On a logarithmic axis a first bar from zero is drawn as long as the one beside it.
  const fromZero = bars.length > 1 && bars[0].low === 0 && bars[1].low > 0;
  const least = fromZero ? bars[1].low : low;
  const log = !even(widths) && least > 0 && high / least > 100;
  if (!log) return { log, fromZero: false, low, high, begin: (bar) => bar.low, density: even(widths) ? null : (bar) => bar.count / (bar.high - bar.low) };
  const second = fromZero ? bars[1].high / bars[1].low : 1;
  const begin = (bar) => (bar.low > 0 ? bar.low : bar.high / second);
  const decades = (bar) => Math.log10(bar.high / begin(bar));
  return { log, fromZero, low: begin(bars[0]), high, begin, density: even(bars.map(decades)) ? null : (bar) => bar.count / decades(bar) };
}

/** The height of a row of labels above the bars. */
const MARK_ROW = 17;

function plotHistogram(look, view, width) {
  const bars = view.bars.filter((bar) => finite(bar.low) && finite(bar.high) && bar.high > bar.low);
  const layout = histogramLayout(bars);
  const height = (bar) => (layout.density ? layout.density(bar) : bar.count);
  const marks = view.marks.filter(([, value]) => finite(value) && (!layout.log || value > 0));
  const low = Math.min(layout.low, ...marks.map(([, value]) => value));
  const high = Math.max(layout.high, ...marks.map(([, value]) => value));
  const placed = placeMarks(look, marks, view.unit, layout, [low, high], width);
  const rows = Math.max(-1, ...placed.map((mark) => mark.row)) + 1;
  const perUnit = layout.log ? 'factor of 10' : view.unit || 'unit';
  const labelled = PREFIXABLE.includes(view.unit) || !view.unit ? view.quantity : `${view.quantity} (${view.unit})`;
  const name = layout.fromZero ? `${labelled}; the first bar begins at 0` : labelled;
  const total = bars.reduce((sum, bar) => sum + bar.count, 0);
  return {
    animation: false,
    grid: { left: 4, right: 18, top: 2, bottom: 4, outerBoundsMode: 'same' },
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: (hit) => barTip(bars[hit.dataIndex], view, total),
    }),
    xAxis: across(look, {
      type: layout.log ? 'log' : 'value',
      name,
      nameTruncate: { maxWidth: width - 60 },
      min: low,
      max: high,
      minorTick: { show: layout.log, lineStyle: { color: look.faint } },
      axisLabel: { formatter: (value) => tick(value, view.unit), showMinLabel: layout.log ? false : null, showMaxLabel: layout.log ? false : null },
    }),
    yAxis: upwards(look, {
      name: layout.density ? `${view.counted} per ${perUnit}` : view.counted,
      nameTruncate: { maxWidth: width - 90 },
      nameGap: 10 + MARK_ROW * rows,
      min: 0,
      minInterval: layout.density ? undefined : 1,
      axisLabel: { formatter: (value) => tick(value, '') },
    }),
    series: [barSeries(look, bars, layout, height), ...markSeries(look, placed)],
  };
}

function barTip(bar, view, total) {
  const range = `${quantity(bar.low, view.unit, 4)} to ${quantity(bar.high, view.unit, 4)}`;
  return tip(range, [
    [view.counted, grouped(String(bar.count))],
    ['share', `${number((100 * bar.count) / total, 3)} %`],
  ]);
}

function barSeries(look, bars, layout, height) {
  return {
    type: 'custom',
    data: bars.map((bar) => [layout.begin(bar), bar.high, height(bar)]),
    encode: { x: [0, 1], y: 2 },
    z: 2,
    renderItem: (params, api) => {
      const [left, top] = api.coord([api.value(0), api.value(2)]);
      const [right, bottom] = api.coord([api.value(1), 0]);
      const gap = right - left > 5 ? 1 : right - left > 2.5 ? 0.5 : 0;
      const width = Math.max(right - left - gap, 0.5);
      const round = Math.min(3, width / 3, bottom - top);
      // At least one pixel, so that no bar is overlooked.
      const tall = api.value(2) > 0 ? Math.max(bottom - top, 1) : 0;
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: left, y: params.coordSys.y, width: right - left, height: params.coordSys.height }, style: { fill: 'rgba(0,0,0,0)' } },
          { type: 'rect', shape: { x: left, y: bottom - tall, width, height: tall, r: [round, round, 0, 0] }, style: { fill: look.accent } },
        ],
      };
    },
  };
}

/** Gives every mark a row for its label above the bars, so that no two labels overlap. `width` is that of the chart. */
function placeMarks(look, marks, unit, layout, range, width) {
  const full = stackMarks(look, marks, (name, value) => `${name}  ${quantity(value, unit)}`, layout, range, width);
  const crowded = full.some((mark) => mark.flip || mark.row > 1);
  // The text above the chart also has the values.
  return crowded ? stackMarks(look, marks, (name) => name, layout, range, width) : full;
}

function stackMarks(look, marks, say, layout, [low, high], width) {
  const scale = layout.log ? Math.log : (value) => value;
  const [left, right] = [46, width - 18];
  const font = `600 11px ${look.font}`;
  const placed = [];
  for (const [name, value] of [...marks].sort((one, other) => other[1] - one[1])) {
    const text = say(name, value);
    const size = echarts.format.getTextRect(text, font).width + 10;
    const x = left + ((right - left) * (scale(value) - scale(low))) / (scale(high) - scale(low));
    const flip = x + size > width;
    const [from, to] = flip ? [x - size, x] : [x, x + size];
    const below = placed.filter((other) => other.from < to && from < other.to).map((other) => other.row);
    placed.push({ value, text, font, flip, from, to, row: Math.max(-1, ...below) + 1 });
  }
  return placed;
}

/** Vertical lines with their labels on top. */
function markSeries(look, placed) {
  const series = (z, draw) => ({
    type: 'custom',
    data: placed.map((mark) => [mark.value, 0]),
    silent: true,
    tooltip: { show: false },
    z,
    renderItem: (params, api) => {
      const mark = placed[params.dataIndex];
      const [x, bottom] = api.coord([mark.value, 0]);
      return draw(mark, x, params.coordSys.y - 14 - MARK_ROW * mark.row, bottom);
    },
  });
  const line = (mark, x, y, bottom) => ({
    type: 'line',
    shape: { x1: x, x2: x, y1: y - 6, y2: bottom },
    style: { stroke: look.mark, lineWidth: 1.5 },
  });
  const label = ({ text, font, flip }, x, y) => ({
    type: 'text',
    x: flip ? x - 3 : x + 3,
    y,
    style: { text, font, fill: look.mark, backgroundColor: look.card, padding: [1, 2], align: flip ? 'right' : 'left', verticalAlign: 'middle' },
  });
  return [series(3, line), series(4, label)];
}
