// Quality against cost, and values against true scores.

const figureState = {costMetric: state.metric, valueRun: null, valueMetric: null};

function drawCost() {
  const place = byId('cost-figure');
  const metric = figureState.costMetric;
  const {name, factor} = report.metrics[metric];
  const known = report.runs.map((run, index) => ({run, index})).filter(({run}) => run.charged > 0);
  if (known.length === 0) {
    place.replaceChildren(html('p', {class: 'note'},
      'No run says how many network evaluations it took (Q lines of fairseq-generate).'));
    return;
  }
  const points = known.map(({run, index}) => ({
    x: run.charged, y: run.scores[metric].score * factor, label: run.name, key: `cost-${index}`,
    colour: runColour(index),
    tip: `${run.name}: ${name} ${printed(metric, run.scores[metric].score)} at ${run.estimated ? 'about ' : ''}`
      + `${number(run.charged, 1)} evaluations a token; show its sentences`,
    act: () => showSentences({run: index, metric, sort: byMetric(index, 'gain')}),
  }));
  const curves = report.curves.map((members) => members.map((index) => ({run: report.runs[index], index})));
  const lines = curves.map((members) => ({
    colour: runColour(members[0].index),
    points: members.map(({run}) => [run.charged, run.scores[metric].score * factor]),
  }));
  place.replaceChildren(
    html('div', {class: 'controls'}, labelledSelect('Metric', 'cost-metric',
      report.metrics.map((one, index) => [index, one.name]), metric, (value) => {
        figureState.costMetric = Number(value);
        drawCost();
        byId('cost-metric').focus();
      })),
    drawChart({
      title: `${name} against network evaluations`, xLog: true, points, lines,
      xLabel: 'network evaluations for an output token (charged, logarithmic)', yLabel: name,
    }),
    html('p', {class: 'note'}, 'A point is a run: click it for its sentences. ',
      curves.length ? `Lines: one decoder at several budgets (${curves.map((members) =>
        members.map(({run}) => run.name).join(', ')).join('; ')}).`
        : 'Runs whose names differ only by a number at the end, and cost more with it, are joined to a scaling curve.'));
}

function drawValues() {
  const place = byId('value-figure');
  const withValues = report.runs.map((run, index) => ({run, index})).filter(({run}) => run.values);
  byId('value').hidden = withValues.length === 0;
  byId('nav-value').hidden = withValues.length === 0;
  if (withValues.length === 0) return;
  figureState.valueRun ??= withValues[0].index;
  const run = report.runs[figureState.valueRun];
  figureState.valueMetric ??= run.judgedBy;
  const metric = figureState.valueMetric;
  const pairs = run.values.map((value, sentence) =>
    ({value, score: run.sentenceScores[metric][sentence], sentence})).filter(({value}) => value !== null);
  const mean = (pick) => pairs.reduce((sum, pair) => sum + pick(pair), 0) / pairs.length;
  const value = mean((pair) => pair.value);
  const score = mean((pair) => pair.score);
  const range = padded(rangeOf(pairs.flatMap((pair) => [pair.value, pair.score])), 0.04);
  const {name} = report.metrics[metric];
  const again = (entries) => {
    Object.assign(figureState, entries);
    drawValues();
  };
  const pointed = html('output', {id: 'value-point'}, 'Point at a sentence, or walk over them by arrow keys.');
  place.replaceChildren(
    html('div', {class: 'controls'},
      labelledSelect('Run', 'value-run', withValues.map(({run: one, index}) => [index, one.name]),
        figureState.valueRun, (one) => again({valueRun: Number(one), valueMetric: null})),
      labelledSelect('Metric', 'value-metric', report.metrics.map((one, index) => [index, one.name]),
        metric, (one) => again({valueMetric: Number(one)}))),
    drawChart({
      title: `value of ${run.name} against ${name}`, diagonal: true, xRange: range, yRange: range,
      xLabel: `${name} of the translation`, yLabel: 'value of the network',
      look: (point) => {
        pointed.textContent = point.tip;
      },
      points: pairs.map((pair) => ({
        x: pair.score, y: pair.value, small: true, colour: runColour(figureState.valueRun),
        key: `value-${pair.sentence}`,
        tip: `sentence ${pair.sentence}: value ${number(pair.value)}, ${name} ${number(pair.score)}`,
        act: () => showSentences({
          run: figureState.valueRun, metric, sort: 'number',
          selection: {label: `sentence ${pair.sentence}`, numbers: new Set([pair.sentence])},
        }),
      })),
    }),
    html('p', {class: 'pointed'}, pointed),
    html('p', {}, `Mean value ${number(value)}, mean ${name} ${number(score)}: gap `,
      html('strong', {}, signed(value - score, 4)),
      metric === run.judgedBy && run.correlation !== null
        ? `; correlation ${number(run.correlation, 3)}.` : '.'),
    html('p', {class: 'note'}, 'Above the line the value promised too much. Click a point for its sentence. ',
      html('button', {
        type: 'button', id: 'worst-gaps',
        onclick: () => showSentences({run: figureState.valueRun, metric, sort: 'gap'}),
      }, 'Sentences by gap')));
}
