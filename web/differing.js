// What two texts have in common. A script of its own: reports, which are one file, have it, too.
"use strict";

const mostPairs = 1e6;  // of words, to compare

// Of each word, the place of the same one in the other list by their longest common subsequence; null: it has none, and
// undefined: the lists are too long to tell.
function paired(words, others) {
  if (words.length * others.length > mostPairs) return words.map(() => undefined);
  const best = Array.from({length: words.length + 1}, () => Array(others.length + 1).fill(0));
  for (let i = words.length - 1; i >= 0; --i) {
    for (let j = others.length - 1; j >= 0; --j) best[i][j] = words[i] === others[j] ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
  }
  let j = 0;
  return words.map((word, i) => {
    while (j < others.length && word !== others[j] && best[i][j + 1] === best[i][j]) ++j;
    return j < others.length && word === others[j] ? j++ : null;
  });
}
