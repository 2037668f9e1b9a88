// A small chart of points and lines.

const CHART = {width: 520, height: 340, left: 62, right: 16, top: 14, bottom: 48};

function niceTicks(lowest, highest, wanted = 5) {
  const span = highest - lowest || Math.abs(highest) || 1;
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough);
  const ticks = [];
  for (let tick = Math.ceil(lowest / step) * step; tick <= highest + step * 1e-9; tick += step) {
    ticks.push(Number(tick.toPrecision(12)));
  }
  return ticks;
}

function logTicks(lowest, highest) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(lowest)); power <= Math.ceil(Math.log10(highest)); power += 1) {
    for (const one of [1, 2, 5]) {
      const tick = one * 10 ** power;
      if (tick >= lowest && tick <= highest) ticks.push(tick);
    }
  }
  return ticks;
}

function padded([lowest, highest], share = 0.08) {
  const span = highest - lowest || Math.abs(highest) * 0.1 || 1;
  return [lowest - span * share, highest + span * share];
}

function rangeOf(values) {
  return [Math.min(...values), Math.max(...values)];
}

// `chart`: {title, xLabel, yLabel, xLog, points: [{x, y, label, colour, tip, act, small}],
// lines: [{points: [[x, y]], colour}], xRange, yRange, diagonal, look(point): of small points}
function drawChart(chart) {
  const {width, height, left, right, top, bottom} = CHART;
  const xs = chart.points.map((point) => (chart.xLog ? Math.log10(point.x) : point.x));
  const xRange = chart.xRange ?? padded(rangeOf(xs), chart.xLog ? 0.12 : 0.08);
  const yRange = chart.yRange ?? padded(rangeOf(chart.points.map((point) => point.y)));
  const toX = (x) => left + ((x - xRange[0]) / (xRange[1] - xRange[0])) * (width - left - right);
  const toY = (y) => height - bottom - ((y - yRange[0]) / (yRange[1] - yRange[0])) * (height - top - bottom);
  const placeX = (x) => toX(chart.xLog ? Math.log10(x) : x);
  const picture = svg('svg', {
    viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'group', 'aria-label': chart.title,
  });
  const xTicks = chart.xLog ? logTicks(10 ** xRange[0], 10 ** xRange[1]) : niceTicks(...xRange);
  for (const tick of xTicks) {
    picture.append(
      svg('line', {x1: placeX(tick), x2: placeX(tick), y1: top, y2: height - bottom, class: 'grid'}),
      svg('text', {x: placeX(tick), y: height - bottom + 18, class: 'tick', 'text-anchor': 'middle'}, tick));
  }
  for (const tick of niceTicks(...yRange)) {
    picture.append(
      svg('line', {x1: left, x2: width - right, y1: toY(tick), y2: toY(tick), class: 'grid'}),
      svg('text', {x: left - 8, y: toY(tick) + 4, class: 'tick', 'text-anchor': 'end'}, tick));
  }
  picture.append(
    svg('text', {x: (left + width - right) / 2, y: height - 8, class: 'axis', 'text-anchor': 'middle'}, chart.xLabel),
    svg('text', {x: 14, y: (top + height - bottom) / 2, class: 'axis', 'text-anchor': 'middle',
      transform: `rotate(-90 14 ${(top + height - bottom) / 2})`}, chart.yLabel));
  if (chart.diagonal) {
    const from = Math.max(xRange[0], yRange[0]);
    const to = Math.min(xRange[1], yRange[1]);
    if (from < to) {
      picture.append(svg('line', {
        x1: toX(from), x2: toX(to), y1: toY(from), y2: toY(to), class: 'diagonal'}));
    }
  }
  for (const line of chart.lines ?? []) {
    picture.append(svg('polyline', {
      points: line.points.map(([x, y]) => `${placeX(x)},${toY(y)}`).join(' '),
      class: `line ${line.colour}`,
    }));
  }
  const labels = placedLabels(chart.points, placeX, toY);
  const small = []; // [point, circle]
  chart.points.forEach((point, index) => {
    const act = point.act;
    const circle = svg('circle', {
      cx: placeX(point.x), cy: toY(point.y), r: point.small ? 3.5 : RADIUS,
      class: `point ${point.colour}`, 'data-point': point.key,
    }, svg('title', {}, point.tip));
    if (point.small) {
      circle.addEventListener('click', act);
      picture.append(circle);
      small.push([point, circle]);
      return;
    }
    picture.append(svg('g', {
      class: 'run-point', tabindex: 0, role: 'button', 'aria-label': point.tip,
      onclick: act,
      onkeydown: (event) => onKeys(event, {Enter: act, ' ': act}),
    }, circle, svg('text', labels[index], point.label)));
  });
  walkPoints(small, chart.look);
  return picture;
}

