// Parallel execution: where the time of the PEs went, what they undid, and how that changed.

/** How to build a chart of a parallel run; falsy if there is nothing to draw. */
function planParallel(key, parallel, progress) {
  switch (key) {
    case 'parallel-phases':
      return { build: (look, width) => plotPhases(look, parallel, width), height: (width, look) => phasesHeight(look, parallel, width) };
    case 'parallel-pes':
      return { build: (look, width) => plotPes(look, parallel, width) };
    case 'parallel-lengths':
      return { build: (look, width) => plotLengths(look, parallel.lengths, width) };
    default: {
      const curves = key === 'parallel-gvt' ? gvtCurves(progress) : windowCurves(progress, parallel);
      return curves[0].points.length + curves[1].points.length > 1 && { build: (look, width) => plotTwo(look, curves, width), linked: true };
    }
  }
}

/** Colours of the phases, as indices of the colours of lines: executing is the accent, undoing red, not working grey. */
const PHASE_COLOURS = [2, 3, 0, 5, 1, 4, 6, 7, 7];
const IDLE = 7;

const pesNamed = (bar) => (bar.pes > 1 ? `PEs ${bar.name}, mean` : /^\d/.test(bar.name) ? `PE ${bar.name}` : bar.name);

/** A legend above a chart. */
function legendOf(look, names, width) {
  return {
    top: 0,
    left: 0,
    right: 0,
    icon: 'roundRect',
    itemWidth: 12,
    itemHeight: 8,
    itemGap: 14,
    textStyle: { color: look.ink, fontSize: 12, fontFamily: look.font },
    inactiveColor: look.faint,
    data: names.map((name) => ({ name })),
    width: width - 4,
  };
}

/** The height of one bar with its gap. The more bars, the thinner they are. */
const barRoom = (count) => (count <= 8 ? 34 : count <= 16 ? 25 : count <= 32 ? 17 : 12);

function phasesHeight(look, { bars, phases }, width) {
  return Math.max(barRoom(bars.length) * bars.length, 48) + 22 * legendRows(look, phases, width) + 56;
}

function plotPhases(look, { bars, phases }, width) {
  const total = (bar) => bar.seconds.reduce((sum, seconds) => sum + seconds, 0);
  return {
    animation: false,
    grid: { left: 4, right: 18, top: 8 + 22 * legendRows(look, phases, width), bottom: 4, outerBoundsMode: 'same' },
    legend: legendOf(look, phases, width),
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { color: look.muted, opacity: 0.12 } },
      formatter: (hits) => {
        const bar = bars[hits[0].dataIndex];
        const facts = hits.map((hit) => {
          const share = total(bar) > 0 ? (100 * hit.value) / total(bar) : 0;
          return [hit.seriesName, `${quantity(hit.value, 's')} · ${share.toFixed(1)} %`, hit.color];
        });
        return tip(pesNamed(bar), facts);
      },
    }),
    xAxis: across(look, {
      name: 'wall time',
      max: Math.max(...bars.map(total)) || 1,
      splitLine: { show: true, lineStyle: { color: look.faint } },
      axisLabel: { formatter: (value) => tick(value, 's'), showMaxLabel: false },
    }),
    yAxis: axis(look, { type: 'category', inverse: true, data: bars.map((bar) => pesNamed(bar).replace(', mean', '')), axisLabel: { interval: 'auto' } }),
    series: phases.map((name, phase) => ({
      type: 'bar',
      name,
      stack: 'phases',
      data: bars.map((bar) => bar.seconds[phase]),
      barCategoryGap: bars.length > 32 ? '18%' : '28%',
      barMaxWidth: 26,
      itemStyle: { color: look.lines[PHASE_COLOURS[phase]], opacity: phase === IDLE ? 0.4 : 1 },
      emphasis: { disabled: true },
    })),
  };
}

