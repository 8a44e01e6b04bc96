// What the charts take from the style sheet, and the parts that they have in common.

/** The colours and sizes in force, read from the style sheet. */
function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(`--${name}`).trim();
  const list = (name) => read(name).split(/\s+/);
  return {
    ink: read('ink'),
    muted: read('muted'),
    faint: read('faint'),
    card: read('card'),
    sea: read('sea'),
    land: read('land'),
    coast: read('coast'),
    border: read('border'),
    raised: read('raised'),
    accent: read('accent'),
    mark: read('mark'),
    lines: list('lines'),
    ramp: list('ramp'),
    font: getComputedStyle(document.body).fontFamily,
  };
}

/** An axis without a line or ticks, so that the data stands out. */
function axis(look, options) {
  const { axisLabel, nameTextStyle, ...rest } = options;
  return {
    type: 'value',
    axisLine: { show: false },
    axisTick: { show: false },
    splitLine: { show: false },
    nameGap: 10,
    ...rest,
    nameTextStyle: { color: look.muted, fontSize: 12, fontFamily: look.font, ...nameTextStyle },
    axisLabel: { color: look.muted, fontSize: 11, fontFamily: look.font, hideOverlap: true, ...axisLabel },
  };
}

/** A horizontal axis with its name centred below. */
function across(look, options) {
  return axis(look, {
    nameLocation: 'middle',
    nameGap: 26,
    axisLine: { show: true, lineStyle: { color: look.faint } },
    ...options,
  });
}

/** A vertical axis with faint lines across the chart and its name on top. */
function upwards(look, options) {
  return axis(look, {
    nameLocation: 'end',
    nameTextStyle: { align: 'left', padding: [0, 0, 4, 0] },
    splitLine: { show: true, lineStyle: { color: look.faint } },
    splitNumber: 4,
    ...options,
  });
}

function tooltip(look, options) {
  return {
    confine: true,
    backgroundColor: look.raised,
    borderColor: look.faint,
    borderWidth: 1,
    padding: [8, 12],
    transitionDuration: 0.1,
    textStyle: { color: look.ink, fontSize: 13, fontFamily: look.font },
    ...options,
  };
}

/** The inside of a tooltip. Everything goes in as text, so nothing of it is taken for markup. */
function tip(title, facts) {
  const box = document.createElement('div');
  box.className = 'tip';
  box.appendChild(document.createElement('strong')).textContent = title;
  const list = box.appendChild(document.createElement('dl'));
  for (const [name, value, colour] of facts) {
    const term = list.appendChild(document.createElement('dt'));
    if (colour) term.appendChild(document.createElement('i')).style.background = colour;
    term.append(name);
    list.appendChild(document.createElement('dd')).textContent = value;
  }
  return box;
}

/** A cursor line that follows the pointer. */
const cursor = (look) => ({ type: 'line', lineStyle: { color: look.muted, width: 1, type: 'solid' }, label: { show: false } });
