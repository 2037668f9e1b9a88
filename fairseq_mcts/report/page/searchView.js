// Draws a search: as a tree from left to right, or the beams as a lattice.

const NODE_HEIGHT = 36;
const ROW_HEIGHT = 46;
const COLUMN_GAP = 34;
const SHADES = 6;
const SHOWN_AT_FIRST = 24; // nodes, or all siblings of the chosen ones

const pen = document.createElement('canvas').getContext('2d');
const {fontFamily} = getComputedStyle(document.body);

function textWidth(text, font) {
  pen.font = `${font} ${fontFamily}`;
  return Math.ceil(pen.measureText(text).width);
}

// Both lines of a box fit into it; the fonts are those of style.css.
function nodeWidth(piece, figures) {
  return Math.max(78, 16 + textWidth(pieceLabel(piece), '600 13px'), 16 + textWidth(figures, '11.5px'));
}

// Which of SHADES a value has: by its rank among those that are shown, so that a single one far off
// does not make all others equal.
function shadeOf(value, ascending) {
  if (value === null || value === undefined || ascending.length < 2) return SHADES >> 1;
  const rank = ascending.findIndex((one) => one >= value);
  return Math.min(SHADES - 1, Math.floor((rank / (ascending.length - 1)) * SHADES));
}

// The nodes that are unfolded before anybody unfolds or folds one: the chosen, then the most visited.
function firstUnfolded(tree, state) {
  const chosen = new Set(tree.chosen);
  const ranked = [...state.visits.keys()].filter((node) => state.visits[node] > 0)
    .sort((one, other) => (chosen.has(other) - chosen.has(one))
      || state.visits[other] - state.visits[one] || one - other);
  const unfolded = new Set();
  let shown = 0;
  for (const node of ranked) {
    if (shown >= SHOWN_AT_FIRST && !chosen.has(node)) break;
    for (let one = tree.parent[node]; one >= 0 && !unfolded.has(one); one = tree.parent[one]) {
      unfolded.add(one);
      shown += tree.children[one].filter((child) => state.visits[child] > 0).length;
    }
  }
  return unfolded;
}

// Positions of the nodes that are shown: children below one another, parents beside their first,
// which is the chosen one, so that the translation is the first row. Other branches stand as high as
// there is room.
function layOutTree(tree, state, unfolded, figuresOf) {
  const placed = new Map();
  const chosen = new Set(tree.chosen);
  const widths = [];
  const arrange = (node) => {
    const depth = tree.depth[node];
    widths[depth] = Math.max(widths[depth] ?? 0, nodeWidth(tree.piece[node], figuresOf(node)));
    const children = tree.children[node].filter((child) => state.visits[child] > 0)
      .sort((one, other) => (chosen.has(other) - chosen.has(one))
        || state.visits[other] - state.visits[one] || one - other);
    const shown = (unfolded.has(node) ? children : []).map(arrange);
    // where children are folded, their number stands in the next column
    const reach = Math.max(depth + Math.min(children.length, 1), ...shown.map((child) => child.reach));
    return {node, depth, reach, shown, children: children.length, open: shown.length > 0};
  };
  if (state.visits[ROOT_NODE] === 0) return finished(placed, widths, 1, 0);
  const root = arrange(ROOT_NODE);
  const free = Array(root.reach + 1).fill(0); // of each column: the first row below all that is there
  const place = ({node, depth, reach, shown, children, open}, row) => {
    placed.set(node, {node, depth, row, children, open});
    free.fill(row + 1, depth, (open ? depth : reach) + 1);
    shown.forEach((child, index) =>
      place(child, index > 0 ? Math.max(...free.slice(child.depth, child.reach + 1)) : row));
  };
  place(root, 0);
  return finished(placed, widths, Math.max(...free), 0);
}

// Beams of a step stand in a column, by rank; finished sentences below them, dropped ones last.
function layOutBeams(tree, state, hidden, figuresOf) {
  const placed = new Map();
  const widths = [];
  const columns = [];
  for (let node = 0; node < tree.parent.length; node += 1) {
    if (state.visits[node] === 0 || hidden.has(node)) continue;
    (columns[tree.depth[node]] ??= []).push(node);
  }
  const group = (node) => (tree.rank[node] !== null ? 0 : tree.finished[node] ? 1 : 2);
  let rows = 1;
  columns.forEach((column, depth) => {
    column.sort((one, other) => group(one) - group(other)
      || (tree.rank[one] ?? 0) - (tree.rank[other] ?? 0) || tree.score[other] - tree.score[one]);
    column.forEach((node, row) => {
      widths[depth] = Math.max(widths[depth] ?? 0, nodeWidth(tree.piece[node], figuresOf(node)));
      placed.set(node, {node, depth, row, children: 0, open: false});
    });
    rows = Math.max(rows, column.length);
  });
  return finished(placed, widths, rows, 18);
}

function finished(placed, widths, rows, top) {
  const lefts = [];
  let left = 6;
  widths.forEach((width, depth) => {
    lefts[depth] = left;
    left += width + COLUMN_GAP;
  });
  for (const position of placed.values()) {
    position.x = lefts[position.depth];
    position.y = 6 + top + position.row * ROW_HEIGHT;
    position.width = widths[position.depth];
  }
  return {placed, lefts, widths, width: left + 24, height: 12 + top + rows * ROW_HEIGHT};
}

