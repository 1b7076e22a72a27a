// The report, section by section. Sections without data are omitted.
let runs = [], several = false;
const hidden = new Set();  // names of runs
const page = document.getElementById("page");
let axis = "step", smoothing = 0.02, part = null;

const isShown = (run) => !several || !hidden.has(run.name);
const runName = (run) => element("span", {class: "name"}, several ? key(run) : null, runs[run].name);

function section(title, ...children) {
  const id = title.toLowerCase(), made = element("section", {id}, element("h2", {}, title), ...children), old = document.getElementById(id);
  if (old) return old.replaceWith(made);
  document.getElementById("sections").append(element("a", {href: `#${id}`}, title));
  page.append(made);
}

function table(head, rows, kind = "wide") {
  const cell = (content, tag) => (content instanceof Element && /^T[DH]$/.test(content.tagName) ? content : element(tag, {}, content ?? "–"));
  return element("div", {class: "scroll", tabindex: 0}, element("table", {class: kind},
    element("thead", {}, element("tr", {}, ...head.map((content) => cell(content, "th")))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((content) => cell(content, "td")))))));
}

const number = (text, strong = false) => element("td", {class: strong ? "number best" : "number"}, text ?? "–");
const numberHead = (text) => element("th", {class: "number"}, text);

// --- Summary --------------------------------------------------------------------------------------------------------

function summarySection() {
  const summaries = runs.map((run) => run.summary);
  const record = (name, greatest) => {
    const values = summaries.map((one) => one[name]?.value).filter((value) => value !== undefined);
    return several && values.length ? (greatest ? Math.max(...values) : Math.min(...values)) : NaN;
  };
  const records = {best_loss: record("best_loss", false), best_bleu: record("best_bleu", true), best_chrf: record("best_chrf", true),
    best_exact_match: record("best_exact_match", true)};
  const exact = summaries.some((one) => one.best_exact_match);
  const best = (one, name, digits) => {
    if (!one[name]) return number(null);
    const cell = number(showNumber(one[name].value, digits), one[name].value === records[name]);
    cell.append(" ", element("small", {}, `at ${showNumber(one[name].step)}`));
    return cell;
  };
  const rows = summaries.map((one, run) => [
    runName(run), number(showNumber(one.steps)), number(one.epoch ? showNumber(one.epoch) : null), number(showTime(one.seconds)),
    number(one.tokens_per_second === null ? null : showNumber(one.tokens_per_second)),
    best(one, "best_loss", 4), best(one, "best_bleu", 2), best(one, "best_chrf", 2),
    ...(exact ? [best(one, "best_exact_match", 2)] : []), element("td", {class: "status"}, statusOf(runs[run]))]);
  section("Summary", table(["run", ...["steps", "epochs", "training time", "tokens/s", "best validation loss", "best BLEU", "best chrF", ...(exact ? ["best exact match"] : [])].map(numberHead), "status"], rows));
}

function statusOf({summary, marks}) {
  const count = (event, one, more) => {
    const n = marks.filter((mark) => mark.event === event).length;
    return n ? [`${n} ${n === 1 ? one : more}`] : [];
  };
  const words = [summary.ended ? "finished" : summary.running ? `running${showLeft(summary.seconds_left)}` : summary.steps ? "stopped" : "not started", ...count("resume", "resume", "resumes"),
    ...count("divergence", "divergence", "divergences"), ...count("checkpoint", "failed save", "failed saves")];
  if (summary.unreadable) words.push(`${summary.unreadable} unreadable line${summary.unreadable === 1 ? "" : "s"}`);
  return words.join(", ");
}

// --- Curves ---------------------------------------------------------------------------------------------------------

// Where there is one run, the colours tell training and validation apart, else the runs.
const inkOf = (run, kind) => (several ? run : kind === "train" ? "training" : "validation");
const kindName = (kind) => (kind === "train" ? "training" : kind);

// Into the caption of a chart with both.
function nameKinds(chart, kinds) {
  if (several || kinds.length < 2) return;
  chart.figure.querySelector("figcaption").append(...kinds.map((kind) =>
    element("span", {class: "name"}, key(inkOf(0, kind), false, kind === "validation"), kindName(kind))));
}

