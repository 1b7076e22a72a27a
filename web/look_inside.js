// The inspection of a sentence that the address names: #from=en&to=fr&text=...&target=...
import {postJson} from "./server.js";

const state = document.getElementById("state");

async function inspect() {
  const about = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  if (!about.text) return void (state.textContent = "This page inspects the translation of a sentence: translate one, then choose “Look inside”.");
  state.hidden = false;
  state.textContent = "Loading…";
  try {
    showInspection(await postJson("v1/inspect", about));
    document.title = `${about.text} – translation inspection`;
    state.hidden = true;
  } catch (error) {
    if (error.status === undefined) throw error;
    state.textContent = `The server could not inspect “${about.text}”: ${error.message}`;
  }
}

window.addEventListener("hashchange", inspect);
inspect();
