// Maps: nodes at their places, links as bent lines coloured by a value.

/** More links than this are drawn without arrows, and on a canvas. */
const MANY_LINKS = 1500;

/** Where the nodes lie: longitudes made continuous across the date line, and the shape of a degree. */
function layMap(nodes) {
  const sorted = nodes.map((node) => node.longitude).sort((one, other) => one - other);
  // The widest gap between neighbours is where the world is cut open.
  let [cut, widest] = [-Infinity, sorted[0] + 360 - sorted.at(-1)];
  for (let at = 1; at < sorted.length; at += 1) {
    if (sorted[at] - sorted[at - 1] > Math.max(widest, 180)) [cut, widest] = [sorted[at], sorted[at] - sorted[at - 1]];
  }
  const places = nodes.map((node) => [node.longitude < cut ? node.longitude + 360 : node.longitude, node.latitude]);
  const mean = nodes.reduce((sum, node) => sum + node.latitude, 0) / nodes.length;
  // A degree of longitude is this much shorter than one of latitude.
  const squeeze = Math.max(0.1, Math.cos((mean * Math.PI) / 180));
  const range = (axis) => [Math.min(...places.map((place) => place[axis])), Math.max(...places.map((place) => place[axis]))];
  return { places, squeeze, x: range(0), y: range(1) };
}

/** The height that suits a map of this width. */
function mapHeight(laid, width) {
  const ratio = ((laid.y[1] - laid.y[0]) * 1.2 + 0.5) / ((laid.x[1] - laid.x[0]) * laid.squeeze * 1.2 + 0.5);
  return Math.round(Math.min(Math.max(width * ratio, 300), 620, Math.max(width * 1.15, 300))) + LEGEND;
}

/** The room of the legend below the map. */
const LEGEND = 64;

/** Ranges of both axes that show all nodes with some air around and keep the shape. */
function mapRanges(laid, width, height) {
  const [wide, high] = [Math.max(width, 1), Math.max(height - LEGEND, 1)];
  const middle = (range) => (range[0] + range[1]) / 2;
  const air = Math.min(0.3, 70 / wide);
  const spanX = Math.max((laid.x[1] - laid.x[0]) * laid.squeeze * (1 + 2 * air), 0.2);
  const spanY = Math.max((laid.y[1] - laid.y[0]) * (1 + 2 * Math.min(0.3, 50 / high)), 0.2);
  const perPixel = Math.max(spanX / wide, spanY / high);
  const [halfX, halfY] = [(perPixel * wide) / laid.squeeze / 2, (perPixel * high) / 2];
  return { x: [middle(laid.x) - halfX, middle(laid.x) + halfX], y: [middle(laid.y) - halfY, middle(laid.y) + halfY] };
}

const degrees = (value, positive, negative) => {
  const turned = ((((value + 180) % 360) + 360) % 360) - 180;
  const shown = positive === 'E' ? turned : value;
  return `${number(Math.abs(Number(shown.toPrecision(6))), 6)}°${shown === 0 ? '' : shown > 0 ? positive : negative}`;
};

/** The range of the colour scale; what the model says if it makes sense, or else what the links have. */
function colourRange(view) {
  if (finite(view.low) && finite(view.high) && view.low < view.high) return [view.low, view.high];
  const values = view.links.map((link) => link.value).filter(finite);
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1];
  return low < high ? [low, high] : [low - 0.5, low + 0.5];
}

function mapLinks(look, view, laid) {
  const drawn = view.links.filter((link) => link.source !== link.target && laid.places[link.source] && laid.places[link.target]);
  const many = drawn.length > MANY_LINKS;
  // The hottest are drawn last, on top.
  drawn.sort((one, other) => (finite(one.value) ? one.value : -Infinity) - (finite(other.value) ? other.value : -Infinity));
  const line = (link) => ({
    link,
    value: finite(link.value) ? link.value : '-',
    coords: [laid.places[link.source], laid.places[link.target]],
    ...(finite(link.value) ? {} : { visualMap: false, lineStyle: { color: look.muted, type: 'dotted' } }),
  });
  return {
    type: 'lines',
    coordinateSystem: 'cartesian2d',
    z: 2,
    data: drawn.map(line),
    symbol: many ? 'none' : ['none', 'arrow'],
    symbolSize: 7,
    lineStyle: { width: many ? 1 : 2.2, curveness: 0.14, opacity: many ? 0.7 : 1, cap: 'round' },
    emphasis: { lineStyle: { width: 4, opacity: 1 } },
  };
}