const charts = [], tables = element("div");
let epochs = null;  // the chart of losses by epoch

function curvesSection() {
  charts.length = 0;
  const needsLog = (name) => {  // whether a logarithmic axis shows more
    const values = runs.flatMap((run) => [...(run.train[name] ?? []), ...(run.validation[name] ?? [])]).filter((value) => value > 0);
    return values.length > 0 && values.reduce((a, b) => Math.max(a, b)) > 30 * values.reduce((a, b) => Math.min(a, b));
  };
  const wanted = [
    ["Loss", "loss", ["train", "validation"], "without label smoothing"],
    ["Smoothed loss", "smoothed_loss", ["train"], "what training minimises, with label smoothing"],
    ["Perplexity", "perplexity", ["train", "validation"]],
    ["BLEU", "bleu", ["validation"]], ["chrF", "chrf", ["validation"]], ["Exact match", "exact_match", ["validation"]],
    ["Learning rate", "learning_rate", ["train"]], ["Gradient norm", "gradient_norm", ["train"]],
    ["Alignment loss", "alignment_loss", ["train"], "of guided alignment, per target subword that has a link"],
    ["Tokens per second", "tokens_per_second", ["train"]],
  ];
  for (const [title, name, kinds, what] of wanted) {
    const has = kinds.filter((kind) => runs.some((run) => run[kind][name]?.some((value) => value !== null)));
    if (!has.length) continue;
    const log = ["perplexity", "gradient_norm"].includes(name) && needsLog(name);
    const parts = [what, has.length > 1 ? several && "plain line: training; line with markers: validation" : has[0] === "validation" && "validation", log && "logarithmic scale"];
    const chart = new Chart(title, {note: parts.filter(Boolean).join("; "), log, zero: name === "tokens_per_second"});
    nameKinds(chart, has);
    charts.push({chart, name, kinds: has});
  }
  for (const {chart} of charts) chart.zoomed = zoom;
  const settings = controls();
  if (!charts.length) return section("Curves", element("p", {class: "note"}, "This run has not recorded anything yet."));
  section("Curves", settings, hint(), element("div", {class: "grid"}, ...charts.map(({chart}) => chart.figure), epochChart()), tables);
  drawCurves();
  drawTables();
}

// Zooms all charts to the same range.
function zoom(to) {
  part = to;
  document.getElementById("zoom").hidden = !part;
  drawCurves();
}

function drawCurves() {
  for (const {chart, name, kinds} of charts) {
    const series = [];
    runs.forEach((run, i) => {
      for (const kind of isShown(run) ? kinds : []) {
        const curve = run[kind];
        if (!curve[name]) continue;
        const words = [several ? run.name : "", kinds.length > 1 || !several ? kindName(kind) : ""];
        series.push({run: inkOf(i, kind), label: words.filter(Boolean).join(", "), x: curve[axis], y: curve[name],
          low: curve[`${name}_low`], high: curve[`${name}_high`], points: kind === "validation"});
      }
    });
    const marks = runs.flatMap((run) => (isShown(run) ? run.marks : []).map((mark) => ({
      x: mark[axis], bad: mark.event !== "resume", name: `${several ? run.name + ", " : ""}step ${showNumber(mark.step)}: ${mark.event === "checkpoint" ? "failed save" : mark.event}${mark.reason ? ", " + mark.reason : ""}`})));
    chart.set(series, marks, axis, smoothing, part);
  }
  drawEpochs();
}

function drawTables() {
  const open = [...tables.children].filter((one) => one.open).map((one) => one.firstChild.textContent);
  tables.replaceChildren(...[epochTable(), validationTable()].filter(Boolean));
  for (const one of tables.children) one.open = open.includes(one.firstChild.textContent);
}

// Each run's loss over each epoch, and that of the last validation in it.
const epochLosses = (run) => run.epochs.step.map((_, i) => {
  const epoch = run.epochs.epoch?.[i] ?? null, at = (run.validation.epoch ?? []).lastIndexOf(epoch);
  return {epoch, training: run.epochs.loss?.[i] ?? null, validation: run.validation.loss?.[at] ?? null};
});

