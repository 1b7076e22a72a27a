// A translation as the page shows it: lines with their words, each with its confidence and what it attends to.
import {fromPoints, sentenceAt, textsOf, wordsOf} from "./positions.js";

// One hypothesis of a line, into a language. Positions are in UTF-16 units of the line's own text.
function lineOf(hypothesis, source, language) {
  const text = hypothesis.text, at = fromPoints(text), from = fromPoints(source);
  const words = wordsOf(text, language).map(([begin, end]) => ({begin, end, confidence: null, sources: []}));
  const touching = ([begin, end]) => words.filter((word) => word.begin < at(end) && word.end > at(begin));
  for (const {span, confidence} of hypothesis.words ?? []) {
    for (const word of touching(span)) word.confidence = confidence;
  }
  for (const {source_span: [begin, end], target_span} of hypothesis.alignment ?? []) {
    for (const word of touching(target_span)) word.sources.push([from(begin), from(end)]);
  }
  return {source, text, words, checked: hypothesis};
}

export class Result {
  // The answer of /v1/translate to one text.
  constructor(answer, source) {
    this.answer = answer;
    this.source = source;
    const lines = answer.lines ?? [];
    this.lines = lines.map((line) => ({...lineOf(line, line.source, answer.to), hypotheses: line.nbest ?? [line]}));
    this.gaps = this.firstGaps = gapsOf(answer.text, this.lines);  // null: the lines do not make up the text
    this.text = answer.text;
    this.place();
  }

  // Where each line stands in both texts.
  place() {
    let at = 0, from = 0;
    this.lines.forEach((line, i) => {
      at += this.gaps?.[i].length ?? 0;
      line.at = at;
      at += line.text.length;
      const found = this.source.indexOf(line.source, from);
      line.sourceAt = found < 0 || this.answer.via?.length ? null : found;
      if (found >= 0) from = found + line.source.length;
    });
  }

  // The line with another hypothesis in place of its own.
  replace(index, hypothesis) {
    const {source, hypotheses} = this.lines[index];
    this.lines[index] = {...lineOf(hypothesis, source, this.answer.to), hypotheses};
    this.text = this.gaps.map((gap, i) => gap + (this.lines[i]?.text ?? "")).join("");
    this.place();
  }

  // The text as the reader has changed it. What is left of a line's words keeps what is known of it; a change of more than
  // one line leaves a text without words.
  edit(text) {
    const before = this.text, most = Math.min(before.length, text.length);
    let begin = 0, rest = 0;
    while (begin < most && before[begin] === text[begin]) ++begin;
    while (rest < most - begin && before[before.length - 1 - rest] === text[text.length - 1 - rest]) ++rest;
    const end = before.length - rest, written = text.slice(begin, text.length - rest);
    const index = this.gaps && !written.includes("\n") ? this.lines.findIndex((line) => line.at <= begin && end <= line.at + line.text.length) : -1;
    this.text = text;
    if (index < 0) return void (this.gaps = null);
    const line = this.lines[index], changed = line.text.slice(0, begin - line.at) + written + line.text.slice(end - line.at);
    const known = line.words.map((word) => [word.begin, word.end]), spans = wordsOf(changed, this.answer.to);
    const former = paired(textsOf(changed, spans), textsOf(line.text, known));
    line.words = spans.map(([from, to], i) => ({confidence: null, sources: [], ...line.words[former[i]], begin: from, end: to}));
    line.text = changed;
    this.place();
  }

  // {line, begin, end, confidence, sources} of all words, in units of the whole texts.
  words() {
    if (!this.gaps) return [];
    return this.lines.flatMap((line, index) => line.words.map((word) => ({
      ...word, line: index, begin: line.at + word.begin, end: line.at + word.end,
      sources: line.sourceAt === null ? [] : word.sources.map(([begin, end]) => [line.sourceAt + begin, line.sourceAt + end]),
    })));
  }

  // {line, check, description}: what the server's checks found in each line that stands as it was checked.
  findings() {
    if (!this.gaps) return [];
    return this.lines.flatMap(({text, checked}, index) =>
      (text === checked.text ? checked.findings ?? [] : []).map((one) => ({...one, line: index + 1})));
  }

  // The sentence at this unit of the source, or else the first of the first line that is not blank: {number, source},
  // where the number is the line's; and the line's translation in `target` where that is not the model's best, unless it
  // has other sentences.
  lineAt(unit) {
    const all = this.source.split("\n"), number = this.source.slice(0, unit).split("\n").length - 1;
    const index = all[number]?.trim() ? number : all.findIndex((line) => line.trim());
    const whole = all[index].trim(), line = this.lines.find((one) => one.source.trim() === whole);
    const begin = all.slice(0, index).join("\n").length + (index > 0) + all[index].indexOf(whole);
    const source = sentenceAt(whole, Math.max(unit - begin, 0), this.answer.from), alone = source === whole;
    return {number: index + 1, source, target: alone && line && line.text !== line.hypotheses[0].text ? line.text : undefined};
  }

  // Other translations of the whole. Of one line they can be shown with their words.
  others() {
    const shown = this.gaps ? this.lines[0]?.text : this.text;
    if (this.lines.length === 1) return this.lines[0].hypotheses.filter(({text}) => text !== shown);
    return [...new Set([this.answer.text, ...(this.answer.alternatives ?? [])])].filter((text) => text !== this.text).map((text) => ({text}));
  }

  // Whether a translation of the whole is one of a single sentence.
  isOneSentence() {
    const whole = this.source.trim();
    return !whole.includes("\n") && sentenceAt(whole, 0, this.answer.from) === whole;
  }

  // The text that a line is the translation of. Through a third language, the server's is in that one.
  sourceOf(index) { return this.answer.via?.length ? this.source.split(/\r?\n/)[index] : this.lines[index].source; }

  take(other) {
    if (this.lines.length === 1 && this.firstGaps) {
      this.gaps = this.firstGaps;
      return this.replace(0, other);
    }
    this.text = other.text;
    this.gaps = null;
  }
}

// What stands before each line, and after the last; null where the text is not made of these lines.
function gapsOf(text, lines) {
  const gaps = [];
  let at = 0;
  for (const line of lines) {
    const found = text.indexOf(line.text, at);
    if (found < 0) return null;
    gaps.push(text.slice(at, found));
    at = found + line.text.length;
  }
  return [...gaps, text.slice(at)];
}
