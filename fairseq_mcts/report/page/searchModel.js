// A recorded search as it stood after any number of simulations, samples or steps.

const ROOT_NODE = 0;

async function unpackRecord(text) {
  const bytes = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const record = JSON.parse(await new Response(stream).text());
  const spelled = (column) => column.map((piece) => record.pieces[piece]);
  record.output = spelled(record.output);
  for (const tree of record.trees) tree.piece = spelled(tree.piece);
  return record;
}

// What one node of `tree` gets when a value is backed up through it: the rules of --mcts-backup.
function backedUp(rules, tree, state, node, value) {
  const children = tree.children[node].filter((child) => state.visits[child] > 0);
  const own = tree.opened[node];
  if (rules.backup === 'mean') {
    return state.value[node] + (value - state.value[node]) / state.visits[node];
  }
  if (rules.backup === 'max') return Math.max(state.value[node], value);
  if (rules.backup === 'power') {
    const {lowest} = state;
    const greatest = Math.max(own, ...children.map((child) => state.value[child])) - lowest;
    if (greatest <= 0) return lowest;
    let total = ((own - lowest) / greatest) ** rules.power;
    for (const child of children) {
      const share = Math.max(state.value[child] - lowest, 0) / greatest;
      total += state.visits[child] * share ** rules.power;
    }
    return lowest + greatest * (total / state.visits[node]) ** (1 / rules.power);
  }
  const weight = rules.backup === 'weighted-max' ? 1 : 0;
  return Math.max(...children.map((child) => {
    const value_ = state.value[child];
    return value_ - (value_ - own) * weight / (state.visits[child] + weight);
  }));
}

class SearchModel {
  constructor(record) {
    this.record = record;
    this.kind = record.kind;
    this.trees = record.trees.map((columns) => withChildren(columns));
    this.dropped = new Set(record.kind === 'beam' ? droppedNodes(this.trees[0]) : []);
  }

  // How many trees there are to step through: one for each output token, or a single one.
  get steps() {
    return this.trees.length;
  }

  // The last moment of a tree: all simulations, all samples, the last step of the beam.
  lastMoment(step) {
    const tree = this.trees[step];
    if (this.kind === 'tree') return tree.landings.length - 1;
    if (this.kind === 'samples') return tree.samples.length;
    return Math.max(...tree.depth);
  }

  // What is known of every node at a moment: visits (0: not there yet), value, newest (the path of
  // what came last).
  at(step, moment) {
    const tree = this.trees[step];
    if (this.kind === 'tree') return this.simulated(tree, moment);
    if (this.kind === 'samples') return this.sampled(tree, moment);
    const size = tree.parent.length;
    const visits = tree.depth.map((depth) => (depth <= moment ? 1 : 0));
    return {visits, value: tree.score, newest: new Set(), size, passed: Array(size).fill([])};
  }

  simulated(tree, moment) {
    const size = tree.parent.length;
    const state = {
      visits: Array(size).fill(0), value: Array(size).fill(null), newest: new Set(), size,
      lowest: Infinity, passed: Array.from({length: size}, () => []),
    };
    for (let simulation = 0; simulation <= moment; simulation += 1) {
      const leaf = tree.landings[simulation];
      const value = tree.opened[leaf];
      state.lowest = Math.min(state.lowest, value);
      if (state.visits[leaf] === 0) state.value[leaf] = value;
      state.newest = new Set([leaf]);
      state.visits[leaf] += 1;
      state.passed[leaf].push(value);
      for (let node = tree.parent[leaf]; node >= 0; node = tree.parent[node]) {
        state.visits[node] += 1;
        state.value[node] = backedUp(this.record, tree, state, node, value);
        state.passed[node].push(value);
        state.newest.add(node);
      }
    }
    return state;
  }

  sampled(tree, moment) {
    const size = tree.parent.length;
    const state = {
      visits: Array(size).fill(0), value: Array(size).fill(null), newest: new Set(), size,
      passed: Array.from({length: size}, () => []),
    };
    for (const end of tree.samples.slice(0, moment)) {
      state.newest = new Set();
      const score = tree.score[end];
      for (let node = end; node >= 0; node = tree.parent[node]) {
        state.visits[node] += 1;
        state.newest.add(node);
        if (score === null) continue;
        state.passed[node].push(score);
        state.value[node] = Math.max(state.value[node] ?? -Infinity, score);
      }
    }
    return state;
  }

  // The pieces from the start of the translation to a node: a tree begins where the last one chose.
  prefix(step, node) {
    const tree = this.trees[step];
    const pieces = [];
    for (let one = node; one > ROOT_NODE; one = tree.parent[one]) pieces.unshift(tree.piece[one]);
    return [...this.record.output.slice(0, step), ...pieces];
  }
}

// Proposals of a beam search that neither went on nor were finished.
function droppedNodes(tree) {
  return [...tree.rank.keys()].filter((node) =>
    node !== ROOT_NODE && tree.rank[node] === null && !tree.finished[node]);
}

function withChildren(columns) {
  const size = columns.parent.length;
  const children = Array.from({length: size}, () => []);
  const depth = Array(size).fill(0);
  for (let node = 1; node < size; node += 1) {
    children[columns.parent[node]].push(node);
    depth[node] = depth[columns.parent[node]] + 1;
  }
  return {...columns, children, depth};
}
