// Coasts and borders below a map, from the page's world, if it has one.

/** Decodes the coordinates of a line: differences in parts of a degree, each in characters of five bits. */
function unpackLine(text, parts) {
  const points = [];
  const last = [0, 0];
  let [at, axis] = [0, 0];
  while (at < text.length) {
    let [bits, shift, piece] = [0, 0, 32];
    while (piece >= 32) {
      piece = text.charCodeAt(at) - 63;
      at += 1;
      bits += (piece & 31) * 2 ** shift;
      shift += 5;
    }
    last[axis] += bits % 2 === 1 ? -(bits + 1) / 2 : bits / 2;
    if (axis === 1) points.push([last[0] / parts, last[1] / parts]);
    axis = 1 - axis;
  }
  return points;
}

const boxOf = (points) => {
  const [x, y] = [points.map((point) => point[0]), points.map((point) => point[1])];
  return { x: [Math.min(...x), Math.max(...x)], y: [Math.min(...y), Math.max(...y)] };
};

let unpacked = null;

/** Land, lakes, coasts and borders, unpacked when they are first needed; null if the page has none. */
function world() {
  const place = document.getElementById('world');
  if (unpacked || !place) return unpacked;
  const { parts, arcs, coasts, land, lakes } = JSON.parse(place.textContent);
  const lines = arcs.map((arc) => unpackLine(arc, parts));
  // An arc that is walked backwards has its number inverted.
  const ring = (numbers) => numbers.flatMap((number) => (number < 0 ? [...lines[~number]].reverse() : lines[number]));
  // Where the world is cut open there is no coast.
  const cut = ([one, other]) => (Math.abs(one[0]) > 179.9 && Math.abs(other[0]) > 179.9) || (one[1] < -89 && other[1] < -89);
  const shores = lines.slice(0, coasts).flatMap((line) => {
    const pieces = [[line[0]]];
    for (let at = 1; at < line.length; at += 1) {
      if (cut([line[at - 1], line[at]])) pieces.push([]);
      pieces.at(-1).push(line[at]);
    }
    return pieces.filter((piece) => piece.length > 1);
  });
  const shapes = (all, kind) => all.map((points) => ({ kind, points, box: boxOf(points) }));
  unpacked = [
    ...shapes(land.map(ring), 'land'),
    ...shapes(lakes.map(ring), 'lake'),
    ...shapes(lines.slice(coasts), 'border'),
    ...shapes(shores, 'coast'),
  ];
  return unpacked;
}

/** The part of the world within these ranges, which may reach beyond the date line. */
function mapWorld(look, ranges) {
  const meet = (one, other) => one[0] <= other[1] && other[0] <= one[1];
  const shapes = [-360, 0, 360].flatMap((turn) =>
    (world() ?? [])
      .filter(({ box }) => meet([box.x[0] + turn, box.x[1] + turn], ranges.x) && meet(box.y, ranges.y))
      .map(({ kind, points }) => ({ kind, points, turn })),
  );
  const styles = {
    land: { fill: look.land, stroke: 'none' },
    lake: { fill: look.sea, stroke: 'none' },
    border: { fill: 'none', stroke: look.border, lineWidth: 1 },
    coast: { fill: 'none', stroke: look.coast, lineWidth: 1 },
  };
  return {
    type: 'custom',
    id: 'world',
    coordinateSystem: 'cartesian2d',
    z: -1,
    silent: true,
    clip: true,
    tooltip: { show: false },
    data: shapes.map((_, index) => [index]),
    encode: { x: [], y: [], tooltip: [] },
    renderItem: (params, api) => {
      const { kind, points, turn } = shapes[params.dataIndex];
      const type = kind === 'land' || kind === 'lake' ? 'polygon' : 'polyline';
      return { type, silent: true, shape: { points: points.map(([x, y]) => api.coord([x + turn, y])) }, style: styles[kind] };
    },
  };
}
