// Positions in text: the server counts code points, or bytes of UTF-8; JavaScript's strings count UTF-16 units.

// Of each code point, and of the end.
function unitsOf(text) {
  const units = [0];
  for (const point of text) units.push(units[units.length - 1] + point.length);
  return units;
}

// A function from code points to units.
export function fromPoints(text) {
  if (/^[\u0000-\ud7ff\ue000-\uffff]*$/.test(text)) return (point) => Math.min(point, text.length);
  const units = unitsOf(text);
  return (point) => units[Math.min(point, units.length - 1)];
}

export function unitsOfBytes(text, bytes) {
  let units = 0;
  for (const point of text) {
    const code = point.codePointAt(0);
    bytes -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (bytes < 0) break;
    units += point.length;
  }
  return units;
}

export function countPoints(text) {
  let count = 0;
  for (const _ of text) ++count;
  return count;
}

const withoutSpaces = new Set(["zh", "zho", "yue", "ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya"]);
const segmenters = new Map();

// Whether white space separates the words of a language.
export const spaced = (language) => !withoutSpaces.has((language ?? "").split(/[-_]/)[0].toLowerCase());

// Some models' names of languages are not valid tags.
function newSegmenter(language, granularity) {
  try {
    return new Intl.Segmenter(language.replaceAll("_", "-"), {granularity});
  } catch {
    return new Intl.Segmenter("en", {granularity});
  }
}

function segmenterOf(language, granularity) {
  const key = `${granularity} ${language}`;
  if (!segmenters.has(key)) segmenters.set(key, newSegmenter(language, granularity));
  return segmenters.get(key);
}

export const textsOf = (text, spans) => spans.map(([begin, end]) => text.slice(begin, end));

// The words of a text: [begin, end] in units.
export function wordsOf(text, language) {
  if (spaced(language) || !Intl.Segmenter) return [...text.matchAll(/\S+/gu)].map((match) => [match.index, match.index + match[0].length]);
  return [...segmenterOf(language, "word").segment(text)].filter(({isWordLike}) => isWordLike).map(({index, segment}) => [index, index + segment.length]);
}

// The sentence around a unit, or the whole text where the browser cannot tell.
export function sentenceAt(text, unit, language) {
  if (!Intl.Segmenter) return text;
  const found = segmenterOf(language ?? "en", "sentence").segment(text).containing(Math.min(unit, text.length - 1));
  return found?.segment.trim() || text;
}
