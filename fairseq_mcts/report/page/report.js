// Draws the page.

const LONGEST_CHOICE = 90; // characters

const explorer = new Explorer(byId('explorer-place'));

async function explore(one) {
  const recorded = recordedRuns(one);
  const texts = [];
  if (report.sources) texts.push(['source', report.sources[one]]);
  if (report.references) texts.push(['reference', report.references[one]]);
  texts.push([`${baselineRun().name} (baseline)`, baselineRun().texts[one]]);
  const wanted = recorded.findIndex(({index}) => index === state.run);
  byId('explorer-sentence').value = one;
  await explorer.show({
    title: `Sentence ${one}`, texts, run: Math.max(wanted, 0),
    runs: recorded.map(({run, block}) => ({
      name: run.name, text: run.texts[one], load: () => unpackRecord(block.textContent),
    })),
  });
  byId('explorer').scrollIntoView({behavior: 'auto', block: 'start'});
  byId('explorer-title').focus({preventScroll: true});
}

function shortened(text) {
  return text.length > LONGEST_CHOICE ? `${text.slice(0, LONGEST_CHOICE)} …` : text;
}

function drawExplorerChoice() {
  const blocks = [...document.querySelectorAll('script[id^="search-"]')];
  const sentences = [...new Set(blocks.map((block) => Number(block.id.split('-')[2])))]
    .sort((one, other) => one - other);
  if (sentences.length === 0) {
    byId('explorer-choice').replaceChildren(html('p', {class: 'note'},
      'No search was recorded. Decode with --search-record FILE, the file in the folder of '
      + '--results-path, to see trees, beams and samples here.'));
    return;
  }
  const text = (one) => (report.sources ?? baselineRun().texts)[one];
  const select = labelledSelect('Sentence', 'explorer-sentence',
    [['', 'choose …'], ...sentences.map((one) => [one, shortened(`${one}: ${text(one)}`)])], '',
    (value) => value !== '' && explore(Number(value)));
  byId('explorer-choice').replaceChildren(
    html('div', {class: 'controls'}, select),
    html('p', {class: 'note'}, blocks.length === report.numRecorded
      ? `All ${blocks.length} recorded searches are in this page.`
      : `${blocks.length} of ${report.numRecorded} recorded searches are in this page: those of the `
        + 'sentences that changed most.'));
}

byId('subtitle').textContent = `${report.sentences} sentences, ${report.runs.length} `
  + `${report.runs.length === 1 ? 'run' : 'runs'}, compared with ${baselineRun().name}`;
setUpTheme();
drawScores();
drawControls();
drawSentences();
drawCost();
drawValues();
drawWatch();
drawExplorerChoice();
onChange(drawSentences);
