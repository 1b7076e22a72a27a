// The page of one sentence at a time: its n-best list, token probabilities, word alignment and every head's attention.
let model, sentences, colours;
const page = document.getElementById("page");
const kinds = {
  encoder: {name: "Encoder", rows: "source_tokens", columns: "source_tokens", note: "Rows: source tokens (queries); columns: the source tokens they attend to (keys)"},
  decoder: {name: "Decoder", rows: "read_tokens", columns: "read_tokens", note: "Rows: tokens read by the decoder (queries); columns: the tokens they attend to, themselves and earlier ones (keys)"},
  cross: {name: "Cross", rows: "said_tokens", columns: "source_tokens", note: "Rows: output tokens (queries); columns: the source tokens that the decoder attends to when predicting them (keys)"},
};
let sentence, kind = "cross", layer, aligning;

const tip = element("div", {class: "tip", hidden: ""});
document.body.append(tip);

function showTip(event, ...lines) {
  tip.replaceChildren(...lines.map((line) => element("div", {}, line)));
  tip.hidden = false;
  const right = event.clientX + 16 + tip.offsetWidth > document.documentElement.clientWidth;
  tip.style.left = `${Math.max(4, right ? event.clientX - 12 - tip.offsetWidth : event.clientX + 16)}px`;
  tip.style.top = `${event.clientY + 16}px`;
}

function section(title, ...children) {
  const id = title.toLowerCase();
  document.getElementById("sections").append(element("a", {href: `#${id}`}, title));
  page.append(element("section", {id}, element("h2", {}, title), ...children));
}

// A group of buttons, one of them pressed.
function choice(name, items, chosen, choose) {
  const buttons = items.map(([value, text]) => {
    const button = element("button", {type: "button", "aria-pressed": String(value === chosen)}, text);
    button.addEventListener("click", () => {
      for (const other of buttons) other.setAttribute("aria-pressed", String(other === button));
      choose(value);
    });
    return button;
  });
  return element("div", {class: "choice", role: "group", "aria-label": name}, element("span", {}, name), ...buttons);
}

const layers = (of) => sentence.attention[of].map((_, i) => [i, String(i + 1)]);
const points = (text) => Array.from(text);

// --- Translation ----------------------------------------------------------------------------------------------------

function translationSection() {
  const total = sentence.log_probabilities.reduce((a, b) => a + b, 0);
  const facts = element("dl", {class: "sentence"}, element("dt", {}, "source"), element("dd", {dir: "auto"}, sentence.source),
    element("dt", {}, sentence.target_given ? "given translation" : "translation"), element("dd", {dir: "auto"}, sentence.target),
    element("dt", {}, "log p"), element("dd", {}, showNumber(total, 3)));
  const rows = sentence.nbest.map(({text, score}, i) => element("tr", {}, element("td", {class: "number"}, String(i + 1)),
    element("td", {class: "number"}, showNumber(score, 4)), element("td", {dir: "auto"}, text)));
  const nbest = element("table", {}, element("thead", {}, element("tr", {},
    element("th", {class: "number"}, "rank"), element("th", {class: "number"}, "score"), element("th", {}, "hypothesis"))),
  element("tbody", {}, ...rows));
  section("Translation", element("p", {class: "note"}, `Model: ${model}`), facts, element("div", {class: "scroll", tabindex: 0}, nbest));
}

// From pale green for likely tokens to strong red for unlikely ones.
function colourOf(probability) {
  const hue = 5 + 130 * probability;
  return `hsl(${hue} 65% 50% / ${(0.42 - 0.24 * probability).toFixed(2)})`;
}

function tokensSection() {
  const pieces = sentence.said_tokens.map((piece, i) => {
    const logP = sentence.log_probabilities[i], p = Math.exp(logP);
    const title = `probability ${showNumber(p)}, log ${showNumber(logP, 3)}, after ${sentence.read_tokens[i]}`;
    return element("li", {style: `background: ${colourOf(p)}`, title}, piece, element("small", {}, showNumber(logP, 2)));
  });
  section("Tokens", element("p", {class: "note"}, "Each token with its log-probability, from green (likely) to red (unlikely)."),
    element("ol", {class: "pieces"}, ...pieces));
}

