// The other words that the model considered at a place, of its best translations that begin alike.
import {wordsOf} from "./positions.js";

const shown = 5;  // words after the other one
const sentenceEnd = /[.!?…。！？][\p{Pe}\p{Pf}"']*(?=\s)/u;

// before: the text up to there; now: the word that stands there. Each {text, after, prefix}: the word, how the sentence
// would go on, with the space before it, and the translation up to the word.
export function otherWords(translations, before, now, language) {
  const seen = new Set([now]), others = [];
  for (const text of translations) {
    if (!text.startsWith(before)) continue;
    const [first, ...rest] = wordsOf(text, language).filter(([, end]) => end > before.length);
    if (!first || first[0] < before.length) continue;  // it goes on with the word before
    const [begin, end] = first, word = text.slice(begin, end);
    const stop = sentenceEnd.exec(text.slice(end)), last = stop ? end + stop.index + stop[0].length : text.length;
    const own = rest.filter(([from]) => from < last), cut = own.length > shown;
    if (seen.has(word)) continue;
    seen.add(word);
    others.push({text: word, after: text.slice(end, cut ? own[shown - 1][1] : last).trimEnd() + (cut ? " …" : ""), prefix: text.slice(0, end)});
  }
  return others;
}
