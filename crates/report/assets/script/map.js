// Maps: nodes at their places, links as bent lines coloured by a value.

/** More links than this are drawn without heads, and on a canvas. */
const MANY_LINKS = 1500;
/** How far links are bent, as a part of their length: both directions of a pair are seen. */
const BEND = 0.14;

/** The places of the nodes, with longitudes that are continuous across the date line, and the shape of a degree. */
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
  return Math.round(Math.min(Math.max(width * ratio, 260), 620, Math.max(width * 1.15, 260))) + LEGEND;
}

/** The room of the legend below the map. */
const LEGEND = 74;

/** Ranges of both axes that show all nodes with a margin and keep the shape. */
function mapRanges(laid, width, height) {
  const [wide, high] = [Math.max(width, 1), Math.max(height - LEGEND, 1)];
  const middle = (range) => (range[0] + range[1]) / 2;
  const air = Math.min(0.3, 80 / wide);
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

/** The range of the colour scale: that of the model if it is valid, else that of the links. */
function colourRange(view) {
  if (finite(view.low) && finite(view.high) && view.low < view.high) return [view.low, view.high];
  const values = view.links.map((link) => link.value).filter(finite);
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [0, 1];
  return low < high ? [low, high] : [low - 0.5, low + 0.5];
}

/** The links between two places; the hottest come last, on top. */
function drawnLinks(view, laid) {
  const heat = (link) => (finite(link.value) ? link.value : -Infinity);
  const drawn = view.links.filter((link) => link.source !== link.target && laid.places[link.source] && laid.places[link.target]);
  return drawn.sort((one, other) => (heat(one) < heat(other) ? -1 : heat(one) > heat(other) ? 1 : 0));
}

function mapLinks(look, view, laid) {
  const drawn = drawnLinks(view, laid);
  const many = drawn.length > MANY_LINKS;
  const line = (link) => ({
    link,
    value: finite(link.value) ? link.value : '-',
    coords: [laid.places[link.source], laid.places[link.target]],
    ...(finite(link.value) ? {} : { visualMap: false, lineStyle: { color: look.muted, type: 'dotted' } }),
  });
  return {
    type: 'lines',
    coordinateSystem: 'cartesian2d',
    clip: true,
    z: 2,
    data: drawn.map(line),
    symbol: 'none',
    lineStyle: { width: many ? 1 : 2.2, curveness: BEND, opacity: many ? 0.7 : 1, cap: 'round' },
    emphasis: { lineStyle: { width: 4, opacity: 1 } },
  };
}

/** A small head in the middle of every link, so that its direction is seen. */
function mapHeads(view, laid, small) {
  const links = drawnLinks(view, laid).filter((link) => finite(link.value));
  return {
    type: 'custom',
    coordinateSystem: 'cartesian2d',
    z: 3,
    silent: true,
    tooltip: { show: false },
    data: links.length > MANY_LINKS ? [] : links.map((link) => [...laid.places[link.source], ...laid.places[link.target], link.value]),
    encode: { x: [0, 2], y: [1, 3], tooltip: [] },
    clip: true,
    renderItem: (params, api) => {
      const [from, to] = [api.coord([api.value(0), api.value(1)]), api.coord([api.value(2), api.value(3)])];
      const [x, y] = [to[0] - from[0], to[1] - from[1]];
      if (Math.hypot(x, y) < (small ? 30 : 40)) return null;
      // The middle of a line bent by BEND lies half of that beside the straight one.
      const middle = [(from[0] + to[0]) / 2 + (y * BEND) / 2, (from[1] + to[1]) / 2 - (x * BEND) / 2];
      return {
        type: 'path',
        shape: { pathData: 'M-4,-4.5 L5,0 L-4,4.5 L-1.5,0 Z' },
        x: middle[0],
        y: middle[1],
        scaleX: small ? 0.75 : 1,
        scaleY: small ? 0.75 : 1,
        rotation: -Math.atan2(y, x),
        style: { fill: api.visual('color') },
      };
    },
  };
}

/** The directions in which links leave each node, as angles. */
function linkAngles(view, laid) {
  const angles = view.nodes.map(() => []);
  for (const link of drawnLinks(view, laid)) {
    const [from, to] = [laid.places[link.source], laid.places[link.target]];
    const angle = Math.atan2(to[1] - from[1], (to[0] - from[0]) * laid.squeeze);
    angles[link.source].push(angle + BEND);
    angles[link.target].push(angle + Math.PI - BEND);
  }
  return angles;
}

const nodeFont = (look) => `600 12px ${look.font}`;
/** Longer names are cut. */
const NAME_WIDTH = 150;
/** With more nodes in sight than this, names wait for the map to be zoomed. */
const NAMED_NODES = 300;

/** Which nodes are in sight. */
function inSight(laid, seen) {
  return laid.places.map(([x, y]) => x >= seen.x[0] && x <= seen.x[1] && y >= seen.y[0] && y <= seen.y[1]);
}

/**
 * For each node, the side on which links leave most room for its name; null if the name is not shown. `names` says which names are
 * shown: those that `fit`, `all`, or `none`.
 */
function nameSides(look, view, laid, seen, [width, height], names) {
  const towards = { top: Math.PI / 2, bottom: -Math.PI / 2, right: 0, left: Math.PI };
  const pixel = (place, axis, length) => (length * (place - axis[0])) / (axis[1] - axis[0]);
  const spots = laid.places.map(([x, y]) => [pixel(x, seen.x, width), height - pixel(y, seen.y, height)]);
  const shown = inSight(laid, seen);
  if (names === 'none') return view.nodes.map(() => null);
  if (shown.filter(Boolean).length > NAMED_NODES) return shown.map((one) => (one && names === 'all' ? 'top' : null));
  const angles = linkAngles(view, laid);
  const between = (one, other) => Math.abs(Math.atan2(Math.sin(one - other), Math.cos(one - other)));
  const meet = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
  const dots = spots.filter((_, index) => shown[index]).map(([x, y]) => [x - 5, y - 5, x + 5, y + 5]);
  const boxes = [];
  return view.nodes.map((node, index) => {
    if (!shown[index]) return null;
    const [x, y] = spots[index];
    const size = Math.min(NAME_WIDTH, echarts.format.getTextRect(node.name, nodeFont(look)).width) + 4;
    const box = {
      top: [x - size / 2, y - 26, x + size / 2, y - 7],
      bottom: [x - size / 2, y + 7, x + size / 2, y + 26],
      right: [x + 7, y - 9, x + 11 + size, y + 9],
      left: [x - 11 - size, y - 9, x - 7, y + 9],
    };
    const free = (side) => Math.min(Math.PI, ...angles[index].map((angle) => between(angle, towards[side])));
    // Degrees are written along the left and the lower edge.
    const inside = ([left, up, right, down]) => left >= 40 && right <= width && up >= 0 && down <= height - 18;
    const clear = (side) => inside(box[side]) && ![...boxes, ...dots].some((other) => meet(box[side], other));
    const best = Object.keys(towards)
      .filter(clear)
      .reduce((one, other) => (one === null || free(other) > free(one) + 0.2 ? other : one), null);
    if (best) boxes.push(box[best]);
    return best ?? (names === 'all' ? 'top' : null);
  });
}

function mapNodes(look, view, laid, sides, small) {
  const few = view.nodes.length <= 60 && !small;
  const label = (side) => ({ show: side !== null, position: side ?? 'top' });
  return {
    type: 'scatter',
    z: 4,
    data: view.nodes.map((node, index) => ({ name: node.name, value: laid.places[index], label: label(sides[index]) })),
    symbolSize: few ? 10 : 7,
    itemStyle: { color: look.ink, borderColor: look.sea, borderWidth: 2, opacity: 1 },
    label: {
      distance: 4,
      formatter: (node) => node.name,
      width: NAME_WIDTH,
      overflow: 'truncate',
      color: look.ink,
      fontSize: 12,
      fontWeight: 600,
      fontFamily: look.font,
      textBorderColor: look.sea,
      textBorderWidth: 3,
    },
    emphasis: { scale: 1.4, label: { show: true } },
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

/** The legend: the colours from low to high, with handles that hide values below or above. */
function legend(look, view, width, [low, high]) {
  return {
    type: 'continuous',
    min: low,
    max: high,
    calculable: true,
    realtime: true,
    orient: 'horizontal',
    left: 'center',
    bottom: 10,
    itemWidth: 12,
    itemHeight: Math.min(280, width - 120),
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

/** What the colours mean, below them. */
function legendTitle(look, view, width) {
  return {
    text: view.value_name,
    left: 'center',
    bottom: 4,
    padding: 0,
    textStyle: { color: look.muted, fontSize: 12, fontWeight: 400, fontFamily: look.font, width: width - 20, overflow: 'truncate' },
  };
}

/** The part of a range that is in sight at a zoom. */
const within = ([low, high], [from, to]) => [low + ((high - low) * from) / 100, low + ((high - low) * to) / 100];

/** How many names of nodes in sight are hidden, in words. */
function hiddenNames(sides, seen, names) {
  const all = seen.filter(Boolean).length;
  const hidden = seen.filter((one, index) => one && sides[index] === null).length;
  if (hidden === 0) return all === 0 ? 'no node in sight' : `all ${number(all)} in sight`;
  if (names === 'none') return `${number(hidden)} hidden`;
  const why = all > NAMED_NODES ? 'too many' : 'no room';
  return `${number(hidden)} of ${number(all)} in sight are hidden: ${why}`;
}

/** `zoom` has [from, to] of both axes, in per cent. `names` says which names are shown, and `told` is called with how many are hidden. */
function plotMap(look, view, width, height, zoom, names, told) {
  const laid = layMap(view.nodes);
  const ranges = mapRanges(laid, width, height);
  const seen = { x: within(ranges.x, zoom.x), y: within(ranges.y, zoom.y) };
  const sides = nameSides(look, view, laid, seen, [width, height - LEGEND], names);
  told(hiddenNames(sides, inSight(laid, seen), names));
  const away = ([low, high], length) => (value) => Math.min(value - low, high - value) > (high - low) * (24 / length);
  const grid = (positive, negative, shown) => ({
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
      // A label that the edge would cut is left out.
      formatter: (value) => (shown(value) ? degrees(value, positive, negative) : ''),
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
    // The world lies on the sea and below the degrees.
    grid: { show: true, z: -2, backgroundColor: look.sea, borderWidth: 0, left: 0, right: 0, top: 0, bottom: LEGEND, outerBoundsMode: 'none' },
    xAxis: axis(look, { min: ranges.x[0], max: ranges.x[1], ...grid('E', 'W', away(seen.x, width)) }),
    yAxis: axis(look, { min: ranges.y[0], max: ranges.y[1], ...grid('N', 'S', away(seen.y, height - LEGEND)) }),
    dataZoom: [inside({ xAxisIndex: 0 }, zoom.x), inside({ yAxisIndex: 0 }, zoom.y)],
    visualMap: { ...legend(look, view, width, colourRange(view)), seriesIndex: [0, 1] },
    title: legendTitle(look, view, width),
    tooltip: tooltip(look, {
      trigger: 'item',
      formatter: (hit) => (hit.seriesType === 'lines' ? linkTip(view, hit.data.link, hit.color) : nodeTip(view, hit.dataIndex)),
    }),
    series: [
      mapLinks(look, view, laid),
      mapHeads(view, laid, width < 500),
      mapNodes(look, view, laid, sides, width < 500),
      mapWorld(look, ranges),
    ],
  };
}