// --- Alignment ------------------------------------------------------------------------------------------------------

// A layer's attention between words: the mean over heads, summed over source tokens and averaged over target tokens.
function wordWeights() {
  const heads = sentence.attention.cross[aligning], {source_words: from, target_words: to} = sentence;
  const sums = to.spans.map(() => from.spans.map(() => 0)), pieces = to.spans.map(() => 0);
  to.of_tokens.forEach((word, t) => {
    if (word < 0) return;
    ++pieces[word];
    from.of_tokens.forEach((other, s) => {
      for (const head of heads) if (other >= 0) sums[word][other] += head[t][s] / 1000 / heads.length;
    });
  });
  return sums.map((row, word) => row.map((sum) => sum / Math.max(pieces[word], 1)));
}

const measure = document.createElement("canvas").getContext("2d");

// The positions of words along a line.
function places(words, gap, size) {
  let at = 0;
  const middles = words.map((word) => {
    const width = size(word), middle = at + width / 2;
    at += width + gap;
    return middle;
  });
  return {middles, length: Math.max(0, at - gap)};
}

// Draws again when the width changes: of the window, or of a notebook's frame, which has none at first. A scroll bar that
// comes or goes is not a reason: it could come and go forever.
function drawByWidth(holder, draw) {
  const scrollBar = 20;
  let width = holder.clientWidth;
  new ResizeObserver(() => {
    if (Math.abs(holder.clientWidth - width) <= scrollBar) return;
    width = holder.clientWidth;
    draw();
  }).observe(holder);
}

// Source above target, or, if that is too wide, source beside target.
function drawLinks(holder) {
  measure.font = `15px ${getComputedStyle(document.body).fontFamily}`;
  const wordsOf = ({spans}, text) => spans.map(([begin, end]) => points(text).slice(begin, end).join(""));
  const source = wordsOf(sentence.source_words, sentence.source), target = wordsOf(sentence.target_words, sentence.target);
  const width = (word) => measure.measureText(word).width + 2;
  let across = true, top = places(source, 26, width), bottom = places(target, 26, width), length = Math.max(top.length, bottom.length);
  if (length > holder.clientWidth) {
    across = false;
    [top, bottom] = [places(source, 18, () => 4), places(target, 18, () => 4)];
    length = Math.max(top.length, bottom.length);
  }
  const wide = (words) => Math.max(0, ...words.map(width));
  const [near, far] = across ? [24, 104] : [wide(source) + 8, wide(source) + 8 + Math.min(260, Math.max(60, holder.clientWidth - wide(source) - wide(target) - 20))];
  const shift = (one) => (across ? (length - one.length) / 2 : 8);
  const topAt = top.middles.map((middle) => middle + shift(top)), bottomAt = bottom.middles.map((middle) => middle + shift(bottom));

  const weights = wordWeights();
  const linked = {source: new Set(), target: new Set()}, paths = [];
  weights.forEach((row, t) => row.forEach((weight, s) => {
    if (weight < 0.1) return;
    linked.source.add(s); linked.target.add(t);
    const [a, b] = [topAt[s], bottomAt[t]], bend = (far - near) * 0.45;
    const path = across ? `M${a} ${near + 6}C${a} ${near + bend} ${b} ${far - bend} ${b} ${far - 18}`
      : `M${near} ${a}C${near + bend} ${a} ${far - bend} ${b} ${far - 6} ${b}`;
    paths.push({s, t, drawn: element("svg:path", {d: path, "stroke-width": 1 + 2 * weight, "stroke-opacity": 0.15 + 0.85 * weight})});
  }));
  const hold = (side, index) => {
    for (const {s, t, drawn} of paths) drawn.classList.toggle("faint", side !== null && (side === "source" ? s : t) !== index);
  };
  const label = (side, at, word, index) => {
    const place = side === "source" ? near : far;
    const text = element("svg:text", across ? {x: at, y: side === "source" ? place - 6 : place, "text-anchor": "middle"}
      : {x: side === "source" ? place - 8 : place, y: at + 5, "text-anchor": side === "source" ? "end" : "start"}, word);
    text.classList.toggle("unlinked", !linked[side].has(index));
    text.addEventListener("pointerenter", () => { hold(side, index); text.classList.add("held"); });
    text.addEventListener("pointerleave", () => { hold(null); text.classList.remove("held"); });
    return text;
  };
  const size = across ? [length + 2, far + 10] : [far + wide(target) + 8, length + 16];
  holder.replaceChildren(element("svg:svg", {class: "links", width: size[0], height: size[1], role: "img", "aria-label": "alignment of words"},
    ...paths.map(({drawn}) => drawn), ...source.map((word, i) => label("source", topAt[i], word, i)),
    ...target.map((word, i) => label("target", bottomAt[i], word, i))));
}

