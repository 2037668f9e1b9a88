// What the searches gave up for their metric.

const KINDS = [
  ['copied', 'copied source words'], ['numbers', 'numbers lost'], ['names', 'names lost'],
];

function lossCell(index, kind, title) {
  const run = report.runs[index];
  const numbers = Object.keys(run[kind]).map(Number);
  const before = Object.keys(baselineRun()[kind]).length;
  const change = index === report.baseline ? '' : ` (${signed(numbers.length - before, 0)})`;
  if (numbers.length === 0) return html('td', {class: 'figure'}, '0', change);
  return html('td', {class: 'figure'}, html('button', {
    type: 'button', class: 'cell', 'data-loss': `${index}-${kind}`,
    onclick: () => showSentences({
      run: index === report.baseline ? state.run : index, sort: 'number',
      selection: {label: `${title} in ${run.name}`, numbers: new Set(numbers)},
    }),
  }, numbers.length, change));
}

function drawWatch() {
  const base = baselineRun();
  const independent = (run) => report.metrics.map((metric, index) => ({metric, index}))
    .filter(({index}) => !run.scores[index].optimised);
  const rows = report.runs.map((run, index) => {
    const others = index === report.baseline ? [] : independent(run).filter(({index: metric}) =>
      run.scores[metric].difference !== null && run.scores[metric].difference < 0
      && run.scores[metric].p < 0.05);
    return html('tr', {},
      html('th', {scope: 'row'}, html('span', {class: `dot ${runColour(index)}`}), run.name),
      html('td', {class: others.length ? 'worse' : ''}, index === report.baseline ? '–'
        : others.length ? others.map(({metric, index: one}) =>
          `▼ ${metric.name} ${printedChange(one, run.scores[one].difference)}`).join(', ') : 'none worse'),
      html('td', {class: 'figure'}, number(run.lengthRatio, 3)),
      html('td', {class: 'figure'}, likelihoodCell(index, run, base)),
      KINDS.map(([kind, title]) => lossCell(index, kind, title)));
  });
  byId('watch-table').replaceChildren(html('table', {},
    html('thead', {}, html('tr', {},
      ['run', 'metrics not optimised', 'length ratio', 'likelihood', ...KINDS.map(([, title]) => title)]
        .map((name) => html('th', {scope: 'col'}, name)))),
    html('tbody', {}, rows)));
}

function likelihoodCell(index, run, base) {
  const text = number(run.likelihood, 3);
  if (index === report.baseline || run.likelihood === null || base.likelihood === null) return text;
  return html('button', {
    type: 'button', class: 'cell', 'data-likelihood': index,
    onclick: () => showSentences({run: index, sort: 'likelihood', selection: null}),
  }, text, ` (${signed(run.likelihood - base.likelihood, 3)})`);
}
