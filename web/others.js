// The other translations of the text, each with the words marked that the one shown does not have.
import {directionOf} from "./languages.js";
import {textsOf, wordsOf} from "./positions.js";
import {typographic} from "./typography.js";

function marked(text, shown, language) {
  const readable = typographic(text, language), spans = wordsOf(text, language), nodes = [];
  const there = paired(textsOf(text, spans), textsOf(shown, wordsOf(shown, language)));
  let at = 0;
  for (let i = 0; i < spans.length; ++i) {
    if (there[i] !== null) continue;
    const [begin] = spans[i], sameLine = (next) => next && !readable.slice(spans[i][1], next[0]).includes("\n");
    while (there[i + 1] === null && sameLine(spans[i + 1])) ++i;
    nodes.push(readable.slice(at, begin), element("mark", {}, readable.slice(begin, spans[i][1])));
    at = spans[i][1];
  }
  return [...nodes, readable.slice(at)];
}

// others: {text}; onTake(other): one was chosen
export function showOthers(others, shown, language, onTake) {
  const section = document.getElementById("others");
  section.hidden = !others.length;
  section.querySelector("ul").replaceChildren(...others.map((other) => {
    const button = element("button", {type: "button", dir: directionOf(language), lang: language},
      element("span", {}, ...marked(other.text, shown, language)));
    button.addEventListener("click", () => onTake(other));
    return element("li", {}, button);
  }));
}
