// How a student compares with its teacher: their scores, and what they make of the same sentences.
const {clean, taught, comparison} = JSON.parse(document.getElementById("data").textContent);
const page = document.getElementById("page");

const cell = (text) => element("td", {class: "number"}, text);
const head = (text) => element("th", {class: "number", scope: "col"}, text);

function table(heads, rows) {
  return element("div", {class: "scroll", tabindex: 0}, element("table", {},
    element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row)))));
}

function section(title, ...children) {
  page.append(element("section", {}, element("h2", {}, title), ...children));
}

function modelsSection({models, sentences}) {
  const variants = Object.keys(models[0].scores), metrics = Object.keys(models[0].scores[variants[0]]);
  const column = (variant, metric) => (variant === variants[0] ? metric : `${metric}, ${variant}`);
  const columns = variants.flatMap((variant) => (variant === variants[0] ? metrics : ["BLEU"]).map((metric) => [variant, metric]));
  const heads = columns.map(([variant, metric]) => head(column(variant, metric)));
  const rows = models.map((model) => [
    element("th", {scope: "row"}, model.name),
    ...columns.map(([variant, metric]) => cell(showNumber(model.scores[variant][metric], 1))),
    cell(model === models[0] ? "" : model.p_value < 0.001 ? "< 0.001" : showNumber(model.p_value, 3)), cell(showNumber(model.megabytes, 1)), cell(showNumber(Math.round(model.tokens_per_second))), cell(showNumber(model.seconds_to_start, 2))]);
  section("Models", element("p", {class: "quiet"}, `On ${withCommas(sentences)} sentences that neither has learned from. p: how likely a difference in BLEU as large as this one would be if both models were equally good (paired bootstrap).`),
    table([element("th", {scope: "col"}, ""), ...heads, head("p"), head("MB"), head("tokens/s"), head("seconds to start")], rows));
}

function stagesSection() {
  const {pairs, monolingual} = clean, dropped = Object.entries(pairs.left_out).filter(([, count]) => count > 0);
  const lines = [`${withCommas(pairs.kept)} of ${withCommas(pairs.read)} pairs are learned from`,
    ...dropped.map(([reason, count]) => `${withCommas(count)} were left out: ${reason.replaceAll("_", " ")}`)];
  if (monolingual) lines.push(`${withCommas(monolingual.kept)} of ${withCommas(monolingual.read)} further sentences, too`);
  const failed = Object.values(taught).reduce((sum, one) => sum + one.left_out, 0);
  if (failed) lines.push(`${withCommas(failed)} translations of the teacher were cut or looped, and were left out`);
  section("Text", element("ul", {}, ...lines.map((line) => element("li", {}, line))));
}

function samplesSection({samples}) {
  const cards = samples.map((sample) => element("div", {class: "card"}, element("dl", {},
    ...Object.entries(sample).flatMap(([name, text]) => [element("dt", {}, name), element("dd", {dir: "auto"}, text)]))));
  section("Samples", element("div", {class: "samples"}, ...cards));
}

modelsSection(comparison);
stagesSection();
samplesSection(comparison);
