// What an empty page offers: sentences to try, and the formats of documents that the server translates.
import {examples} from "./examples.js";
import {directionOf, nameOf} from "./languages.js";

// "books" becomes "Books", and "reStructuredText" stays.
const capitalized = (text) => text.replace(/^[a-z]+(?![A-Z])\b/, (word) => word[0].toUpperCase() + word.slice(1));

const sentencesOf = (code) => examples[code.split(/[-_]/)[0]] ?? [];

// Three of the language; where it is to be detected, one of each of the first languages.
function offered({from, sources}) {
  if (from !== "auto") return sentencesOf(from).map((text) => [from, text]);
  return sources.filter((code) => sentencesOf(code).length).slice(0, 3).map((code, i) => [code, sentencesOf(code)[i]]);
}

export class Start {
  // onExample(text): one was chosen
  constructor(onExample) {
    this.part = (id) => document.getElementById(id);
    this.onExample = onExample;
  }

  // formats: [{description, endings}], as the server lists them.
  set(formats) {
    this.part("formats").hidden = !formats.length;
    this.part("formats").querySelector("ul").replaceChildren(...formats.map(({description, endings}) =>
      element("li", {}, capitalized(description), " ", element("span", {class: "quiet"}, endings.join(" ")))));
    this.part("file").accept = formats.flatMap(({endings}) => endings).join();
  }

  show(languages, is) {
    this.part("start").hidden = !is;
    if (!is) return;
    const sentences = offered(languages);
    this.part("examples").hidden = !sentences.length;
    this.part("examples").querySelector("ul").replaceChildren(...sentences.map(([code, text]) => {
      const button = element("button", {type: "button", lang: code, dir: directionOf(code), title: nameOf(code)}, text);
      button.addEventListener("click", () => this.onExample(text));
      return element("li", {}, button);
    }));
  }
}