function epochChart() {
  epochs = null;
  if (!runs.some((run) => run.epochs.step.length > 1)) return null;
  epochs = new Chart("Loss by epoch", {axis: "epoch", note: "without label smoothing; training: over the epoch; validation: the last one in it, with markers"});
  nameKinds(epochs, ["train", "validation"]);
  return epochs.figure;
}

function drawEpochs() {
  if (!epochs) return;
  const series = runs.flatMap((run, i) => ["training", "validation"].map((kind) => {
    const there = epochLosses(run).filter((one) => one[kind] !== null);
    return {run: inkOf(i, kind === "training" ? "train" : kind), label: several ? `${run.name}, ${kind}` : kind, points: kind === "validation", x: there.map((one) => one.epoch), y: there.map((one) => one[kind])};
  }));
  epochs.set(series.filter((one) => one.x.length), [], "epoch", 0);
}

function epochTable() {
  const rows = runs.flatMap((run, i) => epochLosses(run).map(({epoch, training, validation}) =>
    [runName(i), ...[showNumber(epoch), showNumber(training, 4), showNumber(validation, 4)].map((text) => number(text))]));
  if (!rows.length) return null;
  return element("details", {}, element("summary", {}, "Loss by epoch"),
    table(["run", ...["epoch", "training loss", "validation loss"].map(numberHead)], rows));
}

function controls() {
  const choice = (name, value, text, chosen) => {
    const input = element("input", {type: "radio", name, value, checked: chosen ? "" : null});
    input.addEventListener("change", () => { axis = value; zoom(null); });
    return element("label", {}, input, text);
  };
  const which = runs.map((run, i) => {
    const input = element("input", {type: "checkbox", checked: isShown(run) ? "" : null});
    input.addEventListener("change", () => { hidden[input.checked ? "delete" : "add"](run.name); drawCurves(); });
    return element("label", {}, input, runName(i));
  });
  const slider = element("input", {type: "range", min: 0, max: 10, step: 1, value: smoothing * 100, "aria-label": "smoothing window, in percent of the curve"});
  const share = element("output", {}, `${smoothing * 100}%`);
  slider.addEventListener("input", () => { smoothing = slider.value / 100; share.textContent = `${slider.value}%`; drawCurves(); });
  const whole = element("button", {type: "button", id: "zoom", hidden: part ? null : ""}, "reset zoom");
  whole.addEventListener("click", () => zoom(null));
  return element("form", {class: "controls"},
    several ? element("fieldset", {class: "which"}, element("legend", {}, "runs"), ...which) : null,
    element("fieldset", {}, element("legend", {}, "x axis"), choice("axis", "step", "steps", axis === "step"), choice("axis", "seconds", "training time", axis === "seconds")),
    element("fieldset", {}, element("legend", {}, "smoothing"), element("label", {title: "local regression over this share of the curve"}, slider, share)), whole);
}

function hint() {
  const events = runs.flatMap((run) => run.marks.map((mark) => mark.event)), has = (event) => events.includes(event);
  const bad = [has("divergence") ? "divergences" : "", has("checkpoint") ? "failed saves" : ""].filter(Boolean).join(" and ");
  const ticks = [bad ? `red: ${bad}` : "", has("resume") ? "grey: resumes" : ""].filter(Boolean).join(", ");
  return element("p", {class: "note hint"}, `Hover over a chart to see values; drag to zoom, double-click to reset.${ticks ? ` Marks on the x axis: ${ticks}.` : ""}`);
}

function validationTable() {
  const exact = runs.some((run) => run.validation.exact_match);
  const names = [["loss", 4], ["perplexity", 2], ["bleu", 2], ["chrf", 2], ...(exact ? [["exact_match", 2]] : [])];
  const rows = runs.flatMap((run, i) => {
    const all = run.validation.step.map((step, at) => [runName(i), number(showNumber(step)), number(showTime(run.validation.seconds[at])),
      ...names.map(([name, digits]) => number(showNumber(run.validation[name]?.[at] ?? null, digits)))]);
    const every = Math.ceil(all.length / 100);
    return all.filter((_, at) => at % every === 0 || at === all.length - 1);
  });
  if (!rows.length) return null;
  return element("details", {}, element("summary", {}, "Validation table"),
    table(["run", ...["step", "training time", "loss", "perplexity", "BLEU", "chrF", ...(exact ? ["exact match"] : [])].map(numberHead)], rows));
}

