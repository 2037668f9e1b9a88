// What the page shows now; whoever draws a part of it is told of changes.

const report = JSON.parse(byId('report-data').textContent);

const state = {
  run: report.runs.findIndex((_, index) => index !== report.baseline),
  metric: 0,
  sort: 'gain',
  text: '',
  changedOnly: false,
  selection: null, // {label, numbers: Set}: the sentences behind a figure
  page: 0,
};
if (state.run < 0) state.run = report.baseline;
state.metric = report.runs[state.run].judgedBy;

const listeners = [];

function onChange(listener) {
  listeners.push(listener);
}

function change(entries) {
  Object.assign(state, {page: 0}, entries);
  for (const listener of listeners) listener();
}

function baselineRun() {
  return report.runs[report.baseline];
}

function printed(metric, score) {
  const {factor, digits} = report.metrics[metric];
  return number(score * factor, digits);
}

function printedChange(metric, difference) {
  const {factor, digits} = report.metrics[metric];
  return signed(difference * factor, digits);
}

function gainOf(run, metric, sentence) {
  return report.runs[run].sentenceScores[metric][sentence]
    - baselineRun().sentenceScores[metric][sentence];
}

// Shows the sentences behind a figure.
function showSentences(entries) {
  change(entries);
  byId('sentences').scrollIntoView({behavior: 'auto', block: 'start'});
  byId('sentences-title').focus({preventScroll: true});
}

function runColour(run) {
  return run === report.baseline ? 'run-baseline' : `run-${run % 7}`;
}
