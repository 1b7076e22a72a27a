// The translation memory of the languages: a translation is confirmed into it, and its similar segments are shown.
import {directionOf} from "./languages.js";
import {getJson, postJson} from "./server.js";
import {typographic} from "./typography.js";

const base = (code) => code.split("-")[0];
const percent = ({exact, similarity}) => (exact ? "exact" : `${Math.min(99, Math.floor(similarity * 100))} %`);

// A text's lines with their translations; null where there are not as many of them.
function segmentsOf(source, target) {
  const sources = source.split("\n"), targets = target.split("\n");
  if (sources.length !== targets.length) return null;
  const all = sources.map((line, i) => ({source: line.trim(), target: targets[i].trim()}));
  return all.filter((segment) => segment.source && segment.target);
}

export class Memory {
  // on.take(text): a segment's translation is to be the text's; on.say(why): what did not work; on.tell(what): for
  // screen readers
  constructor(on) {
    this.on = on;
    this.all = [];
    this.confirmed = null;  // the last translation
    this.section = document.getElementById("memory");
    this.button = document.getElementById("confirm");
    this.button.addEventListener("click", () => this.confirm());
  }

  async load() { this.all = (await getJson("v1/memories")).memories; }

  // The one that takes what is confirmed.
  of({from, to}) { return this.all.find((one) => one.writable && base(one.from) === base(from) && base(one.to) === base(to)); }

  // result: what is shown; null: nothing.
  show(result) {
    this.result = result;
    const memory = result && this.of(result.answer), done = memory && this.confirmed === this.told();
    this.button.hidden = !this.all.some((one) => one.writable);
    this.button.disabled = !memory || !result.text.trim();
    this.button.querySelector("use").setAttribute("href", done ? "#icon-done" : "#icon-keep");
    this.button.querySelector("span").textContent = done ? "Confirmed" : "Confirm";
    this.list(result?.answer.memory ?? []);
  }

  list(segments) {
    this.section.hidden = !segments.length;
    const {from, to} = this.result?.answer ?? {}, whole = this.result?.isOneSentence();
    const side = (text, language, name) => element("span", {class: name, dir: directionOf(language), lang: language}, typographic(text, language));
    this.section.querySelector("ul").replaceChildren(...segments.map((segment) => {
      const button = element("button", {type: "button"}, element("span", {class: "share"}, percent(segment)),
        element("span", {class: "pair"}, side(segment.source, from, "quiet"), side(segment.target, to, "found")));
      button.disabled = !whole;
      button.addEventListener("click", () => this.on.take(segment.target));
      return element("li", {}, button);
    }));
  }

  told() { return JSON.stringify([this.result.answer.from, this.result.answer.to, this.result.source, this.result.text]); }

  async confirm() {
    if (this.button.hidden || this.button.disabled) return;
    const {result} = this, told = this.told(), segments = segmentsOf(result.source, result.text);
    if (!segments) return this.on.say("the translation has not as many lines as the text: a memory keeps each line with its translation");
    try {
      await postJson(`v1/memories/${encodeURIComponent(this.of(result.answer).name)}/segments`, {segments});
    } catch (error) {
      if (error.status === undefined) throw error;
      return this.on.say(error.message);
    }
    this.confirmed = told;
    this.on.tell("Confirmed: it is in the memory");
    if (this.result === result) this.show(result);
  }
}
