// Cells in rows and columns, each coloured by a value.

/** With more cells than this, a grid is drawn on a canvas. */
const MANY_CELLS = 2000;

const gridRows = (view) => Math.ceil(view.values.length / view.columns);

/** The height of a grid whose cells are square and fill the width. */
function gridHeight(view, width) {
  const cell = Math.min(28, (width - 40) / view.columns);
  return Math.max(160, cell * gridRows(view)) + LEGEND + 16;
}

/** The range of the colour scale: that of the values, from 0 if none is negative. */
function gridRange(view) {
  const values = view.values.filter(finite);
  const low = values.reduce((one, other) => Math.min(one, other), 0);
  const high = values.reduce((one, other) => Math.max(one, other), -Infinity);
  return low < high ? [low, high] : [low, low + 1];
}

function gridTip(view, [column, row, value], colour) {
  const said = finite(value) ? quantity(value, view.unit, 4) : 'none';
  return tip(`Row ${row + 1}, column ${column + 1}`, [[view.value_name, said, colour]]);
}

function plotGrid(look, view, width, height) {
  const rows = gridRows(view);
  const side = Math.min((width - 16) / view.columns, (height - LEGEND - 16) / rows);
  const margin = (width - side * view.columns) / 2;
  const places = (count) => Array.from({ length: count }, (_, place) => place + 1);
  return {
    animation: false,
    grid: { left: margin, right: margin, top: 8, height: side * rows, outerBoundsMode: 'none' },
    xAxis: { type: 'category', data: places(view.columns), show: false },
    yAxis: { type: 'category', data: places(rows), inverse: true, show: false },
    visualMap: legend(look, view, width, gridRange(view)),
    title: legendTitle(look, view, width),
    tooltip: tooltip(look, { trigger: 'item', formatter: (hit) => gridTip(view, hit.value, hit.color) }),
    series: [
      {
        type: 'heatmap',
        data: view.values.map((value, cell) => [cell % view.columns, Math.floor(cell / view.columns), finite(value) ? value : '-']),
        itemStyle: { borderColor: look.card, borderWidth: side > 6 ? 1 : 0 },
        emphasis: { itemStyle: { borderColor: look.ink, borderWidth: 1.5 } },
      },
    ],
  };
}
