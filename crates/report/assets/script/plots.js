// Curves: the progress of the run, and the lines of a model.

/** One curve over wall time, filled down to zero. */
function curve(look, { name, unit, points, step }) {
  return {
    animation: false,
    grid: { left: 4, right: 14, top: 14, bottom: 4, outerBoundsMode: 'same' },
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: cursor(look),
      formatter: ([at]) => tip(`${quantity(at.value[0], 's', 4)} of wall time`, [[name, quantity(at.value[1], unit, 4)]]),
    }),
    xAxis: across(look, { max: points.at(-1)[0], splitNumber: 3, axisLabel: { formatter: (value) => tick(value, 's'), showMaxLabel: false } }),
    yAxis: upwards(look, { min: 0, splitNumber: 3, axisLabel: { formatter: (value) => tick(value, unit === 'B' ? unit : '') } }),
    series: [
      {
        type: 'line',
        name,
        data: points,
        step,
        showSymbol: false,
        symbolSize: 7,
        sampling: 'lttb',
        lineStyle: { color: look.accent, width: 2 },
        itemStyle: { color: look.accent },
        areaStyle: { color: look.accent, opacity: 0.12 },
        emphasis: { disabled: false, lineStyle: { width: 2 } },
      },
    ],
  };
}

/** One of the curves of the progress of the run. */
function progressCurve(key, samples) {
  const known = samples.filter((sample) => finite(sample.wall_seconds));
  if (key === 'time') {
    const points = known.filter((sample) => finite(sample.virtual_time)).map((sample) => [sample.wall_seconds, sample.virtual_time]);
    return { name: 'virtual time', unit: '', points };
  }
  if (key === 'memory') {
    const points = known.filter((sample) => finite(sample.rss_bytes)).map((sample) => [sample.wall_seconds, sample.rss_bytes]);
    return { name: 'memory', unit: 'B', points };
  }
  // The rate between two samples is drawn as a step.
  const points = [];
  for (let at = 1; at < known.length; at += 1) {
    const [before, after] = [known[at - 1], known[at]];
    const seconds = after.wall_seconds - before.wall_seconds;
    if (!(seconds > 0)) continue;
    const rate = (after.committed_events - before.committed_events) / seconds;
    if (points.length === 0) points.push([before.wall_seconds, rate]);
    points.push([after.wall_seconds, rate]);
  }
  return { name: 'event rate', unit: 'events/s', points, step: 'start' };
}

/** A name that fits into a legend. */
const cut = (name) => (name.length > 36 ? `${name.slice(0, 35)}…` : name);

/** How many rows the names of the lines fill. */
function legendRows(look, names, width) {
  let [rows, used] = [1, 0];
  for (const name of names) {
    const size = echarts.format.getTextRect(cut(name), `12px ${look.font}`).width + 16 + 5 + 18;
    if (used > 0 && used + size > width) [rows, used] = [rows + 1, 0];
    used += size;
  }
  return rows;
}

/** Names that would fill more rows than this are paged. */
const LEGEND_ROWS = 10;

/** The height of a chart with room for its lines and their names. */
function linesHeight(look, view, width) {
  const rows = legendRows(look, view.lines.map(([name]) => name), width);
  return (width < 500 ? 285 : width < 700 ? 315 : 360) + 22 * ((rows > LEGEND_ROWS ? 1 : rows) - 1);
}

/** The axis of percentages near 100: four quarters, so that it ends at 100 and not at 120. */
function quarters(title, lines) {
  const values = lines.flatMap(([, points]) => points.map(([, y]) => y)).filter(finite);
  const whole = title.endsWith('(%)') && values.every((value) => value >= 0 && value <= 100) && values.some((value) => value > 80);
  return whole ? { min: 0, max: 100, interval: 25 } : {};
}

/** The places of lines that are few and grow by factors, such as numbers of cores; null otherwise. */
function factors(lines) {
  const places = [...new Set(lines.flatMap(([, points]) => points.map(([x]) => x)))].sort((one, other) => one - other);
  const grow = places.every((x, at) => x > 0 && (at === 0 || x >= 1.5 * places[at - 1]));
  return grow && places.length >= 3 && places.length <= 24 && places.at(-1) >= 8 * places[0] ? places : null;
}

/** The scales of lines: logarithmic over places that grow by factors, and for values that grow along with them. */
function scales(lines, title) {
  const places = factors(lines);
  if (!places) return { x: {}, y: {} };
  const values = lines.flatMap(([, points]) => points.map(([, y]) => y)).filter(finite);
  const wide = values.every((value) => value > 0) && Math.max(...values) >= 8 * Math.min(...values) && !title.endsWith('(%)');
  const log = { type: 'log', logBase: places.at(-1) > 1000 * places[0] ? 10 : 2, splitLine: { show: false } };
  return { x: { ...log, min: places[0], max: places.at(-1) }, y: wide ? { type: 'log', logBase: 2 } : {} };
}

/** The lines of a model over a common axis. */
function plotLines(look, view, width) {
  const lines = view.lines.map(([name, points]) => [name, points.filter(([x]) => finite(x))]);
  const colour = (index) => look.lines[index % look.lines.length];
  const dash = (index) => ['solid', 'dashed', 'dotted'][Math.floor(index / look.lines.length) % 3];
  const several = lines.length > 1;
  const rows = several ? legendRows(look, lines.map(([name]) => name), width) : 0;
  const paged = rows > LEGEND_ROWS;
  const scale = scales(lines, view.y);
  const marked = (points) => points.length === 1 || Boolean(scale.x.type);
  return {
    animation: false,
    color: look.lines,
    grid: { left: 4, right: 16, top: 6 + 22 * (paged ? 1 : rows), bottom: 4, outerBoundsMode: 'same' },
    legend: {
      show: several,
      type: paged ? 'scroll' : 'plain',
      top: 0,
      left: 0,
      right: 0,
      formatter: cut,
      icon: 'roundRect',
      itemWidth: 16,
      itemHeight: 4,
      itemGap: 14,
      textStyle: { color: look.ink, fontSize: 12, fontFamily: look.font },
      inactiveColor: look.faint,
      pageIconColor: look.ink,
      pageIconInactiveColor: look.faint,
      pageTextStyle: { color: look.muted },
      data: lines.map(([name]) => ({ name })),
    },
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: cursor(look),
      formatter: (hits) => tip(`${view.x} ${number(hits[0].value[0])}`, hits.map((hit) => [hit.seriesName, number(hit.value[1]), hit.color])),
    }),
    xAxis: across(look, { name: view.x, nameTruncate: { maxWidth: width - 60 }, scale: true, ...scale.x, axisLabel: { formatter: (value) => tick(value, '') } }),
    yAxis: upwards(look, { name: view.y, nameTruncate: { maxWidth: width - 90 }, scale: true, ...quarters(view.y, lines), ...scale.y, axisLabel: { formatter: (value) => tick(value, '') } }),
    series: lines.map(([name, points], index) => ({
      type: 'line',
      name,
      data: points,
      showSymbol: marked(points),
      symbolSize: 7,
      sampling: 'lttb',
      lineStyle: { color: colour(index), width: 2, type: dash(index) },
      itemStyle: { color: colour(index) },
    })),
  };
}