function mapNodes(look, view, laid) {
  const few = view.nodes.length <= 60;
  return {
    type: 'scatter',
    z: 4,
    data: view.nodes.map((node, index) => ({ name: node.name, value: laid.places[index] })),
    symbolSize: few ? 10 : 6,
    itemStyle: { color: look.ink, borderColor: look.card, borderWidth: 2 },
    label: {
      show: true,
      position: 'top',
      distance: 4,
      formatter: (node) => node.name,
      color: look.ink,
      fontSize: 12,
      fontWeight: 600,
      fontFamily: look.font,
      textBorderColor: look.card,
      textBorderWidth: 3,
    },
    labelLayout: { hideOverlap: true },
    emphasis: { scale: 1.4 },
  };
}

function nodeTip(view, index) {
  const node = view.nodes[index];
  const out = view.links.filter((link) => link.source === index).length;
  const into = view.links.filter((link) => link.target === index).length;
  const place = `${degrees(node.latitude, 'N', 'S')} ${degrees(node.longitude, 'E', 'W')}`;
  return tip(node.name, [
    ['place', place],
    ['links out', String(out)],
    ['links in', String(into)],
  ]);
}

function linkTip(view, link, colour) {
  const name = (index) => view.nodes[index].name;
  return tip(`${name(link.source)} → ${name(link.target)}`, [[view.value_name, quantity(link.value, view.unit, 4), colour], ...link.facts]);
}

/** The legend: the colours from low to high, with handles that leave out links below or above. */
function legend(look, view, width) {
  const [low, high] = colourRange(view);
  return {
    type: 'continuous',
    seriesIndex: 0,
    dimension: 0,
    min: low,
    max: high,
    calculable: true,
    realtime: true,
    orient: 'horizontal',
    left: 'center',
    bottom: 0,
    itemWidth: 12,
    itemHeight: Math.min(260, width - 150),
    precision: 6,
    formatter: (value) => quantity(Number(Number(value).toPrecision(4)), view.unit),
    text: ['', ''],
    textStyle: { color: look.ink, fontSize: 12, fontFamily: look.font },
    inRange: { color: look.ramp },
    outOfRange: { color: look.faint, opacity: 0.5 },
    handleStyle: { color: look.card, borderColor: look.muted },
    indicatorStyle: { borderColor: look.card },
  };
}

/** `zoom` is the [from, to] in per cent of both axes. */
function plotMap(look, view, width, height, zoom) {
  const laid = layMap(view.nodes);
  const ranges = mapRanges(laid, width, height);
  const grid = (positive, negative, extra) => ({
    axisLine: { show: false },
    splitLine: { show: true, showMinLine: false, showMaxLine: false, lineStyle: { color: look.faint, width: 1 } },
    splitNumber: Math.max(3, Math.round(width / 160)),
    axisLabel: {
      inside: true,
      margin: 5,
      showMinLabel: false,
      showMaxLabel: false,
      fontSize: 10,
      color: look.muted,
      formatter: (value) => degrees(value, positive, negative),
      ...extra,
    },
  });
  const inside = (axes, range) => ({
    type: 'inside',
    ...axes,
    filterMode: 'none',
    start: range[0],
    end: range[1],
    minSpan: 2,
    zoomOnMouseWheel: 'ctrl',
    moveOnMouseMove: !matchMedia('(pointer: coarse)').matches || range[1] - range[0] < 99,
    preventDefaultMouseMove: false,
  });
  return {
    animation: false,
    grid: { left: 0, right: 0, top: 0, bottom: LEGEND, outerBoundsMode: 'none' },
    xAxis: axis(look, { min: ranges.x[0], max: ranges.x[1], ...grid('E', 'W') }),
    yAxis: axis(look, { min: ranges.y[0], max: ranges.y[1], ...grid('N', 'S') }),
    dataZoom: [inside({ xAxisIndex: 0 }, zoom.x), inside({ yAxisIndex: 0 }, zoom.y)],
    visualMap: legend(look, view, width),
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: (hit) => (hit.seriesType === 'lines' ? linkTip(view, hit.data.link, hit.color) : nodeTip(view, hit.dataIndex)),
    }),
    series: [mapLinks(look, view, laid), mapNodes(look, view, laid)],
  };
}