/** Events of every PE as stacked bars, with its rollbacks as points. */
function plotPes(look, { bars }, width) {
  const rollbacks = bars.map((bar) => bar.primary + bar.secondary);
  const several = Math.max(...rollbacks) > 0;
  const names = ['committed', 'undone', ...(several ? ['rollbacks (right axis)'] : [])];
  const [red, mark] = [look.lines[1], look.ink];
  const bar = (name, value, color) => ({
    type: 'bar',
    name,
    stack: 'events',
    data: bars.map(value),
    barCategoryGap: bars.length > 24 ? '18%' : '30%',
    barMaxWidth: 42,
    itemStyle: { color },
    emphasis: { disabled: true },
  });
  const points = {
    type: 'scatter',
    name: names[2],
    yAxisIndex: 1,
    data: rollbacks,
    symbol: 'diamond',
    symbolSize: bars.length > 24 ? 7 : 10,
    itemStyle: { color: mark, borderColor: look.card, borderWidth: 1 },
    z: 5,
  };
  return {
    animation: false,
    grid: { left: 4, right: 6, top: 10 + 22 * legendRows(look, names, width), bottom: 4, outerBoundsMode: 'same' },
    legend: { ...legendOf(look, names, width), data: names.map((name, at) => ({ name, icon: at === 2 ? 'diamond' : 'roundRect' })) },
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { color: look.muted, opacity: 0.12 } },
      formatter: ([{ dataIndex }]) => {
        const { committed, undone, primary, secondary } = bars[dataIndex];
        return tip(pesNamed(bars[dataIndex]), [
          ['committed events', number(committed), look.accent],
          ['undone events', number(undone), red],
          ['primary rollbacks', number(primary)],
          ['secondary rollbacks', number(secondary)],
        ]);
      },
    }),
    xAxis: across(look, { type: 'category', name: 'PE', data: bars.map(({ name }) => name) }),
    yAxis: [
      upwards(look, { min: 0, axisLabel: { formatter: (value) => tick(value, '') } }),
      upwards(look, { show: several, min: 0, minInterval: 1, splitLine: { show: false }, axisLabel: { formatter: (value) => tick(value, '') } }),
    ],
    series: [bar('committed', ({ committed }) => committed, look.accent), bar('undone', ({ undone }) => undone, red), ...(several ? [points] : [])],
  };
}

/** Whether all values are above zero and span more than two decades. */
function spansDecades(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  return values.length > 0 && low > 0 && high / low > 100;
}

/** Rollbacks that undid 1, 2–3, 4–7, … events. */
function plotLengths(look, lengths, width) {
  const total = lengths.reduce((sum, count) => sum + count, 0);
  const log = spansDecades(lengths.filter((count) => count > 0));
  const range = (power) => (power === 0 ? '1' : `${grouped(String(2 ** power))}–${grouped(String(2 ** (power + 1) - 1))}`);
  const from = (power) => tick(2 ** power, '');
  const widest = (label) => Math.max(...lengths.map((_, power) => echarts.format.getTextRect(label(power), `11px ${look.font}`).width));
  const fits = (label) => (widest(label) + 6) * lengths.length < width - 60;
  const roomy = fits(range);
  return {
    animation: false,
    grid: { left: 4, right: 8, top: 2, bottom: 4, outerBoundsMode: 'same' },
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: ({ dataIndex }) =>
        tip(`${range(dataIndex)} ${dataIndex === 0 ? 'event' : 'events'} undone`, [
          ['rollbacks', grouped(String(lengths[dataIndex]))],
          ['share', `${number((100 * lengths[dataIndex]) / total, 3)} %`],
        ]),
    }),
    xAxis: across(look, {
      type: 'category',
      name: roomy ? 'events undone' : 'events undone, from',
      data: lengths.map((_, power) => (roomy ? range(power) : from(power))),
      axisLabel: { interval: roomy || fits(from) ? 0 : 'auto' },
    }),
    yAxis: upwards(look, {
      type: log ? 'log' : 'value',
      name: 'rollbacks',
      min: log ? 0.5 : 0,
      minInterval: log ? undefined : 1,
      axisLabel: { formatter: (value) => (value < 1 && value > 0 ? '' : tick(value, '')) },
    }),
    series: [lengthBars(look, lengths)],
  };
}

/** Bars that begin at the axis, even if that is logarithmic. */
function lengthBars(look, lengths) {
  return {
    type: 'custom',
    data: lengths.map((count, power) => [power, count]),
    renderItem: ({ coordSys }, api) => {
      const count = api.value(1);
      const wide = api.size([1, 0])[0];
      const width = Math.min(wide * 0.78, 60);
      const bottom = coordSys.y + coordSys.height;
      const [middle, top] = api.coord([api.value(0), Math.max(count, 1)]);
      // At least one pixel, so that no bar is overlooked.
      const tall = count > 0 ? Math.max(bottom - top, 1) : 0;
      const round = Math.min(3, width / 3, tall);
      return {
        type: 'group',
        children: [
          { type: 'rect', shape: { x: middle - wide / 2, y: coordSys.y, width: wide, height: coordSys.height }, style: { fill: 'rgba(0,0,0,0)' } },
          { type: 'rect', shape: { x: middle - width / 2, y: bottom - tall, width, height: tall, r: [round, round, 0, 0] }, style: { fill: look.accent } },
        ],
      };
    },
  };
}

