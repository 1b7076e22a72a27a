// The page that translates: typing, the request that follows it, and what its answer changes.
import {Address} from "./address.js";
import {Choices} from "./choices.js";
import {Editor} from "./editor.js";
import {Files} from "./files.js";
import {showFindings} from "./findings.js";
import {History} from "./history.js";
import {Inside} from "./inside.js";
import {Languages, directionOf, nameOf} from "./languages.js";
import {Memory} from "./memory.js";
import {Notice} from "./notice.js";
import {showOthers} from "./others.js";
import {unitsOfBytes, wordsOf} from "./positions.js";
import {Result} from "./result.js";
import {apiKey, getJson, postJson, postStream, refusal} from "./server.js";
import {SourceView} from "./source_view.js";
import {Start} from "./start.js";
import {TargetView} from "./target_view.js";
import {plain} from "./typography.js";
import {otherWords} from "./words.js";

const part = (id) => document.getElementById(id);
const pause = 180;           // milliseconds of rest before a request, while one types
const pauseOfHistory = 1500;  // and before a translation is kept
const longest = 5000;         // text whose words and alternatives are asked for: they are a hundred times as long as it

const languages = new Languages(() => { remember("pair", {from: languages.from, to: languages.to}); direct(); changed(); translate(); });
const source = new SourceView(({inputType}) => {
  choices.close();
  focusWhenDone = -1;
  changed();
  later(["insertFromPaste", "insertFromDrop", "clear"].includes(inputType) ? 0 : pause);
});
const target = new TargetView({point, choose, hold: (word) => { if (word) leadInside(word.sources[0]?.[0] ?? result.lines[word.line].sourceAt); }});
const editor = new Editor(target, {change: edited, end: show});
const address = new Address(visit), start = new Start((text) => { replaceText(text); source.field.focus(); });
const choices = new Choices(), notice = new Notice(), inside = new Inside(nameOf, (why) => notice.say(why));
const memory = new Memory({take: (text) => { result.take({text}); show(); }, say: (why) => notice.say(why), tell: (what) => { part("spoken").textContent = what; }});
const history = new History(useEntry), files = new Files(languages, refused);

let result = null, running = null, timer = 0, keeping = 0;
let focusWhenDone = -1;  // the number of a word
let beam = 1;            // the largest that the server allows

function remember(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* holds only for this page */ }
}

function remembered(name) {
  try { return JSON.parse(localStorage.getItem(name)); } catch { return null; }
}

// --- Translating ----------------------------------------------------------------------------------------------------

function later(milliseconds) {
  clearTimeout(timer);
  timer = setTimeout(translate, milliseconds);
}

// What requests have, unless their text is long: alternatives to choose from, and what each word attends to.
function request(more) {
  const details = more.text.length <= longest ? {alternatives: Math.min(3, beam - 1), alignment: true} : {details: false};
  return {from: languages.from, to: languages.to, ...details, ...more};
}

function translate() {
  const {text} = source;
  stop();
  if (!languages.to) return;
  notice.hide();
  if (!text.trim()) return forget();
  if (source.tooLong) {
    target.progress("", 0);
    return notice.say(`the text has ${source.length.toLocaleString("en")} characters, and the limit is ${source.limit.toLocaleString("en")}`);
  }
  run(request({text}), (progress) => target.progress(progress.text, progress.final_bytes), (answer) => {
    result = new Result(answer, text);
    languages.told({from: answer.from, via: answer.via, confidence: answer.detected?.confidence});
    direct();
    show();
  }, translate);
}

// After any change of the text or the languages.
function changed() {
  start.show(languages, !source.text);
  if (languages.to) address.write({from: languages.from, to: languages.to, text: source.text});
}

function stop() {
  editor.close();
  choices.close();
  clearTimeout(timer);
  clearTimeout(keeping);
  running?.abort();
  running = null;
  target.busy(false);
}

// One request at a time: the one before is aborted, which frees its place on the server.
async function run(body, onProgress, onResult, again) {
  stop();
  const mine = running = new AbortController();
  let text = "";  // of the progress so far: each event has what may have changed, from a byte on
  target.busy(true);
  try {
    for await (const {event, data} of postStream("v1/translate", {...body, stream: true}, mine.signal)) {
      if (mine !== running) return;
      if (event === "progress") {
        text = text.slice(0, unitsOfBytes(text, data.begin ?? 0)) + data.text;
        onProgress({...data, text});
      }
      if (event === "result") onResult(data);
      if (event === "error") throw refusal(data);
    }
    notice.clear();
  } catch (error) {
    if (mine !== running || error.name === "AbortError") return;
    refused(error, again);
  }
  if (mine === running) target.busy(false);
}

