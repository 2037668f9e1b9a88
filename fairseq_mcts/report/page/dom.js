// Elements without markup: texts are only ever set as texts, so a sentence can hold anything.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

function html(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function byId(id) {
  return document.getElementById(id);
}

function options(entries, chosen) {
  return entries.map(([value, text]) =>
    html('option', {value, selected: String(value) === String(chosen)}, text));
}

// A select with a label; `choose` hears of every change.
function labelledSelect(text, id, entries, chosen, choose) {
  const select = html('select', {id, onchange: () => choose(select.value)},
    options(entries, chosen));
  return html('label', {for: id, class: 'field'}, text, select);
}

function number(value, digits = 4) {
  return value === null || value === undefined ? '–' : value.toFixed(digits).replace('-', '−');
}

function signed(value, digits) {
  if (value === null || value === undefined) return '–';
  const text = number(value, digits);
  return value >= 0 ? `+${text}` : text;
}

// The marks of sentencepiece and subword-nmt, as a reader would write them.
function pieceLabel(piece) {
  if (piece === '') return '(start)';
  if (piece === '</s>') return '‹end›';
  return piece.replace(/\u2581/g, '␣');
}

function joinedPieces(pieces) {
  const kept = pieces.filter((piece) => piece !== '</s>' && piece !== '');
  if (kept.some((piece) => piece.startsWith('\u2581'))) {
    return kept.join('').replace(/\u2581/g, ' ').trim();
  }
  return kept.join(' ').replace(/@@ /g, '');
}

// Light or dark: what the system says, until the button is pressed.
function setUpTheme() {
  const button = byId('theme');
  const dark = window.matchMedia('(prefers-color-scheme: dark)').matches;
  const show = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === 'dark' ? 'Light colours' : 'Dark colours';
  };
  show(dark ? 'dark' : 'light');
  button.addEventListener('click', () =>
    show(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'));
}