function alignmentSection() {
  const holder = element("div", {class: "scroll card", tabindex: 0});
  section("Alignment", element("p", {class: "note"},
    `Cross-attention between words, averaged over the heads of a layer; links below 0.1 are not shown. Hover over a word to highlight its links. --alignment uses layer ${sentence.alignment_layer}.`),
  choice("layer", layers("cross"), aligning, (value) => { aligning = value; drawLinks(holder); }), element("p"), holder);
  drawLinks(holder);
  drawByWidth(holder, () => drawLinks(holder));
}

// --- Attention ------------------------------------------------------------------------------------------------------

// The scale of the SVG figures: the square root makes small weights visible.
const shade = (weight) => colours[Math.min(Math.floor(Math.sqrt(Math.max(weight, 0)) * colours.length), colours.length - 1)];

// Labels omit the word-begin mark to save room; tooltips show it.
const bare = (piece) => piece.replace(/^▁(?=.)/, "");

// A canvas, since a page has many large ones, each redrawn as the pointer moves over it. Figures that must show without a
// script, with the numbers in their cells, are drawn by src/report/heat_map.cpp. Both use the colours of colour_scale.h.
class HeatMap {
  constructor(title, matrix, rows, columns, cell) {
    this.canvas = element("canvas", {role: "img", "aria-label": title});
    this.figure = element("figure", {class: "card", tabindex: 0}, element("figcaption", {}, element("h3", {}, title)), this.canvas);
    Object.assign(this, {matrix, rows, columns, cell});
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => { tip.hidden = true; this.draw(); });
    this.draw();
  }

  draw(row = -1, column = -1) {
    const {canvas, cell, rows, columns} = this, context = canvas.getContext("2d");
    const font = `${Math.min(13, Math.max(8, cell))}px system-ui, "Noto Sans", "DejaVu Sans", sans-serif`;
    context.font = font;
    const widest = (words) => Math.ceil(Math.max(...words.map((word) => context.measureText(bare(word)).width)));
    this.left = widest(rows) + 6;
    this.top = widest(columns) + 6;
    const width = this.left + columns.length * cell + 2, height = this.top + rows.length * cell + 2, ratio = window.devicePixelRatio || 1;
    canvas.width = Math.ceil(width * ratio); canvas.height = Math.ceil(height * ratio);
    canvas.style.width = `${width}px`; canvas.style.height = `${height}px`;
    context.scale(ratio, ratio);
    const style = getComputedStyle(document.body);
    const gap = cell >= 12 ? 1 : 0;
    rows.forEach((_, r) => columns.forEach((__, c) => {
      context.fillStyle = shade(this.matrix[r][c] / 1000);
      context.fillRect(this.left + c * cell, this.top + r * cell, cell - gap, cell - gap);
    }));
    context.font = font;
    context.textBaseline = "middle";
    const ink = (held) => { context.fillStyle = style.getPropertyValue(held ? "--accent" : "--ink"); context.font = held ? `bold ${font}` : font; };
    context.textAlign = "right";
    rows.forEach((word, r) => { ink(r === row); context.fillText(bare(word), this.left - 4, this.top + (r + 0.5) * cell); });
    context.textAlign = "left";
    columns.forEach((word, c) => {
      ink(c === column);
      context.save();
      context.translate(this.left + (c + 0.5) * cell, this.top - 4);
      context.rotate(-Math.PI / 2);
      context.fillText(bare(word), 0, 0);
      context.restore();
    });
    if (row < 0) return;
    context.strokeStyle = "#ff4d4d";  // seen on all colours of the scale
    context.strokeRect(this.left - 0.5, this.top + row * cell - 0.5, columns.length * cell, cell);
    context.strokeRect(this.left + column * cell - 0.5, this.top - 0.5, cell, rows.length * cell);
  }

  point(event) {
    const box = this.canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left - this.left) / this.cell), row = Math.floor((event.clientY - box.top - this.top) / this.cell);
    if (row < 0 || column < 0 || row >= this.rows.length || column >= this.columns.length) {
      tip.hidden = true;
      return this.draw();
    }
    this.draw(row, column);
    showTip(event, `${this.rows[row]} → ${this.columns[column]}`, showNumber(this.matrix[row][column] / 1000, 3));
  }
}

