// Numbers for people: the same rules as in src/format.rs.

const NOTHING = '–';
const NARROW = '\u202f';
const NO_BREAK = '\u00a0';
const PREFIXABLE = ['s', 'B', 'b', 'bit', 'B/s', 'b/s', 'bit/s', 'bps', 'Hz', 'W', 'J', 'events/s', 'packets/s'];
const PREFIXES = ['n', 'µ', 'm', '', 'k', 'M', 'G', 'T'];

const finite = (value) => typeof value === 'number' && Number.isFinite(value);

const grouped = (digits) => digits.replace(/\B(?=(\d{3})+$)/g, NARROW);

const superscript = (exponent) => String(exponent).replace(/./g, (one) => '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'['-0123456789'.indexOf(one)]);

/** A number to `digits` significant digits; whole numbers in full. `keep` keeps zeros at the end of a fraction. */
function number(value, digits = 4, keep = false) {
  if (!finite(value)) return NOTHING;
  if (value === 0) return '0';
  const sign = value < 0 ? '−' : '';
  const size = Math.abs(value);
  if (Number.isInteger(size) && size < 1e15) return sign + grouped(String(size));
  const [mantissa, power] = size.toExponential(digits - 1).split('e');
  const exponent = Number(power);
  const plain = exponent >= -4 && exponent < 6;
  if (plain && exponent >= digits) return sign + grouped(String(Math.floor(size + 0.5)));
  const figures = mantissa.replace('.', '');
  const point = plain ? exponent + 1 : 1;
  const whole = point <= 0 ? '0' : figures.slice(0, point);
  let fraction = point <= 0 ? '0'.repeat(-point) + figures : figures.slice(point);
  if (!keep) fraction = fraction.replace(/0+$/, '');
  return sign + grouped(whole) + (fraction && '.' + fraction) + (plain ? '' : '×10' + superscript(exponent));
}

/** A number with its unit, as people say it: `12.3 MB`, `1.25 s`, `3.2 M events/s`. */
function quantity(value, unit, digits = 3) {
  if (!finite(value)) return NOTHING;
  const gap = unit ? NO_BREAK : '';
  if (value === 0 || !PREFIXABLE.includes(unit)) return number(value, Math.max(digits, 4)) + gap + unit;
  const exponent = Number(Math.abs(value).toExponential(2).split('e')[1]);
  const lowest = ['s', 'W', 'J'].includes(unit) ? -3 : 0;
  const highest = unit === 's' ? 0 : 4;
  const step = Math.min(highest, Math.max(lowest, Math.floor(exponent / 3)));
  const prefix = PREFIXES[step + 3];
  const between = unit.includes('ts/s') && prefix ? NO_BREAK : '';
  return number(value / 10 ** (3 * step), digits) + gap + prefix + between + unit;
}

/** A label of an axis: short, and free of the noise of repeated addition. */
function tick(value, unit) {
  if (!finite(value)) return '';
  const clean = Number(value.toPrecision(9));
  if (PREFIXABLE.includes(unit)) return quantity(clean, unit, 6);
  const size = Math.abs(clean);
  const [scale, prefix] = size >= 1e9 ? [1e9, 'G'] : size >= 1e6 ? [1e6, 'M'] : size >= 1e4 ? [1e3, 'k'] : [1, ''];
  if (size >= 1e12 || prefix === '') return number(clean, 6);
  return number(clean / scale, 6) + NO_BREAK + prefix;
}

/** The cell of a table as [short, in full where that says more]. */
function scalar(cell, numeric) {
  if (cell === null || cell === undefined) return [NOTHING, ''];
  if (typeof cell === 'boolean') return [cell ? 'yes' : 'no', ''];
  if (typeof cell === 'number') {
    const short = number(cell, 4, true);
    return [short, short === String(cell) ? '' : String(cell)];
  }
  if (typeof cell === 'string') {
    return numeric ? [(cell[0] === '-' ? '−' : '') + grouped(cell.replace('-', '')), cell] : [cell, ''];
  }
  return [JSON.stringify(cell), ''];
}
