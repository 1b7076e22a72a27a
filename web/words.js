// The other words that the model considered at a place, of its best translations that begin alike.

// before: the text up to there; now: the word that stands there. Each {text, after, prefix}: the word, how the sentence
// would go on, and the translation up to the word.
export function otherWords(translations, before, now) {
  const seen = new Set([now]), others = [];
  for (const text of translations) {
    if (!text.startsWith(before)) continue;
    const rest = text.slice(before.length), [whole, space, word] = rest.match(/^(\s*)(\S+)/u) ?? [];
    if (!whole || (before && !space) || seen.has(word)) continue;  // without space it goes on with the word before
    seen.add(word);
    const after = rest.slice(whole.length).trim().split(/\s+/u);
    others.push({text: word, after: after.slice(0, 5).join(" ") + (after.length > 5 ? " …" : ""), prefix: before + whole});
  }
  return others;
}
