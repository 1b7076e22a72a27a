// What was translated, kept in this browser: the newest first, at most 50 translations and 200,000 characters. It can be
// cleared, and it can be off.
import {icon} from "./icon.js";
import {nameOf} from "./languages.js";

const most = 50, mostCharacters = 200000;

const sizeOf = ({source, target}) => source.length + target.length;

function read(name, otherwise) {
  try { return JSON.parse(localStorage.getItem(name)) ?? otherwise; } catch { return otherwise; }
}

function write(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* full, or not allowed: no history then */ }
}

export class History {
  constructor(onChoose) {
    this.dialog = document.getElementById("history");
    this.list = document.getElementById("past");
    this.keep = document.getElementById("keep-history");
    this.onChoose = onChoose;
    this.keep.checked = read("keep-history", true);
    this.keep.addEventListener("change", () => write("keep-history", this.keep.checked));
    document.getElementById("clear-history").addEventListener("click", () => { write("history", []); this.draw(); });
  }

  get entries() {
    const entries = read("history", []);
    return Array.isArray(entries) ? entries.filter((one) => typeof one?.source === "string" && typeof one?.target === "string") : [];
  }

  // A text that extends the newest entry's replaces it: one entry per text, however often the user pauses.
  add(entry) {
    if (!this.keep.checked || sizeOf(entry) > mostCharacters) return;
    const same = ({source, to}) => to === entry.to && (source === entry.source || this.current === source && entry.source.startsWith(source));
    const entries = [entry, ...this.entries.filter((one) => !same(one))].slice(0, most);
    this.current = entry.source;
    let characters = 0;
    write("history", entries.filter((one) => (characters += sizeOf(one)) <= mostCharacters));
  }

  open() {
    this.draw();
    this.dialog.showModal();
  }

  draw() {
    const {entries} = this;
    const rows = entries.map((entry, i) => {
      const use = element("button", {type: "button", class: "entry"},
        element("small", {}, `${nameOf(entry.from)} → ${nameOf(entry.to)}`),
        element("span", {dir: "auto", lang: entry.from}, entry.source.slice(0, 300)), element("span", {dir: "auto", lang: entry.to}, entry.target.slice(0, 300)));
      use.addEventListener("click", () => { this.dialog.close(); this.onChoose(entry); });
      const forget = element("button", {type: "button", class: "plain", "aria-label": `Remove “${entry.source.slice(0, 40)}”`}, icon("close"));
      forget.addEventListener("click", () => { write("history", entries.filter((_, at) => at !== i)); this.draw(); this.dialog.focus(); });
      return element("li", {}, use, forget);
    });
    this.list.replaceChildren(...(rows.length ? rows : [element("li", {class: "quiet"}, "Nothing yet.")]));
    document.getElementById("clear-history").disabled = !rows.length;
  }
}
