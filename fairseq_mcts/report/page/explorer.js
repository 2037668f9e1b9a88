// The search for one sentence: its tokens, the moments of each token's search, the nodes.

const HISTOGRAM_BINS = 12;

class Explorer {
  constructor(place) {
    this.place = place;
    this.timer = null;
  }

  // `subject`: {title, texts: [[role, text]], runs: [{name, text, load: async () => record}], run}
  async show(subject) {
    this.stop();
    this.subject = subject;
    await this.chooseRun(subject.run ?? 0);
  }

  async chooseRun(run) {
    this.stop();
    this.run = Number(run);
    this.model = new SearchModel(await this.subject.runs[this.run].load());
    this.view = {unfolded: null, showDropped: false, looked: null};
    this.chooseStep(0, false);
    this.renderAll();
  }

  chooseStep(step, render = true) {
    this.step = Math.min(Math.max(step, 0), this.model.steps - 1);
    this.moment = this.model.lastMoment(this.step);
    this.view.unfolded = this.defaultFolding();
    this.view.looked = ROOT_NODE;
    if (render) this.renderAll();
  }

  defaultFolding() {
    const tree = this.model.trees[this.step];
    return firstUnfolded(tree, this.model.at(this.step, this.model.lastMoment(this.step)));
  }

  renderAll() {
    const {subject, model} = this;
    const chosen = subject.runs[this.run];
    const texts = html('dl', {class: 'texts'},
      [...subject.texts, [chosen.name, chosen.text]].map(([role, text]) =>
        [html('dt', {}, role), html('dd', {dir: 'auto'}, text)]));
    this.drawing = html('div', {class: 'drawing', tabindex: -1});
    this.details = html('div', {class: 'details', 'aria-live': 'polite', id: 'node-details'});
    this.place.replaceChildren(
      html('h3', {id: 'explorer-title', tabindex: -1}, subject.title),
      texts,
      html('div', {class: 'controls'},
        labelledSelect('Search of', 'explorer-run',
          subject.runs.map((run, index) => [index, run.name]), this.run,
          (value) => this.chooseRun(value)),
        this.momentControls()),
      model.kind === 'tree' ? this.tokenButtons() : this.outputText(),
      html('div', {class: 'search-panel'}, this.drawing, this.details),
      this.legend());
    this.renderMoment();
    this.place.dataset.shown = chosen.name;
  }

  tokenButtons() {
    return html('div', {class: 'tokens', role: 'group', 'aria-label': 'Output tokens'},
      this.model.record.output.map((piece, index) => html('button', {
        type: 'button', class: 'token', 'aria-pressed': String(index === this.step),
        'data-step': index + 1, title: `output token ${index + 1}`,
        disabled: index >= this.model.steps,
        onclick: () => {
          this.stop();
          this.chooseStep(index);
          this.place.querySelector(`[data-step="${index + 1}"]`).focus();
        },
      }, html('small', {}, index + 1), ' ', pieceLabel(piece))));
  }

  outputText() {
    return html('p', {class: 'output'}, 'Output: ', html('strong', {},
      joinedPieces(this.model.record.output)));
  }

  momentControls() {
    const last = this.model.lastMoment(this.step);
    const names = {tree: 'Simulation', samples: 'Samples', beam: 'Step'};
    this.slider = html('input', {
      type: 'range', id: 'moment', min: 0, max: last, step: 1, value: this.moment,
      oninput: () => {
        this.stop();
        this.moment = Number(this.slider.value);
        this.renderMoment();
      },
    });
    this.shown = html('output', {for: 'moment', id: 'moment-shown'});
    this.player = html('button', {type: 'button', id: 'play', onclick: () => this.play()}, '▶ Play');
    return [html('label', {class: 'field slider', for: 'moment'}, names[this.model.kind], this.slider,
      this.shown), this.player, this.model.kind === 'beam' ? this.droppedBox() : this.foldButtons()];
  }

  // Searches that rank all that they look at at once do not tell what they dropped.
  droppedBox() {
    if (!this.model.dropped.size) return null;
    const box = html('input', {
      type: 'checkbox', id: 'show-dropped',
      onchange: () => {
        this.view.showDropped = box.checked;
        this.renderMoment();
      },
    });
    box.checked = this.view.showDropped;
    return html('label', {class: 'check', for: 'show-dropped'}, box, 'dropped proposals too');
  }

  foldButtons() {
    return [
      html('button', {type: 'button', id: 'unfold-all', onclick: () => this.foldAll(false)}, 'Unfold all'),
      html('button', {type: 'button', id: 'fold-all', onclick: () => this.foldAll(true)}, 'Main branches'),
    ];
  }

  foldAll(fold) {
    const size = this.model.trees[this.step].parent.length;
    this.view.unfolded = fold ? this.defaultFolding() : new Set(Array(size).keys());
    this.renderMoment();
  }

  play() {
    if (this.timer !== null) {
      this.stop();
      return;
    }
    const last = this.model.lastMoment(this.step);
    if (this.moment >= last) this.moment = 0;
    const pace = Math.max(30, Math.min(400, 6000 / Math.max(last, 1)));
    this.player.textContent = '⏸ Pause';
    this.timer = window.setInterval(() => {
      this.moment += 1;
      this.slider.value = this.moment;
      this.renderMoment();
      if (this.moment >= last) this.stop();
    }, pace);
  }