const speculating = (progress) => progress.filter((sample) => finite(sample.wall_seconds) && sample.speculation);

/** A step for each sample and the next: `figure` computes its value from both. */
function between(samples, figure) {
  const points = [];
  for (let at = 1; at < samples.length; at += 1) {
    const [before, after] = [samples[at - 1], samples[at]];
    const value = figure(before.speculation, after.speculation, after.wall_seconds - before.wall_seconds);
    if (!finite(value)) continue;
    if (points.length === 0) points.push([before.wall_seconds, value]);
    points.push([after.wall_seconds, value]);
  }
  return points;
}

const shareOf = (value) => `${number(100 * value, 4)} %`;

function windowCurves(progress, { time_unit: unit, end_time: end }) {
  const samples = speculating(progress);
  const kept = (before, after) => {
    const executed = after.processed_events - before.processed_events;
    const undone = after.rolled_back_events - before.rolled_back_events;
    return executed > 0 ? Math.min(Math.max(1 - undone / executed, 0), 1) : NaN;
  };
  // A window ends at the end of the run.
  const reach = ({ window }) => (finite(end) && finite(window) ? Math.min(window, end) : window);
  const points = samples.map((sample) => [sample.wall_seconds, reach(sample.speculation)]).filter(([, window]) => finite(window));
  const say = (value) => quantity(value, unit);
  return [
    { name: 'efficiency', points: between(samples, kept), step: 'start', say: shareOf, label: (value) => `${number(100 * value, 3)} %`, max: 1 },
    { name: 'window', points, say, label: (value) => tick(value, unit) },
  ];
}

function gvtCurves(progress) {
  const samples = speculating(progress);
  const rate = (before, after, seconds) => (seconds > 0 ? (after.gvt_epochs - before.gvt_epochs) / seconds : NaN);
  const points = samples.map((sample) => [sample.wall_seconds, sample.speculation.mailbox_depth]).filter(([, depth]) => finite(depth));
  const label = (value) => tick(value, '');
  return [
    { name: 'GVT per second', points: between(samples, rate), step: 'start', say: (value) => number(value, 3), label },
    { name: 'messages waiting', points, say: (value) => number(value, 3), label },
  ];
}

/** Two curves over wall time, each with an axis of its own in its colour. */
function plotTwo(look, curves, width) {
  const colours = [look.accent, look.lines[3]];
  const shown = curves.map((one, at) => ({ ...one, at, title: `${one.name} (${['left', 'right'][at]})` })).filter(({ points }) => points.length > 0);
  const names = shown.map(({ title }) => title);
  const end = Math.max(...shown.map(({ points }) => points.at(-1)[0]));
  const upright = ({ points, label, max }, at) => {
    const log = spansDecades(points.map(([, value]) => value));
    return upwards(look, {
      show: points.length > 0,
      type: log ? 'log' : 'value',
      position: ['left', 'right'][at],
      min: log ? null : 0,
      max,
      interval: max ? max / 4 : undefined,
      splitLine: { show: at === 0, lineStyle: { color: look.faint } },
      axisLabel: { color: colours[at], formatter: label },
    });
  };
  return {
    animation: false,
    grid: { left: 4, right: 4, top: 12 + 22 * legendRows(look, names, width), bottom: 4, outerBoundsMode: 'same' },
    legend: { ...legendOf(look, names, width), itemWidth: 16, itemHeight: 4 },
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: cursor(look),
      formatter: (hits) =>
        tip(`${quantity(hits[0].value[0], 's', 4)} of wall time`, hits.map((hit) => [shown[hit.seriesIndex].name, shown[hit.seriesIndex].say(hit.value[1]), hit.color])),
    }),
    xAxis: across(look, { max: end, splitNumber: 4, axisLabel: { formatter: (value) => tick(value, 's'), showMaxLabel: false } }),
    yAxis: curves.map(upright),
    series: shown.map(({ at, title, points, step }) => ({
      type: 'line',
      name: title,
      yAxisIndex: at,
      data: points,
      step,
      showSymbol: false,
      symbolSize: 7,
      sampling: 'lttb',
      lineStyle: { color: colours[at], width: 2, type: at === 0 ? 'solid' : [6, 3] },
      itemStyle: { color: colours[at] },
    })),
  };
}