function onKeys(event, actions) {
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

// Small points are many: the tabulator goes to one of them, arrow keys walk from left to right, and
// `look` hears of the one that is pointed at or walked to.
function walkPoints(small, look) {
  small.sort(([one], [other]) => one.x - other.x || one.y - other.y);
  let current = 0;
  const walk = (place) => {
    small[current][1].setAttribute('tabindex', -1);
    current = Math.min(Math.max(place, 0), small.length - 1);
    small[current][1].setAttribute('tabindex', 0);
    small[current][1].focus();
  };
  small.forEach(([point, circle], place) => fill(circle, {
    tabindex: place === current ? 0 : -1, role: 'button', 'aria-label': point.tip,
    onfocus: () => look(point), onmouseenter: () => look(point),
    onkeydown: (event) => onKeys(event, {
      Enter: point.act, ' ': point.act,
      ArrowRight: () => walk(place + 1), ArrowLeft: () => walk(place - 1),
      Home: () => walk(0), End: () => walk(small.length - 1),
    }),
  }, []));
}

const LABEL = {gap: 11, letter: 7, high: 14, reach: 4};
const RADIUS = 7;

// Labels beside their points, at the first place where they lie over no point and no other label.
function placedLabels(points, placeX, toY) {
  const circles = points.filter((point) => !point.small).map((point) => ({
    left: placeX(point.x) - RADIUS, right: placeX(point.x) + RADIUS,
    top: toY(point.y) - RADIUS, bottom: toY(point.y) + RADIUS,
  }));
  const taken = [...circles];
  const placed = points.map(() => null);
  const order = points.map((point, index) => index).filter((index) => !points[index].small);
  order.sort((one, other) => toY(points[one].y) - toY(points[other].y));
  for (const index of order) {
    const places = labelPlaces(points[index], placeX(points[index].x), toY(points[index].y));
    const place = places.find((one) => !taken.some((other) => overlap(one.box, other))) ?? places[0];
    taken.push(place.box);
    placed[index] = place.attributes;
  }
  return placed;
}

// Right of the point, left of it, then ever further above and below; only what is in the picture.
function labelPlaces(point, x, y) {
  const wide = (point.label ?? '').length * LABEL.letter;
  const shifts = [0];
  for (let step = 1; step <= LABEL.reach; step += 1) shifts.push(step * LABEL.high, -step * LABEL.high);
  const all = shifts.flatMap((shift) => ['start', 'end'].map((anchor) => {
    const from = anchor === 'start' ? x + LABEL.gap : x - LABEL.gap - wide;
    const middle = y + shift;
    return {
      box: {left: from, right: from + wide, top: middle - LABEL.high / 2, bottom: middle + LABEL.high / 2},
      attributes: {
        x: anchor === 'start' ? from : from + wide, y: middle + 4, class: 'point-label', 'text-anchor': anchor,
      },
    };
  }));
  const inside = all.filter(({box}) => box.left >= CHART.left && box.right <= CHART.width - CHART.right
    && box.top >= 0 && box.bottom <= CHART.height - CHART.bottom);
  return inside.length ? inside : all;
}

function overlap(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}
