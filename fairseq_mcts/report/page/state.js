// What the page shows now; whoever draws a part of it is told of changes.

const report = JSON.parse(byId('report-data').textContent);

// The first run that went by a metric: it is what people come for.
function firstRun() {
  const others = [...report.runs.keys()].filter((run) => run !== report.baseline);
  const searched = others.find((run) => ![null, 'none'].includes(report.runs[run].optimised));
  return searched ?? others[0] ?? report.baseline;
}

const state = {
  run: firstRun(),
  metric: 0,
  sort: 'gain',
  text: '',
  changedOnly: false,
  selection: null, // {label, numbers: Set}: the sentences behind a figure
  page: 0,
};
state.metric = report.runs[state.run].judgedBy;

const COLOURS = 10;

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

// Shows the sentences behind a figure, all of them.
function showSentences(entries) {
  change({selection: null, text: '', changedOnly: false, ...entries});
  byId('sentences').scrollIntoView({behavior: 'auto', block: 'start'});
  byId('sentences-title').focus({preventScroll: true});
}

// A figure that leads to its sentences.
function figureButton(attributes, entries, ...content) {
  return html('button', {
    type: 'button', class: 'cell', ...attributes, onclick: () => showSentences(entries),
  }, content);
}

// How to sort by a metric what a run has done: the baseline has neither gains nor losses.
function byMetric(run, sort) {
  return run === report.baseline ? 'score' : sort;
}

function runColour(run) {
  if (run === report.baseline) return 'run-baseline';
  return `run-${(run > report.baseline ? run - 1 : run) % COLOURS}`;
}
