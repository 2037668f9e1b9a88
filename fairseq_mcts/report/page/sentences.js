// The sentences: filtered, sorted, a page at a time, side by side.

const PAGE_SIZE = 20;

const SORTS = {
  gain: ['greatest gain first', (one) => -gainOf(state.run, state.metric, one)],
  loss: ['greatest loss first', (one) => gainOf(state.run, state.metric, one)],
  gap: ['value too high first', (one) => {
    const run = report.runs[state.run];
    if (!run.values || run.values[one] === null) return Infinity;
    return run.sentenceScores[state.metric][one] - run.values[one];
  }],
  likelihood: ['most likelihood given up first', (one) => {
    const [mine, theirs] = [report.runs[state.run], baselineRun()].map((run) => run.likelihoods[one]);
    if (state.run === report.baseline) return mine ?? Infinity;
    return mine === null || theirs === null ? Infinity : mine - theirs;
  }],
  score: ['lowest score first', (one) => report.runs[state.run].sentenceScores[state.metric][one]],
  length: ['length most unlike first', (one) => -Math.abs(Math.log(lengthRatio(state.run, one) ?? 1))],
  cost: ['most evaluations first', (one) => -(report.runs[state.run].cost[one] ?? 0)],
  number: ['in their order', (one) => one],
};

