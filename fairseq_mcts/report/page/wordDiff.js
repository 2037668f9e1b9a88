// Differences between two texts, word by word.

const MOST_WORDS = 400; // of a text that is compared; longer ones are shown without colours

function wordsOf(text) {
  return text.split(/(\s+)/).filter((part) => part.trim() !== '');
}

// [['same' | 'added' | 'removed', words], …] that turn `before` into `after`: by their longest
// common subsequence.
function wordDiff(before, after) {
  const old = wordsOf(before);
  const now = wordsOf(after);
  if (old.length > MOST_WORDS || now.length > MOST_WORDS) return [['same', now]];
  const common = Array.from({length: old.length + 1}, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i][j] = old[i] === now[j]
        ? common[i + 1][j + 1] + 1 : Math.max(common[i + 1][j], common[i][j + 1]);
    }
  }
  const parts = [];
  const add = (kind, word) => {
    if (parts.length && parts[parts.length - 1][0] === kind) parts[parts.length - 1][1].push(word);
    else parts.push([kind, [word]]);
  };
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      add('same', old[i]);
      i += 1;
      j += 1;
    } else if (j === now.length || (i < old.length && common[i + 1][j] >= common[i][j + 1])) {
      add('removed', old[i]);
      i += 1;
    } else {
      add('added', now[j]);
      j += 1;
    }
  }
  return parts;
}

const DIFF_TAGS = {same: 'span', added: 'ins', removed: 'del'};

// `after` with its differences to `before`, coloured and also struck out or underlined.
function diffElements(before, after) {
  return wordDiff(before, after).map(([kind, words]) =>
    [html(DIFF_TAGS[kind], {}, words.join(' ')), ' ']);
}