function refused(error, again) {
  if (error.status === undefined) throw error;
  if (error.wantsKey) askForKey();
  if (!again || (error.wantsKey && !apiKey.get())) return;
  target.progress("", 0);
  if (error.passing) notice.retry(error, again); else notice.say(error.message);
}

function forget() {
  result = null;
  focusWhenDone = -1;
  point(null);
  target.clear();
  languages.told(null);
  showTools();
  findings();
  part("spoken").textContent = "";
  part("others").hidden = true;
}

// --- Showing --------------------------------------------------------------------------------------------------------

function direct() {
  source.direct(directionOf(languages.from), languages.source);
  target.direct(directionOf(languages.to), languages.to);
}

function show() {
  if (!result) return;
  point(null);
  target.show(result.text, result.words());
  showTools();
  findings();
  showOthers(result.others(), result.text, languages.to, (other) => { result.take(other); show(); });
  part("spoken").textContent = result.text.slice(0, 1000);
  keeping = setTimeout(keep, pauseOfHistory);
  if (focusWhenDone >= 0) target.focus(focusWhenDone);
  focusWhenDone = -1;
}

function findings() { showFindings(result?.findings() ?? [], result?.lines.length > 1); }

function keep() {
  if (result) history.add({from: result.answer.from, to: result.answer.to, source: result.source, target: result.text});
}

function showTools() {
  part("copy").disabled = !result;
  part("edit").disabled = !result;
  part("shade").disabled = !result?.words().length;
  memory.show(result);
  leadInside();
}

function leadInside(unit = result?.source === source.text ? source.field.selectionStart : 0) { inside.leadTo(result, unit); }

function edited(text) {
  result.edit(plain(text, languages.to));
  memory.show(result);
  findings();
}

// Marks what a word attends to, and says how sure the model is of it. Of a long text there are no words.
function point(word) {
  source.mark(word?.sources ?? []);
  const sources = (word?.sources ?? []).map(([begin, end]) => result.source.slice(begin, end)).join(" ");
  const sure = word && word.confidence !== null ? `${Math.round(word.confidence * 100)} % sure` : "";
  const long = result && !result.answer.lines ? `Words and alternatives: up to ${longest.toLocaleString("en")} characters` : "";
  part("word").textContent = [sources && `← ${sources}`, sure].filter(Boolean).join(" · ") || long;
}

document.addEventListener("selectionchange", () => {
  if (document.activeElement !== source.field || result?.source !== source.text) return;
  target.touch(source.field.selectionStart, source.field.selectionEnd);
  leadInside();
});

// --- Other words ----------------------------------------------------------------------------------------------------

const width = () => Math.min(12, beam);  // of the beam in which other words are found
let looking = null;
choices.onClose = () => looking?.abort();

async function choose(word, node) {
  // White space after a full stop tells that the sentence is whole.
  const {text: line, at} = result.lines[word.line], text = result.sourceOf(word.line), prefix = line.slice(0, word.begin - at), before = prefix.trimEnd();
  choices.wait(node);
  looking = new AbortController();
  try {
    const {from, to} = result.answer;
    const find = async (how) => {
      const {text: best, alternatives} = await postJson("v1/translate", {from, to, text, prefix, alternatives: width() - 1, details: false, ...how}, looking.signal);
      return [best, ...alternatives];
    };
    const now = line.slice(word.begin - at, word.end - at), likely = await find({beam: width()});
    let others = otherWords(likely, before, now, to);
    // Where the best translations all go on alike, samples may not.
    if (others.length < 3) others = otherWords([...likely, ...await find({sample: true})], before, now, to);
    choices.show(others.slice(0, 8).map((other) => ({...other, take: () => goOn(word.line, other.prefix)})));
  } catch (error) {
    if (error.name === "AbortError") return;
    choices.close(true);
    notice.say(error.message);
  }
}

// Translates the line again from the end of the prefix.
function goOn(index, prefix) {
  const line = result.lines[index], before = result.text.slice(0, line.at), after = result.text.slice(line.at + line.text.length);
  const {from, to} = result.answer, bytes = new TextEncoder().encode(before).length;
  const kept = result;
  run(request({from, to, text: kept.sourceOf(index), prefix}),
    ({text, final_bytes}) => target.progress(before + text + after, bytes + final_bytes),
    (answer) => {
      kept.replace(index, answer.lines[0]);
      focusWhenDone = wordsOf(before + prefix, to).length - 1;
      show();
    }, () => goOn(index, prefix));
}