// --- Corpus ---------------------------------------------------------------------------------------------------------

const reasons = {empty: "empty", too_long: "too long", ratio: "length ratio too high", invalid: "invalid text"};

function corpusSection() {
  const known = new Map();  // each prepared corpus, and the runs that use it
  runs.forEach((run, i) => {
    if (!run.prepare) return;
    const {time, step, event, ...what} = run.prepare, text = JSON.stringify(what);
    known.set(text, [...(known.get(text) ?? []), i]);
  });
  if (!known.size) return;
  const cards = [...known].map(([text, users]) => {
    const card = element("div", {class: "card"});
    if (several) card.append(element("h3", {}, ...users.flatMap((run, i) => [i ? ", " : "", runName(run)])));
    card.append(...corpus(JSON.parse(text), users[0]).filter(Boolean));
    return card;
  });
  section("Corpus", element("div", {class: "grid"}, ...cards));
}

const sides = ["source", "target"];

// The event of docs/metrics.md grouped by side; any field may be missing.
function bySide(facts) {
  const pairs = facts.pairs ?? {};
  const side = (name) => ({...facts[name], histogram: facts[`${name}_lengths`] ?? [], tokens: pairs[`${name}_tokens`]});
  return {...facts, pairs, left_out: pairs.left_out ?? {}, source: side("source"), target: side("target")};
}

function corpus(event, id) {
  const facts = bySide(event), parts = [], there = sides.filter((side) => facts[side].histogram.length);
  if (there.length) {
    const chart = new Chart(`Sentence lengths ${id + 1}`, {axis: "length", unit: "%", zero: true, note: "share of pairs"});
    chart.figure.className = "inner";
    chart.figure.querySelector("h3").textContent = "Sentence lengths";
    chart.set(histograms(there, there.map((side) => facts[side].histogram)), [], "length", 0);
    const keys = there.map((side, i) => element("span", {class: "name"}, key(side, i > 0), side));
    chart.figure.querySelector("figcaption").append(...keys);
    parts.push(chart.figure);
  }
  return [...parts, element("div", {class: "beside"}, sidesTable(facts), pairsList(facts))];
}

function pairsList(facts) {
  const list = element("dl", {class: "facts"}), fact = (name, ...values) => list.append(element("dt", {}, name), element("dd", {}, ...values));
  for (const [name, count] of [["pairs", facts.pairs.kept], ["held out", facts.pairs.held_out]]) {
    if (count) fact(name, showNumber(count));
  }
  const left = Object.entries(facts.left_out), some = left.filter(([, count]) => count);
  if (left.length) fact("left out", some.map(([reason, count]) => `${showNumber(count)} ${reasons[reason] ?? reason.replaceAll("_", " ")}`).join(", ") || "none");
  for (const [name, text] of [["padding_unsorted", "padding, unsorted"], ["padding_sorted", "padding, sorted"]]) {
    if (!Number.isFinite(facts[name])) continue;
    fact(text, element("span", {class: "bar", style: `width: ${(facts[name] * 8).toFixed(2)}rem`}), showPercent(facts[name]));
  }
  if (Number.isFinite(facts.padding_sorted)) fact("", element("small", {class: "note"}, "the share of padding if batches were padded (they are not)"));
  return list;
}

function sidesTable(facts) {
  const percent = (value) => (Number.isFinite(value) ? showPercent(value) : null), of = (value) => (Number.isFinite(value) ? showNumber(value) : null);
  const rows = [["tokens", (side) => of(side.tokens)], ["vocabulary", (side) => of(side.vocabulary)], ["unknown", (side) => percent(side.unknown)],
    ["mean length", (side) => of(side.mean_length)], ["median length", (side) => of(side.lengths?.p50)], ["90th percentile", (side) => of(side.lengths?.p90)],
    ["99th percentile", (side) => of(side.lengths?.p99)], ["maximum length", (side) => of(side.lengths?.max)]];
  const known = rows.filter(([, value]) => sides.some((side) => value(facts[side]) !== null));
  const there = sides.filter((side) => facts[side].tokens !== 0);  // a language model has no sources
  if (!known.length) return null;
  return table(["", ...there.map(numberHead)], known.map(([name, value]) => [name, ...there.map((side) => number(value(facts[side])))]), "");
}

