// Bars side by side: each shows the median of some values, and the values.

/** The median of some values; null of none. */
function median(values) {
  const sorted = values.filter(finite).sort((one, other) => one - other);
  if (sorted.length === 0) return null;
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.floor(sorted.length / 2)]) / 2;
}

const barNames = (view) => view.series.map(([name]) => name);

/** Bars lie on their side, so that names have room: each takes this much height. */
function barsHeight(look, view, width) {
  const each = view.series.length > 1 ? 15 : 40;
  const legend = view.series.length > 1 ? 22 * legendRows(look, barNames(view), width) : 0;
  return Math.max(view.groups.length * (view.series.length * each + 14), 90) + legend + 60;
}

function barsTip(view, index) {
  const facts = view.series.map(([name, groups]) => {
    const values = (groups[index] ?? []).filter(finite);
    const spread = values.length > 1 ? ` (${number(Math.min(...values))} – ${quantity(Math.max(...values), view.unit, 4)})` : '';
    return [view.series.length > 1 ? name : view.quantity, quantity(median(values) ?? NaN, view.unit, 4) + spread];
  });
  return tip(view.groups[index], facts);
}

/** Where a logarithmic axis and its bars begin: at a power of ten below all values, and below 1, so that a bar of 1 is seen. */
function decade(view) {
  const values = view.series.flatMap(([, groups]) => groups.flat()).filter((value) => finite(value) && value > 0);
  return 10 ** Math.floor(Math.log10(Math.min(0.9, ...values)));
}

function plotBars(look, view, width) {
  const several = view.series.length > 1;
  const marks = view.series.flatMap(([, groups]) => groups.flatMap((values, group) => values.filter(finite).map((value) => [value, group])));
  const scale = view.logarithmic ? { type: 'log', min: decade(view), startValue: decade(view) } : { min: 0 };
  const bytes = view.unit === 'B';
  return {
    animation: false,
    grid: { left: 4, right: 24, top: several ? 8 + 22 * legendRows(look, barNames(view), width) : 6, bottom: 4, outerBoundsMode: 'same' },
    legend: several ? legendOf(look, barNames(view), width) : { show: false },
    tooltip: tooltip(look, {
      trigger: 'axis',
      axisPointer: { type: 'shadow', shadowStyle: { color: look.muted, opacity: 0.12 } },
      formatter: (hits) => barsTip(view, hits[0].dataIndex),
    }),
    xAxis: across(look, {
      ...scale,
      name: view.unit && !bytes ? `${view.quantity} (${view.unit})` : view.quantity,
      splitNumber: Math.max(2, Math.round(width / 160)),
      splitLine: { show: true, lineStyle: { color: look.faint } },
      axisLabel: { formatter: (value) => tick(value, bytes ? view.unit : '') },
    }),
    yAxis: axis(look, {
      type: 'category',
      inverse: true,
      data: view.groups,
      axisLabel: { interval: 0, color: look.ink, fontSize: 12, lineHeight: 14, width: Math.min(170, width * 0.36), overflow: 'break' },
    }),
    series: [
      ...view.series.map(([name, groups], index) => ({
        type: 'bar',
        name,
        data: view.groups.map((_, group) => median(groups[group] ?? []) ?? '-'),
        barMaxWidth: 26,
        barGap: '12%',
        barCategoryGap: '30%',
        itemStyle: { color: look.lines[index % look.lines.length], borderRadius: [0, 3, 3, 0] },
      })),
      // Every value, where there are several for a bar.
      {
        type: 'scatter',
        name: 'every value',
        silent: true,
        data: !several && marks.length > view.groups.length ? marks : [],
        symbolSize: 9,
        itemStyle: { color: look.card, borderColor: look.ink, borderWidth: 1.5, opacity: 1 },
        z: 4,
      },
    ],
  };
}