  stop() {
    if (this.timer === null) return;
    window.clearInterval(this.timer);
    this.timer = null;
    this.player.textContent = '▶ Play';
  }

  renderMoment() {
    const actions = {
      toggle: (node) => {
        this.view.looked = node;
        if (!this.view.unfolded.delete(node)) this.view.unfolded.add(node);
        this.renderMoment();
        this.drawing.querySelector(`[data-node="${node}"]`)?.focus({preventScroll: true});
      },
      look: (node) => {
        this.view.looked = node;
        for (const one of this.drawing.querySelectorAll('.looked')) one.classList.remove('looked');
        this.drawing.querySelector(`[data-node="${node}"]`)?.classList.add('looked');
        this.renderDetails();
      },
    };
    const drawn = drawSearch(this.model, this.step, this.moment, this.view, actions);
    this.state = drawn.state;
    const {scrollLeft, scrollTop} = this.drawing;
    this.drawing.replaceChildren(drawn.picture);
    this.drawing.scrollTo(scrollLeft, scrollTop);
    this.shown.textContent = `${this.moment} of ${this.model.lastMoment(this.step)}`;
    this.renderDetails(drawn.hidden);
  }

  renderDetails(hidden) {
    if (hidden !== undefined) this.hidden = hidden;
    const {model, step, state} = this;
    const tree = model.trees[step];
    const node = this.view.looked ?? ROOT_NODE;
    const rows = [['Token', pieceLabel(tree.piece[node])]];
    const add = (name, value) => rows.push([name, value]);
    const addDeviation = (isKnown) => tree.deviation
      && add('Deviation', isKnown ? number(tree.deviation[node]) : '–');
    if (model.kind === 'tree') {
      add('Prior', number(tree.prior[node], 4));
      add('Visits', state.visits[node]);
      add('Value Q', number(state.value[node]));
      add('Own value', state.visits[node] ? number(tree.opened[node]) : '–');
      addDeviation(state.visits[node] > 0);
    } else if (model.kind === 'samples') {
      add('Samples', state.visits[node]);
      if (node !== ROOT_NODE) add('Probability', number(Math.exp(tree.logprob[node])));
      add('Best score', number(state.value[node]));
    } else if (node !== ROOT_NODE) {
      add('Rank', tree.rank[node] === null ? (tree.finished[node] ? 'finished' : 'dropped')
        : tree.rank[node] + 1);
      add('Prior', number(Math.exp(tree.logprob[node] - tree.logprob[tree.parent[node]]), 4));
      add('Score', number(tree.score[node]));
      add('Log-probability', number(tree.logprob[node]));
      add('Value', number(tree.value[node]));
      addDeviation(true);
    }
    add('Prefix', joinedPieces(model.prefix(step, node)) || '–');
    // what the search itself says of the node at its end
    const recorded = model.kind === 'tree' ? tree.value[node] : null;
    this.details.replaceChildren(
      html('dl', {'data-recorded': recorded}, rows.map(([name, value]) => [html('dt', {}, name),
        html('dd', {'data-field': name}, value)])),
      state.passed[node].length > 1 ? histogram(state.passed[node], model.kind) : '',
      this.hidden > 0 ? html('p', {class: 'note'}, model.kind === 'beam'
        ? `${this.hidden} dropped proposals are not shown.`
        : `${this.hidden} nodes are folded away.`) : '');
  }

  legend() {
    const shades = Array.from({length: SHADES}, (_, shade) =>
      html('span', {class: `swatch shade-${shade}`}));
    const folded = '+n: n children are folded; click or press Enter to unfold.';
    const meanings = {
      tree: `In a box: token, visits×, value. ${folded} Dashed: the newest simulation. Thick: what `
        + 'was chosen.',
      samples: 'In a box: token, number of samples that pass, best score among them. '
        + `${folded} Dashed: the newest sample. Thick: the sample that was chosen.`,
      beam: 'A column a step, the best beam on top; in a box: token, score. Thick: the translation. '
        + 'Angular boxes: finished sentences.',
    };
    return html('p', {class: 'legend'}, 'Value from low ', shades, ' to high. ',
      meanings[this.model.kind], this.model.trees.some((tree) => tree.deviation)
        ? ' Deviation: the standard deviation of the network’s own value.' : '');
  }
}

// The distribution of the values that were backed up through a node, or of its samples' scores.
function histogram(values, kind) {
  const lowest = Math.min(...values);
  const highest = Math.max(...values);
  const width = 200;
  const height = 70;
  const bins = Array(HISTOGRAM_BINS).fill(0);
  for (const value of values) {
    const place = highest > lowest ? (value - lowest) / (highest - lowest) : 0.5;
    bins[Math.min(HISTOGRAM_BINS - 1, Math.floor(place * HISTOGRAM_BINS))] += 1;
  }
  const most = Math.max(...bins);
  const bar = width / HISTOGRAM_BINS;
  const what = kind === 'tree' ? 'values backed up here' : 'scores of samples';
  const text = `${values.length} ${what}, ${number(lowest)} to ${number(highest)}`;
  return html('figure', {class: 'histogram'},
    svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': text},
      bins.map((count, index) => svg('rect', {
        x: index * bar + 1, y: height - (count / most) * height, width: bar - 2,
        height: (count / most) * height,
      }))),
    html('figcaption', {}, text));
}
