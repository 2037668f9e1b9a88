// The live page: a form for a sentence and decoders, their translations, their searches.

const explorer = new Explorer(byId('explorer-place'));
const chosenDecoders = []; // {offer, form, inputs}
let offers = [];
let latest = 0; // of several requests, only the last one is shown

async function ask(path, body) {
  const answer = await fetch(path, body === undefined ? {} : {
    method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify(body),
  });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error ?? `${answer.status}`);
  return content;
}

function optionInput(option, id) {
  if (option.choices.length) {
    return html('select', {id}, options(option.choices.map((one) => [one, one]), option.default));
  }
  return html('input', {
    type: 'number', id, value: option.default ?? '', placeholder: 'default',
    step: option.whole ? 1 : 'any',
  });
}

function spaced(name) {
  return name.replace(/_/g, ' ');
}

let counter = 0;

function addDecoder(offer) {
  const inputs = new Map();
  const entry = {offer, inputs};
  counter += 1;
  const own = counter;
  const fields = offer.options.map((option) => {
    const id = `decoder-${own}-${option.name}`;
    const input = optionInput(option, id);
    inputs.set(option, input);
    return html('label', {class: 'field', for: id, title: option.help},
      spaced(option.name), input);
  });
  const [main, more] = [true, false].map((wanted) => fields.filter((_, index) =>
    offer.options[index].main === wanted));
  entry.form = html('fieldset', {'data-decoder': offer.label},
    html('legend', {}, offer.label, ' ', html('button', {
      type: 'button', class: 'remove', 'aria-label': `remove ${offer.label}`,
      onclick: () => {
        chosenDecoders.splice(chosenDecoders.indexOf(entry), 1);
        entry.form.remove();
      },
    }, '✕')),
    html('p', {class: 'note'}, [offer.summary, ...Object.entries(offer.fixed)
      .map(([name, value]) => `${spaced(name)} ${value}`)].join('; ')),
    main, more.length ? html('details', {}, html('summary', {}, 'more options'), more) : null);
  chosenDecoders.push(entry);
  byId('decoders').append(entry.form);
}

// What was set: options that are as they were are left to the decoder.
function settingsOf({offer, inputs}) {
  const given = [...inputs].filter(([option, input]) =>
    input.value !== '' && input.value !== String(option.default ?? ''));
  const set = given.map(([option, input]) => `${spaced(option.name)} ${input.value}`);
  return {
    name: [offer.label, ...set].join(', '), search: offer.name,
    options: {...offer.fixed, ...Object.fromEntries(
      given.map(([option, input]) => [option.name, input.value]))},
  };
}

function resultRow(result, results) {
  const {name} = result;
  if (result.error) {
    return html('div', {class: 'row'}, html('div', {class: 'role'}, name),
      html('div', {class: 'text error', role: 'alert'}, result.error));
  }
  const base = results.find((one) => !one.error);
  const figures = [['score', result.score], ['value', result.value], ['metric', result.metric],
    ['likelihood', result.likelihood]].filter(([, value]) => value !== null)
    .map(([figure, value]) => `${figure} ${number(value)}`);
  figures.push(`${number(result.charged, 1)} evaluations a token charged, ${number(result.made, 1)} made`);
  return html('div', {class: 'row', 'data-result': name},
    html('div', {class: 'role'}, name),
    html('div', {class: 'text', dir: 'auto'},
      base === result || base.text === result.text ? result.text : diffElements(base.text, result.text),
      html('div', {class: 'figures'}, figures.join(' · ')),
      html('button', {type: 'button', class: 'see', onclick: () => see(result, results)},
        'See the search')));
}

async function see(result, results) {
  const shown = results.filter((one) => !one.error);
  byId('explorer').hidden = false;
  await explorer.show({
    title: '', texts: [['source', result.source], [`${shown[0].name} (first)`, shown[0].text]],
    run: shown.indexOf(result),
    runs: shown.map((one) => ({name: one.name, text: one.text, load: () => unpackRecord(one.record)})),
  });
  byId('explorer').scrollIntoView({behavior: 'auto', block: 'start'});
  byId('explorer-title').focus({preventScroll: true});
}

async function translate(event) {
  event.preventDefault();
  latest += 1;
  const own = latest;
  const text = byId('text').value;
  const wishes = chosenDecoders.map(settingsOf);
  const results = [];
  byId('translations').hidden = false;
  byId('explorer').hidden = true;
  byId('results').replaceChildren();
  for (const {name, ...wish} of wishes) {
    byId('progress').textContent = `${results.length} of ${wishes.length}: ${name} …`;
    const common = {name, source: text};
    try {
      results.push({...common, ...await ask('/api/translate', {text, ...wish})});
    } catch (error) {
      results.push({...common, error: error.message});
    }
    if (own !== latest) return;
    byId('results').replaceChildren(...results.map((result) => resultRow(result, results)));
  }
  byId('progress').textContent = wishes.length ? 'Done.' : 'Add a decoder first.';
}

async function start() {
  setUpTheme();
  offers = await ask('/api/decoders');
  offers.filter((offer) => !offer.missing).forEach(addDecoder);
  byId('more').replaceChildren(...options([['', 'a decoder …'],
    ...offers.map(({label, missing}, index) =>
      [index, missing ? `${label} (needs ${missing})` : label])], ''));
  byId('more').addEventListener('change', () => {
    if (byId('more').value !== '') addDecoder(offers[Number(byId('more').value)]);
    byId('more').value = '';
  });
  byId('form').addEventListener('submit', translate);
}

start().catch((error) => {
  byId('progress').textContent = `The server does not answer: ${error.message}`;
});
