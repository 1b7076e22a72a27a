// The translation: as it comes, then as words that can be pointed at, focused and chosen.
import {spaced, unitsOfBytes} from "./positions.js";
import {typographic} from "./typography.js";

export class TargetView {
  // on.point(word or null): pointed at or focused; on.hold(word): focused; on.choose(word, its element): clicked
  constructor(on) {
    this.on = on;
    this.pane = document.getElementById("target-pane");
    this.place = document.getElementById("target");
    this.words = [];
    this.shown = "";
    this.place.addEventListener("pointerover", ({target}) => this.point(this.wordOf(target)));
    this.place.addEventListener("pointerleave", () => this.point(this.wordOf(document.activeElement)));
    this.place.addEventListener("focusin", ({target}) => { this.point(this.wordOf(target)); on.hold(this.wordOf(target)); });
    this.place.addEventListener("focusout", () => this.point(null));
    this.place.addEventListener("click", ({target}) => { if (getSelection().isCollapsed) this.choose(target); });
    this.place.addEventListener("keydown", (event) => this.type(event));
  }

  direct(direction, language) {
    this.place.dir = direction;
    this.place.lang = language;
  }

  busy(is) {
    this.pane.setAttribute("aria-busy", String(is));
    this.pane.classList.toggle("busy", is);
  }

  get isBusy() { return this.pane.classList.contains("busy"); }

  clear() {
    this.words = [];
    this.shown = "";
    this.place.replaceChildren();
  }

  // A translation under way: what is settled, what may change, and, so that nothing collapses while it is typed, as much
  // of the former translation as this one has not reached yet.
  progress(text, finalBytes) {
    const settled = unitsOfBytes(text, finalBytes), rest = this.shown.slice(this.reached(text)), readable = this.typographic(text);
    this.words = [];
    this.place.replaceChildren(readable.slice(0, settled), element("span", {class: "tentative"}, readable.slice(settled)), element("span", {class: "former"}, rest));
  }

  // As it is read, and copied: the same positions.
  typographic(text) { return typographic(text, this.place.lang); }

  // How much of the former translation a new one stands for: as many words.
  reached(text) { return spaced(this.place.lang) ? endOfWords(this.shown, text) : Math.min(this.shown.length, text.length); }

  // words: {begin, end, confidence, ...} in units of the text.
  show(plainText, words) {
    const text = this.typographic(plainText);
    const focused = this.words.findIndex(({node}) => node === document.activeElement);
    const nodes = [];
    let at = 0;
    this.words = words.map((word, i) => {
      const node = element("span", {class: "word", role: "button", tabindex: i ? -1 : 0, "data-word": i}, text.slice(word.begin, word.end));
      if (word.confidence !== null) node.style.setProperty("--doubt", (1 - word.confidence).toFixed(2));
      nodes.push(text.slice(at, word.begin), node);
      at = word.end;
      return {...word, node};
    });
    this.shown = text;
    this.place.replaceChildren(...nodes, text.slice(at));
    if (focused >= 0) this.focus(Math.min(focused, words.length - 1));
  }

  // The place of a field that is shown over it, and has this text; null: the field is gone.
  lieUnder(text) {
    this.place.classList.toggle("under", text !== null);
    if (text !== null) this.place.replaceChildren(text);
  }

  wordOf(node) { return this.words[node?.closest?.("[data-word]")?.dataset.word] ?? null; }

  point(word) {
    for (const one of this.place.querySelectorAll(".held")) one.classList.remove("held");
    word?.node.classList.add("held");
    this.on.point(word);
  }

  // Words that touch these units of the source.
  touch(begin, end) {
    for (const {node, sources} of this.words) node.classList.toggle("held", sources.some(([a, b]) => a <= end && begin <= b));
  }

  focus(index) {
    const word = this.words[index];
    if (!word) return;
    for (const {node} of this.words) node.tabIndex = node === word.node ? 0 : -1;
    word.node.focus();
  }

  choose(node) {
    const word = this.wordOf(node);
    if (word) this.on.choose(word, word.node);
  }

  type(event) {
    if (event.ctrlKey || event.altKey || event.shiftKey || event.metaKey) return;
    const now = this.words.indexOf(this.wordOf(event.target)), forward = getComputedStyle(this.place).direction === "rtl" ? -1 : 1;
    const step = {ArrowRight: forward, ArrowLeft: -forward, ArrowDown: 1, ArrowUp: -1}[event.key];
    if (step) this.focus(Math.max(0, Math.min(this.words.length - 1, now + step)));
    else if (event.key === "Home") this.focus(0);
    else if (event.key === "End") this.focus(this.words.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.choose(event.target);
    else return;
    event.preventDefault();
  }
}

// The place in the former text behind as many words as the new one has.
function endOfWords(former, text) {
  let count = text.match(/\S+/gu)?.length ?? 0;
  for (const match of former.matchAll(/\S+/gu)) {
    if (!count--) return match.index - (match.index > 0);
  }
  return former.length;
}
