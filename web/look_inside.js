// The inspection of a sentence that is typed, or that the address names: #from=en&to=fr&text=...&target=...
import {getJson, postJson} from "./server.js";
import {nameOf} from "./languages.js";

const part = (id) => document.getElementById(id), state = part("state"), pair = part("pair");

function say(text) {
  state.textContent = text;
  state.hidden = !text;
}

const addressed = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));

let asking = new AbortController();  // the last one counts

async function inspect() {
  const about = addressed();
  if (!about.text) return;
  asking.abort();
  const {signal} = asking = new AbortController();
  fill(about);
  say("Loading…");
  try {
    showInspection(await postJson("v1/inspect", about, signal));
    document.title = `${about.text} – Inspect`;
    say("");
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === undefined) throw error;
    part("page").replaceChildren();
    part("sections").replaceChildren();
    say(`The server could not inspect “${about.text}”: ${error.message}`);
  }
}

function fill({from, to, text, target}) {
  part("text").value = text ?? "";
  part("given").value = target ?? "";
  if (from && to) pair.value = `${from} ${to}`;
}

// Only pairs with a model of their own: there is nothing to look into between two.
async function listPairs() {
  try {
    part("training").hidden = !(await getJson("web/settings.json")).training;
    const {pairs} = await getJson("v1/models");
    pair.replaceChildren(...pairs.filter(({via}) => !via.length).map(({from, to}) => element("option", {value: `${from} ${to}`}, `${nameOf(from)} → ${nameOf(to)}`)));
  } catch (error) {
    if (error.status === undefined) throw error;
    say(error.message);
  }
}

part("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const [from, to] = pair.value.split(" "), target = part("given").value.trim();
  const asked = `#${new URLSearchParams({from, to, text: part("text").value.trim(), ...(target && {target})})}`;
  if (asked === location.hash) inspect(); else location.hash = asked;
});
part("text").addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  part("ask").requestSubmit();
});

// The address names the sentence: these links leave it as it is.
part("sections").addEventListener("click", (event) => {
  event.preventDefault();
  const link = event.target.closest("a");
  if (link) part(link.hash.slice(1)).scrollIntoView();
});

window.addEventListener("hashchange", inspect);
await listPairs();
inspect();
