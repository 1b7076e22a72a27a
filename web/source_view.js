// The text to translate: its field, which grows with it, its length, and marks under its words.
//
// A field cannot mark its words: a copy of the text behind it, which also gives it its height, does.
import {countPoints} from "./positions.js";

export class SourceView {
  constructor(onInput) {
    this.field = document.getElementById("source");
    this.mirror = document.getElementById("mirror");
    this.count = document.getElementById("count");
    this.clear = document.getElementById("clear");
    this.limit = 0;  // characters; 0: the server has none
    this.field.addEventListener("input", (event) => { this.follow(); onInput(event); });
    this.clear.addEventListener("click", () => { this.set(""); this.field.focus(); onInput({inputType: "clear"}); });
    this.follow();
  }

  get text() { return this.field.value; }
  get tooLong() { return this.limit > 0 && this.length > this.limit; }

  set(text) {
    this.field.value = text;
    this.follow();
  }

  direct(direction, language) {
    for (const one of [this.field, this.mirror]) {
      one.dir = direction;
      one.lang = language;
    }
  }

  follow() {
    this.mark([]);
    this.length = countPoints(this.text);
    this.clear.hidden = !this.text;
    const digits = (value) => value.toLocaleString("en");
    this.count.textContent = this.limit ? `${digits(this.length)} / ${digits(this.limit)}` : this.length ? digits(this.length) : "";
    this.count.classList.toggle("bad", this.tooLong);
  }

  // Marks these spans, in UTF-16 units.
  mark(spans) {
    const {text} = this, nodes = [];
    let at = 0;
    for (const [begin, end] of [...spans].sort((a, b) => a[0] - b[0])) {
      if (begin < at) continue;
      nodes.push(text.slice(at, begin), element("mark", {}, text.slice(begin, end)));
      at = end;
    }
    this.mirror.replaceChildren(...nodes, text.slice(at), "\u200b");  // the last keeps the height of an empty last line
  }
}