const mean = (heads) => heads[0].map((row, r) => row.map((_, c) => heads.reduce((sum, head) => sum + head[r][c], 0) / heads.length));

function drawHeads(holder, note) {
  const {rows, columns, note: text} = kinds[kind], heads = sentence.attention[kind][layer];
  note.textContent = `${text}.${sentence.attention.decoder.length ? "" : " The decoder has recurrent units instead of self-attention."}`;
  const count = Math.max(sentence[rows].length, sentence[columns].length);
  const room = (holder.clientWidth > 700 ? holder.clientWidth / 2 : holder.clientWidth) - 130;  // beside row names
  const cell = Math.floor(Math.min(28, Math.max(9, Math.min(room, 400) / count)));
  const maps = heads.map((head, i) => new HeatMap(`Head ${i + 1}`, head, sentence[rows], sentence[columns], cell));
  if (heads.length > 1) maps.push(new HeatMap("Mean over heads", mean(heads), sentence[rows], sentence[columns], cell));
  const widest = Math.max(...maps.map((map) => map.canvas.clientWidth || parseInt(map.canvas.style.width, 10)));
  holder.style.gridTemplateColumns = `repeat(auto-fill, minmax(min(100%, ${widest + 34}px), 1fr))`;
  holder.replaceChildren(...maps.map((map) => map.figure));
}

function scale() {
  const ticks = [0, 0.05, 0.2, 0.5, 1].map((weight) => element("span", {style: `left: ${Math.sqrt(weight) * 100}%`}, String(weight)));
  return element("div", {class: "scale", role: "img", "aria-label": "colours of weights from 0 to 1"},
    element("div", {style: `background: linear-gradient(to right, ${colours.join(", ")})`}), ...ticks);
}

function attentionSection() {
  const holder = element("div", {class: "heads"}), note = element("p", {class: "note"});
  const draw = () => drawHeads(holder, note);
  const which = element("div", {class: "choice"});
  const showLayers = () => {
    layer = Math.min(layer, sentence.attention[kind].length - 1);
    which.replaceChildren(choice("layer", layers(kind), layer, (value) => { layer = value; draw(); }));
  };
  const controls = element("div", {class: "controls"},
    choice("attention", Object.entries(kinds).filter(([value]) => sentence.attention[value].length).map(([value, {name}]) => [value, name]), kind, (value) => { kind = value; showLayers(); draw(); }), which, scale());
  section("Attention", controls, note, holder);
  showLayers();
  draw();
  drawByWidth(holder, draw);
}

// --- The sentence ---------------------------------------------------------------------------------------------------

function showSentence() {
  page.replaceChildren();
  document.getElementById("sections").replaceChildren();
  if (sentences.length > 1) {
    const choose = element("select", {class: "choose", "aria-label": "sentence"},
      ...sentences.map((one, i) => element("option", {value: i, selected: one === sentence ? "" : null}, `${i + 1}. ${one.source}`)));
    choose.addEventListener("change", () => { sentence = sentences[choose.value]; showSentence(); });
    page.append(element("p", {}, choose));
  }
  translationSection();
  tokensSection();
  alignmentSection();
  attentionSection();
}

function showInspection(data) {
  ({model, sentences, colours} = data);
  sentence = sentences[0];
  if (!sentence.attention[kind].length) kind = "cross";
  layer = aligning = sentence.alignment_layer - 1;
  showSentence();
}

const inlined = document.getElementById("data");  // a page that is a file; the server's page fetches its data
if (inlined) showInspection(JSON.parse(inlined.textContent));
const recolour = () => { if (sentence) showSentence(); };
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
window.addEventListener("theme", recolour);