function secondLine(model, tree, state, node) {
  if (model.kind === 'beam') return node === ROOT_NODE ? '' : number(tree.score[node], 3);
  const times = `${state.visits[node]}×`;
  return state.value[node] === null ? times : `${times} ${number(state.value[node], 3)}`;
}

// The whole drawing; `actions` are {toggle(node), look(node)}.
function drawSearch(model, step, moment, view, actions) {
  const tree = model.trees[step];
  const state = model.at(step, moment);
  const figuresOf = (node) => secondLine(model, tree, state, node);
  const layout = model.kind === 'beam'
    ? layOutBeams(tree, state, view.showDropped ? new Set() : model.dropped, figuresOf)
    : layOutTree(tree, state, view.unfolded, figuresOf);
  const shown = new Set(layout.placed.keys());
  if (model.kind === 'beam') shown.delete(ROOT_NODE); // its score is none
  const values = [...shown].map((node) => state.value[node]).filter((value) => value !== null);
  const ascending = [...new Set(values)].sort((one, other) => one - other);
  const chosen = new Set([ROOT_NODE, ...tree.chosen]);
  const picture = svg('svg', {
    width: layout.width, height: layout.height, role: 'tree', class: 'search',
    'aria-label': model.kind === 'beam' ? 'Beams, step by step' : 'Search tree',
  });
  for (const position of layout.placed.values()) {
    const parent = layout.placed.get(tree.parent[position.node]);
    if (parent) picture.append(edge(parent, position, chosen, state, tree));
  }
  if (model.kind === 'beam') {
    layout.lefts.forEach((left, depth) => picture.append(
      svg('text', {x: left, y: 14, class: 'column-title'}, depth === 0 ? 'start' : `step ${depth}`)));
  }
  for (const position of layout.placed.values()) {
    const {node} = position;
    const value = shown.has(node) ? state.value[node] : null;
    const classes = ['node', `shade-${shadeOf(value, ascending)}`];
    if (chosen.has(node)) classes.push('chosen');
    if (state.newest.has(node)) classes.push('newest');
    if (model.dropped.has(node)) classes.push('dropped');
    if (view.looked === node) classes.push('looked');
    const folded = position.children > 0 && !position.open;
    const group = svg('g', {
      class: classes.join(' '), tabindex: 0, role: 'treeitem', 'data-node': node,
      'aria-expanded': position.children > 0 ? String(position.open) : null,
      'aria-label': `${pieceLabel(tree.piece[node])}, ${figuresOf(node)}`
        + (folded ? `, ${position.children} children folded` : ''),
      transform: `translate(${position.x} ${position.y})`,
      onclick: () => actions.toggle(node),
      onmouseenter: () => actions.look(node),
      onfocus: () => actions.look(node),
      onkeydown: (event) => onNodeKey(event, picture, tree, layout, position, actions),
    },
    svg('rect', {width: position.width, height: NODE_HEIGHT, rx: tree.piece[node] === '</s>' ? 0 : 8}),
    svg('text', {x: 10, y: 15, class: 'piece'}, pieceLabel(tree.piece[node])),
    svg('text', {x: 10, y: 30, class: 'figures'}, figuresOf(node)),
    folded ? svg('text', {x: position.width + 4, y: 22, class: 'fold'}, `+${position.children}`)
      : null);
    picture.append(group);
  }
  return {picture, state, hidden: state.visits.filter((visits) => visits > 0).length
    - layout.placed.size};
}

function edge(parent, child, chosen, state, tree) {
  const x1 = parent.x + parent.width;
  const y1 = parent.y + NODE_HEIGHT / 2;
  const y2 = child.y + NODE_HEIGHT / 2;
  const middle = (x1 + child.x) / 2;
  const isChosen = chosen.has(child.node) && chosen.has(tree.parent[child.node]);
  const isNewest = state.newest.has(child.node);
  return svg('path', {
    d: `M${x1} ${y1} C${middle} ${y1} ${middle} ${y2} ${child.x} ${y2}`,
    class: `edge${isChosen ? ' chosen' : ''}${isNewest ? ' newest' : ''}`,
  });
}

function onNodeKey(event, picture, tree, layout, position, actions) {
  const focus = (node) => {
    if (!layout.placed.has(node)) return;
    const box = picture.querySelector(`[data-node="${node}"]`);
    box.focus();
    box.scrollIntoView({block: 'nearest', inline: 'nearest'}); // where it was in view by half
  };
  const all = [...layout.placed.values()].sort((one, other) => one.y - other.y);
  const column = all.filter((one) => one.depth === position.depth);
  const place = column.indexOf(position);
  const moves = {
    ArrowLeft: () => focus(tree.parent[position.node]),
    ArrowRight: () => focus(all.find((one) => tree.parent[one.node] === position.node)?.node),
    ArrowUp: () => place > 0 && focus(column[place - 1].node),
    ArrowDown: () => place < column.length - 1 && focus(column[place + 1].node),
    Enter: () => actions.toggle(position.node),
    ' ': () => actions.toggle(position.node),
  };
  if (!(event.key in moves)) return;
  event.preventDefault();
  moves[event.key]();
}