// --- Buttons and keys -----------------------------------------------------------------------------------------------

// For a page that may not write to the clipboard. Returns whether it worked.
function copySelected() {
  editor.close();
  const selection = getSelection();
  selection.selectAllChildren(target.place);
  const copied = document.execCommand("copy");
  selection.removeAllRanges();
  return copied;
}

async function copy() {
  if (!result) return;
  try {
    await navigator.clipboard.writeText(target.typographic(result.text));
  } catch {  // over plain HTTP, unless from this machine
    if (!copySelected()) return notice.say("the browser does not let the page copy: select the translation to copy it");
  }
  const use = part("copy").querySelector("use"), label = part("copy").querySelector("span");
  use.setAttribute("href", "#icon-done");
  label.textContent = "Copied";
  part("spoken").textContent = "Copied";
  setTimeout(() => { use.setAttribute("href", "#icon-copy"); label.textContent = "Copy"; }, 1500);
  keep();
}

// What is being edited is taken first.
function confirm() {
  editor.close();
  memory.confirm();
}

function swap() {
  if (part("swap").disabled) return;
  const text = result?.source === source.text ? result.text : source.text;
  languages.swap();
  remember("pair", {from: languages.from, to: languages.to});
  forget();
  replaceText(text);
}

function replaceText(text) {
  source.set(text);
  direct();
  changed();
  translate();
}

// An address that the reader went to.
function visit({from, to, text}) {
  languages.choose({from: from ?? languages.from, to: to ?? languages.to});
  replaceText(text);
}

function useEntry({from, to, source: text}) {
  visit({from, to, text});
  source.field.focus();
}

function shade() {
  const on = part("shade").getAttribute("aria-pressed") !== "true";
  part("shade").setAttribute("aria-pressed", String(on));
  part("legend").hidden = !on;
  target.place.classList.toggle("shaded", on);
  remember("shade", on);
}

languages.onSwap = swap;
part("copy").addEventListener("click", copy);
part("shade").addEventListener("click", shade);
part("open-history").addEventListener("click", () => history.open());
part("open-keys").addEventListener("click", () => part("keys").showModal());
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", ({target: at}) => { if (at === dialog || at.closest("[data-close]")) dialog.close(); });
}

const shortcuts = {KeyS: swap, KeyC: copy, KeyE: () => editor.begin(), KeyH: () => history.open(), KeyM: confirm};

// On a Mac, Option+Shift+C writes Ç into a field. Elsewhere the key is in ASCII, or a letter of another script.
function writes({key, target: {tagName}}) {
  const isField = ["INPUT", "TEXTAREA"].includes(tagName);
  return isField && !/^[!-~]$/.test(key) && !/^(?!\p{Script=Latin})\p{L}$/u.test(key);
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  const shortcut = event.altKey && event.shiftKey && !writes(event) && shortcuts[event.code];
  if (shortcut && !document.querySelector("dialog[open]")) shortcut();
  else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target === source.field) hurry();
  else if (event.key === "Escape" && editor.open) { editor.close(); target.focus(0); } else if (event.key === "Escape" && target.place.contains(event.target)) source.field.focus();
  else return;
  event.preventDefault();
});

function hurry() {
  if (result?.source === source.text && !running?.signal.aborted && !target.isBusy) return target.focus(0);
  focusWhenDone = 0;
  translate();
}

// --- Start ----------------------------------------------------------------------------------------------------------

function askForKey() {
  part("key-form").hidden = false;
  part("key").focus();
}

part("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  apiKey.set(part("key").value.trim());
  part("key-form").hidden = true;
  load();
});

// A text that the reader types before the server answers is not replaced.
async function load() {
  try {
    const {training, formats} = await getJson("web/settings.json");
    part("training").hidden = !training;
    start.set(formats);
    const models = await getJson("v1/models"), {from, to, text} = address.read();
    await memory.load();
    source.limit = models.limits.characters;
    beam = models.limits.beam;
    files.limit = models.limits.upload_bytes;
    if (!source.text) source.set(text); else source.follow();
    languages.set(models, from || to ? {from, to} : remembered("pair") ?? {});
  } catch (error) {
    return refused(error, load);
  }
  notice.clear();
  direct();
  changed();
  if (source.text) translate();
}

if (remembered("shade")) shade();
load();
