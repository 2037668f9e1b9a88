// The table of scores: each cell leads to the sentences that it is made of.

function significance(test) {
  if (test.p === null) return '';
  return test.p < 0.001 ? 'p<0.001' : `p=${test.p.toFixed(3)}`;
}

function scoreCell(run, metric) {
  const entry = report.runs[run].scores[metric];
  const isBaseline = run === report.baseline;
  const clear = entry.p !== null && entry.p < 0.05;
  const verdict = !clear ? '' : entry.difference > 0 ? ' better' : ' worse';
  const arrow = !clear ? '' : entry.difference > 0 ? '▲\u00a0' : '▼\u00a0';
  const content = [
    html('span', {class: 'score'}, printed(metric, entry.score), entry.optimised ? '†' : ''),
    isBaseline || entry.difference === null ? null : html('span', {class: `change${verdict}`},
      arrow, printedChange(metric, entry.difference), ' ', significance(entry)),
  ];
  const {name} = report.metrics[metric];
  return html('td', {}, figureButton({
    'data-cell': `${run}-${metric}`,
    title: `the sentences of ${report.runs[run].name} by their ${isBaseline ? '' : 'change of '}${name}`,
  }, {run, metric, sort: byMetric(run, 'gain')}, content));
}

function costCell(run, kind) {
  const {estimated, [kind]: evaluations} = report.runs[run];
  if (evaluations === null) return html('td', {class: 'figure'}, '–');
  const mark = estimated && kind === 'charged' ? '≈' : '';
  return html('td', {class: 'figure'}, figureButton({
    'data-cost': `${run}-${kind}`,
    title: `the sentences of ${report.runs[run].name} by their network evaluations`,
  }, {run, sort: 'cost'}, mark, number(evaluations, 1)));
}

function drawScores() {
  const rows = report.runs.map((run, index) => html('tr', {},
    html('th', {scope: 'row'}, runName(index), index === report.baseline ? html('span', {class: 'tag'}, 'baseline') : null),
    report.metrics.map((_, metric) => scoreCell(index, metric)),
    costCell(index, 'charged'), costCell(index, 'made'),
    html('td', {class: 'spec'}, run.optimised ?? 'not stated')));
  const optimised = report.runs.some((run) => run.scores.some((score) => score.optimised));
  byId('score-table').replaceChildren(
    html('table', {class: 'scores'},
      html('thead', {}, html('tr', {},
        ['run', ...report.metrics.map((metric) => metric.name), 'charged/token', 'made/token', 'optimised']
          .map((name) => html('th', {scope: 'col'}, name)))),
      html('tbody', {}, rows)));
  byId('score-notes').replaceChildren(
    html('p', {class: 'note'},
      report.resamples ? `▲▼ better or worse than ${baselineRun().name} with p < 0.05 (paired `
        + `bootstrap, ${report.resamples} resamples, seed ${report.seed}). ` : '',
      optimised ? '† The decoding optimised this metric, or one by the same judge: judge it by the '
        + 'other columns. ' : '',
      'charged, made: network evaluations for an output token, by the paper’s accounting and as '
        + 'needed; ≈ beam size, where nobody counted.'),
    html('details', {}, html('summary', {}, 'Signatures of the metrics'),
      html('ul', {}, report.metrics.map((metric) => html('li', {}, html('strong', {}, metric.name),
        ` ${metric.signature}; of sentences: ${metric.sentenceSignature}`)))));
}