// --- Samples --------------------------------------------------------------------------------------------------------

function samplesSection() {
  const sources = [...new Set(runs.flatMap((run) => run.samples.map((sample) => sample.source)))];
  if (!sources.length) return;
  const cards = sources.map((source) => {
    const users = runs.flatMap((run, i) => run.samples.filter((sample) => sample.source === source).map((sample) => ({...sample, run: i})));
    const {reference} = users[0];
    const continued = /language_model/.test(runs[users[0].run].configuration["model.kind"] ?? "");
    const [given, expected] = continued ? ["beginning", "original"] : ["source", "reference"];
    return element("div", {class: "card"},
      element("dl", {class: "sentence"}, element("dt", {}, given), element("dd", {dir: "auto"}, source),
        ...(reference ? [element("dt", {}, expected), element("dd", {dir: "auto"}, reference)] : [])),
      element("div", {class: "runs"}, ...users.map(improvement)));
  });
  section("Samples", element("p", {class: "note"}, "Each output is listed at the step that first produced it. Dotted words are not in the reference, or not in this order."),
    element("div", {class: "cards"}, ...cards));
}

function improvement({run, reference, translations, left_out}) {
  const rows = translations.map(([step, text]) => element("tr", {}, element("td", {}, showNumber(step)), element("td", {dir: "auto"}, ...marked(text, reference))));
  return element("div", {}, several ? element("h3", {}, runName(run)) : null,
    element("div", {class: "history", tabindex: rows.length > 12 ? 0 : null}, element("table", {class: "improved"}, element("tbody", {}, ...rows))),
    left_out ? element("p", {class: "note"}, `${showNumber(left_out)} more not shown.`) : null);
}

// The translation's words; highlights those outside its longest common subsequence with the reference.
function marked(text, reference) {
  const words = text.split(/\s+/).filter(Boolean);
  if (!reference || !words.length) return [text || "–"];
  const there = paired(words, reference.split(/\s+/));
  return words.flatMap((word, i) => [there[i] === null ? element("span", {class: "new"}, word) : word, " "]);
}

// --- Configuration --------------------------------------------------------------------------------------------------

// What the runs differ in, then what any of them has changed from its default, then the rest.
function configurationSection() {
  const keys = [...new Set(runs.flatMap((run) => Object.keys(run.configuration)))];
  if (!keys.length) return;
  const known = runs.map((run) => run.configuration).filter((one) => Object.keys(one).length);
  const differs = (name) => known.some((one) => one[name] !== known[0][name]);
  const isSet = (run, name) => (Array.isArray(run.given) ? run.given.includes(name) : name in run.defaults);
  const changed = (name) => runs.some((run) => name in run.defaults || isSet(run, name));
  const defaultOf = (name) => runs.find((run) => name in run.defaults)?.defaults[name] ?? "";
  const rank = (name) => (differs(name) ? 0 : changed(name) ? 1 : 2);
  keys.sort((a, b) => rank(a) - rank(b));
  const row = (name) => element("tr", {class: [differs(name) && "differs", changed(name) && "changed"].filter(Boolean).join(" ") || null},
    element("th", {scope: "row"}, name),
    ...runs.map((run) => element("td", {class: isSet(run, name) ? "set" : null}, run.configuration[name] ?? "–")), element("td", {class: "note"}, defaultOf(name)));
  const body = element("tbody", {}, ...keys.map(row)), count = (of) => keys.filter(of).length;
  const whole = element("table", {class: "configuration"},
    element("thead", {}, element("tr", {}, element("th", {}, "key"), ...runs.map((_, run) => element("th", {}, runName(run))), element("th", {}, "default"))), body);
  section("Configuration",
    element("p", {class: "note"}, "Bold: set by the recipe or a flag. The last column has the default of each setting that has another value."),
    whichSettings(body, several && count(differs) ? "differs" : count(changed) ? "changed" : "", {differs: count(differs), changed: count(changed), all: keys.length}),
    element("div", {class: "scroll", tabindex: 0}, whole));
}

