// What the searches gave up for their metric.

const KINDS = [
  ['copied', 'copied source words'], ['numbers', 'numbers lost'], ['names', 'names lost'],
];

function lossCell(index, kind, title) {
  const run = report.runs[index];
  const numbers = Object.keys(run[kind]).map(Number);
  const before = Object.keys(baselineRun()[kind]).map(Number);
  const change = index === report.baseline ? '' : ` (${signed(numbers.length - before.length, 0)})`;
  // where none is left, those of the baseline are what there is to see
  const [label, shown] = numbers.length > 0
    ? [`${title} in ${run.name}`, numbers]
    : [`${title} in ${baselineRun().name}, none in ${run.name}`, before];
  if (shown.length === 0) return html('td', {class: 'figure'}, '0', change);
  return html('td', {class: 'figure'}, figureButton({'data-loss': `${index}-${kind}`}, {
    run: index, sort: 'number', selection: {label, numbers: new Set(shown)},
  }, numbers.length, change));
}

// The metrics that nobody optimised and that got worse.
function worseCell(index) {
  if (index === report.baseline) return html('td', {}, '–');
  const {scores} = report.runs[index];
  const worse = [...report.metrics.keys()].filter((metric) => !scores[metric].optimised
    && scores[metric].difference < 0 && scores[metric].p < 0.05);
  if (worse.length === 0) return html('td', {}, 'none worse');
  return html('td', {class: 'worse'}, worse.map((metric, place) => [place > 0 ? ', ' : '',
    figureButton({'data-worse': `${index}-${metric}`}, {run: index, metric, sort: 'loss'},
      `▼ ${report.metrics[metric].name} ${printedChange(metric, scores[metric].difference)}`)]));
}

function drawWatch() {
  const rows = report.runs.map((run, index) => html('tr', {},
    html('th', {scope: 'row'}, runName(index)),
    worseCell(index),
    html('td', {class: 'figure'}, run.lengthRatio === null ? '–' : figureButton(
      {'data-length': index}, {run: index, sort: 'length'}, number(run.lengthRatio, 3))),
    html('td', {class: 'figure'}, likelihoodCell(index)),
    KINDS.map(([kind, title]) => lossCell(index, kind, title))));
  byId('watch-table').replaceChildren(html('table', {},
    html('thead', {}, html('tr', {},
      ['run', 'other metrics that got worse', 'length ratio', 'likelihood', ...KINDS.map(([, title]) => title)]
        .map((name) => html('th', {scope: 'col'}, name)))),
    html('tbody', {}, rows)));
}

function likelihoodCell(index) {
  const [mine, theirs] = [report.runs[index].likelihood, baselineRun().likelihood];
  if (mine === null) return '–';
  const change = index === report.baseline || theirs === null ? '' : ` (${signed(mine - theirs, 3)})`;
  return figureButton({'data-likelihood': index}, {run: index, sort: 'likelihood'},
    number(mine, 3), change);
}