// As fairseq_mcts/report/watch.py counts words.
const WORD = /[\p{L}\p{N}_]+(?:[-'’][\p{L}\p{N}_]+)*/gu;

function countWords(text) {
  return (text.match(WORD) ?? []).length;
}

// Words of a translation for each of the reference's, or of the source's; null: not known.
function lengthRatio(run, one) {
  const others = report.references ?? report.sources;
  const count = others ? countWords(others[one]) : 0;
  return count > 0 ? Math.max(countWords(report.runs[run].texts[one]), 0.5) / count : null;
}

const shownRuns = new Set([report.baseline, state.run]);

function wantedSentences() {
  const wanted = [];
  const text = state.text.toLowerCase();
  const mine = report.runs[state.run].texts;
  const theirs = baselineRun().texts;
  for (let one = 0; one < report.sentences; one += 1) {
    if (state.selection && !state.selection.numbers.has(one)) continue;
    if (state.changedOnly && mine !== theirs && mine[one] === theirs[one]) continue;
    if (text && !textsOf(one).some((side) => side.toLowerCase().includes(text))) continue;
    wanted.push(one);
  }
  const key = SORTS[state.sort][1];
  const keys = new Map(wanted.map((one) => [one, key(one)]));
  return wanted.sort((one, other) => {
    const difference = keys.get(one) - keys.get(other);
    return difference || one - other;
  });
}

function textsOf(one) {
  return [report.sources?.[one] ?? '', report.references?.[one] ?? '',
    ...report.runs.map((run) => run.texts[one])];
}

function drawControls() {
  const runs = report.runs.map((run, index) => [index, run.name]);
  const search = html('input', {
    type: 'search', id: 'filter-text', value: state.text, placeholder: 'part of any text',
    oninput: () => change({text: search.value}),
  });
  const changed = html('input', {
    type: 'checkbox', id: 'changed-only', onchange: () => change({changedOnly: changed.checked}),
  });
  byId('sentence-controls').replaceChildren(
    html('label', {class: 'field', for: 'filter-text'}, 'Find', search),
    labelledSelect('Run', 'sentence-run', runs, state.run, (value) => change({run: Number(value)})),
    labelledSelect('Metric', 'sentence-metric', report.metrics.map((one, index) => [index, one.name]),
      state.metric, (value) => change({metric: Number(value)})),
    labelledSelect('Sort', 'sentence-sort', Object.entries(SORTS).map(([name, [text]]) => [name, text]),
      state.sort, (value) => change({sort: value})),
    html('label', {class: 'check', for: 'changed-only'}, changed, 'only changed sentences'),
    html('details', {class: 'which-runs'}, html('summary', {}, 'Runs side by side'),
      report.runs.map((run, index) => {
        const box = html('input', {
          type: 'checkbox', id: `show-run-${index}`,
          onchange: () => {
            if (box.checked) shownRuns.add(index);
            else shownRuns.delete(index);
            drawSentences();
          },
        });
        box.checked = shownRuns.has(index);
        return html('label', {class: 'check', for: `show-run-${index}`}, box, run.name);
      })));
}

function drawSentences() {
  // what the controls say is what is shown, whoever changed it
  byId('sentence-run').value = state.run;
  byId('sentence-metric').value = state.metric;
  byId('sentence-sort').value = state.sort;
  byId('filter-text').value = state.text;
  byId('changed-only').checked = state.changedOnly;
  if (!shownRuns.has(state.run)) {
    shownRuns.add(state.run);
    byId(`show-run-${state.run}`).checked = true;
  }
  const numbers = wantedSentences();
  const pages = Math.max(1, Math.ceil(numbers.length / PAGE_SIZE));
  const page = Math.min(state.page, pages - 1);
  byId('selection').replaceChildren(...(state.selection ? [html('span', {class: 'chip'},
    state.selection.label, ' ', html('button', {
      type: 'button', id: 'clear-selection', 'aria-label': 'show all sentences again',
      onclick: () => change({selection: null}),
    }, '✕'))] : []));
  byId('sentence-count').textContent = `${numbers.length} of ${report.sentences} sentences`;
  byId('sentence-list').replaceChildren(
    ...numbers.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE).map(sentenceCard));
  for (const [place, suffix] of [['pager-top', 'top'], ['pager-bottom', 'bottom']]) {
    byId(place).replaceChildren(
      pageButton('‹ previous', page - 1, page > 0, `previous-${suffix}`),
      html('span', {}, `page ${page + 1} of ${pages}`),
      pageButton('next ›', page + 1, page < pages - 1, `next-${suffix}`));
  }
}

function pageButton(text, page, enabled, id) {
  return html('button', {
    type: 'button', disabled: !enabled, id,
    onclick: () => {
      state.page = page;
      drawSentences();
      (byId(id).disabled ? byId('sentence-count') : byId(id)).focus();
    },
  }, text);
}

function sentenceCard(one) {
  const rows = [];
  if (report.sources) rows.push(textRow('source', report.sources[one], null));
  if (report.references) rows.push(textRow('reference', report.references[one], null));
  const order = [report.baseline, ...report.runs.keys()].filter((run, index, all) =>
    shownRuns.has(run) && all.indexOf(run) === index);
  rows.push(...order.map((run) => runRow(run, one)));
  const gain = gainOf(state.run, state.metric, one);
  const verdict = gain > 0 ? 'better' : gain < 0 ? 'worse' : '';
  const figure = state.run === report.baseline
    ? printed(state.metric, baselineRun().sentenceScores[state.metric][one])
    : printedChange(state.metric, gain);
  const searches = recordedRuns(one);
  return html('article', {class: 'card', 'data-sentence': one},
    html('header', {}, html('h3', {}, `Sentence ${one}`),
      html('span', {class: `change ${verdict}`},
        `${report.metrics[state.metric].name} ${figure} in ${report.runs[state.run].name}`),
      searches.length ? html('button', {
        type: 'button', class: 'explore', onclick: () => explore(one),
      }, 'See the search') : null),
    html('div', {class: 'rows'}, rows));
}

function textRow(role, text, colour, ...more) {
  return html('div', {class: 'row'},
    html('div', {class: 'role'}, colour ? html('span', {class: `dot ${colour}`}) : null, role),
    html('div', {class: 'text', dir: 'auto'}, text, ...more));
}

function runRow(run, one) {
  const entry = report.runs[run];
  const text = entry.texts[one];
  const base = baselineRun().texts[one];
  const shown = run === report.baseline || text === base ? text : diffElements(base, text);
  const figures = report.metrics.map((metric, index) =>
    `${metric.name} ${printed(index, entry.sentenceScores[index][one])}`);
  if (entry.values?.[one] !== null && entry.values?.[one] !== undefined) {
    figures.push(`value ${number(entry.values[one])}`);
  }
  if (entry.likelihoods[one] !== null) figures.push(`likelihood ${number(entry.likelihoods[one], 3)}`);
  if (entry.cost[one] !== null) {
    const made = entry.made === null ? '' : `, ${entry.madeCost[one]} made`;
    figures.push(`${entry.estimated ? '≈' : ''}${entry.cost[one]} evaluations charged${made}`);
  }
  const losses = KINDS.filter(([kind]) => entry[kind][one])
    .map(([kind, title]) => `${title}: ${entry[kind][one].join(', ')}`);
  return textRow(entry.name, shown, runColour(run), html('div', {class: 'figures'}, figures.join(' · ')),
    losses.length ? html('div', {class: 'losses'}, '⚠ ', losses.join('; ')) : null);
}

// The name of a run with its colour.
function runName(run) {
  return html('span', {class: 'run-name'}, html('span', {class: `dot ${runColour(run)}`}),
    report.runs[run].name);
}

function recordedRuns(one) {
  return report.runs.map((run, index) => ({run, index, block: byId(`search-${index}-${one}`)}))
    .filter(({block}) => block !== null);
}