// The choice of the rows that are shown: those of a class, or all.
function whichSettings(body, chosen, counts) {
  const filter = (kind) => { for (const row of body.rows) row.hidden = kind !== "" && !row.classList.contains(kind); };
  const choice = (kind, text) => {
    const input = element("input", {type: "radio", name: "settings", checked: kind === chosen ? "" : null});
    input.addEventListener("change", () => filter(kind));
    return element("label", {}, input, text);
  };
  filter(chosen);
  return element("form", {class: "which settings"}, several && counts.differs ? choice("differs", `differences (${counts.differs})`) : null,
    counts.changed ? choice("changed", `set, or not the default (${counts.changed})`) : null, choice("", `all (${counts.all})`));
}

// --- Confidence -----------------------------------------------------------------------------------------------------

function confidenceSection() {
  const known = runs.map(({confidence}, run) => ({run, ...confidence})).filter(({texts}) => texts);
  if (!known.length) return;
  const rows = known.flatMap((one) => [
    [`error of the confidence in ${showNumber(one.words)} words`, showPercent(one.words_before.error), showPercent(one.words_after.error)],
    [`error of that in ${showNumber(one.texts)} translations`, showPercent(one.texts_before.error), showPercent(one.texts_after.error)],
    ["rank correlation of that with chrF", one.correlation_before.toFixed(3), one.correlation_after.toFixed(3)],
  ].map(([what, before, after]) => [...(several ? [runName(one.run)] : []), what, number(before), number(after)]));
  const drawn = [["Confidence in words", "words", "right"], ["Confidence in translations", "texts", "in need of few changes"]].map(([title, of, what]) => {
    const chart = new Chart(title, {axis: "confidence", unit: " %", zero: true, note: `of those with a confidence, how many are ${what}`});
    const curve = (one, name, kind, label, dashed) => {
      const bins = one[`${of}_${name}`].bins.filter(({cases}) => cases);
      return {run: several ? one.run : kind, label: [several ? runs[one.run].name : "", label].filter(Boolean).join(", "), dashed, points: true,
        x: bins.map(({confidence}) => confidence * 100), y: bins.map(({right}) => right * 100)};
    };
    chart.set([{run: "quiet", label: "as it should be", x: [0, 100], y: [0, 100], dashed: true, area: false, points: false},
      ...known.flatMap((one) => [curve(one, "before", "training", "the model's own probability", true), curve(one, "after", "validation", "calibrated", false)])], [], "confidence", 0);
    chart.figure.querySelector("figcaption").append(...(several ? [] : [["training", true, "the model's own probability"], ["validation", false, "calibrated"]].map(([ink, dashed, name]) =>
      element("span", {class: "name"}, key(ink, dashed, true), name))));
    return chart.figure;
  });
  section("Confidence", element("p", {class: "note"}, "On translations that the calibration was not fitted to. The error is the mean distance from the straight line."),
    element("div", {class: "grid"}, ...drawn), table([...(several ? ["run"] : []), "", ...["the model's own", "calibrated"].map(numberHead)], rows, ""));
}

function showReport(data) {
  runs = data.runs;
  several = runs.length > 1;
  document.title = `${runs.map((run) => run.name).join(", ")} – training report`;
  summarySection();
  curvesSection();
  corpusSection();
  samplesSection();
  confidenceSection();
  configurationSection();
}

// New data of the same runs, with the same charts and samples.
function refreshReport(data) {
  runs = data.runs;
  summarySection();
  if (charts.length) {
    drawCurves();
    drawTables();
  }
  const places = [...document.querySelectorAll(".history")].map((one) => one.scrollTop);
  samplesSection();
  document.querySelectorAll(".history").forEach((one, i) => { one.scrollTop = places[i] ?? 0; });
}

const inlined = document.getElementById("data");  // a report that is a file; the server's page fetches its data
if (inlined) showReport(JSON.parse(inlined.textContent));
