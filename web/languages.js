// Languages: their names and directions, and the menus to choose a pair from.

const names = new Intl.DisplayNames(["en"], {type: "language", fallback: "code"});

export function nameOf(code) {
  try { return names.of(code.replaceAll("_", "-")); } catch { return code; }
}

const fromRightToLeft = new Set(["Adlm", "Arab", "Aran", "Hebr", "Mand", "Nkoo", "Rohg", "Samr", "Syrc", "Thaa"]);

// "auto" where the language is not known yet.
export function directionOf(code) {
  if (!code || code === "auto") return "auto";
  try {
    return fromRightToLeft.has(new Intl.Locale(code.replaceAll("_", "-")).maximize().script) ? "rtl" : "ltr";
  } catch {
    return "ltr";
  }
}

// The reader's language, or else the one that the server names first.
function preferred(targets, pairs) {
  const own = navigator.languages.flatMap((tag) => [tag, tag.split("-")[0]]).find((tag) => targets.includes(tag));
  return own ?? pairs.find(({to}) => targets.includes(to))?.to ?? "";
}

// What an adapted model was made of, and what that brought.
function showAdapted({segments, time, bleu}) {
  const change = ({before, after}) => `${after.toFixed(1)}, before ${before.toFixed(1)}`;
  return {short: `adapted to ${segments.toLocaleString("en")} segments`,
    long: `On ${new Date(time).toLocaleDateString("en", {dateStyle: "long"})}. BLEU on held-out segments ${change(bleu.segments)}; on general text ${change(bleu.general)}`};
}

// The two menus. A menu without a choice is plain text.
export class Languages {
  constructor(onChange) {
    this.part = (id) => document.getElementById(id);
    this.pairs = this.models = [];
    this.from = this.to = "";
    for (const side of ["from", "to"]) {
      this.part(side).addEventListener("change", () => { this.choose({[side]: this.part(side).value}); onChange(); });
    }
    this.part("swap").addEventListener("click", () => this.onSwap?.());
  }

  // Chosen at first: what the reader chose before, or else the first model's pair.
  set({pairs, detects, models}, chosen = {}) {
    this.pairs = pairs;
    this.models = models;
    this.detects = detects && new Set(pairs.map(({from}) => from)).size > 1;
    this.choose({from: chosen.from || "", to: chosen.to || pairs[0]?.to || ""});
  }

  // In the order of the models that have them, and those of one model by name.
  ordered(codes, side) {
    const model = (code) => this.models.findIndex((one) => one[side].includes(code));
    return [...new Set(codes)].sort((a, b) => model(a) - model(b) || nameOf(a).localeCompare(nameOf(b)));
  }

  get sources() { return this.ordered(this.pairs.map(({from}) => from), "sources"); }

  targetsOf(from) {
    const pairs = from === "auto" ? this.pairs : this.pairs.filter((pair) => pair.from === from);
    return this.ordered(pairs.map(({to}) => to), "targets");
  }

  has(from, to) { return this.pairs.some((pair) => pair.from === from && pair.to === to); }

  // What does not fit with the other choice is changed.
  choose({from = this.from, to = this.to}) {
    const sources = this.sources;
    this.from = (from === "auto" && this.detects) || sources.includes(from) ? from : this.detects ? "auto" : this.pairs[0]?.from ?? "";
    const targets = this.targetsOf(this.from);
    this.to = targets.includes(to) ? to : preferred(targets, this.pairs);
    this.menu("from", this.detects ? ["auto", ...sources] : sources, this.from);
    this.menu("to", targets, this.to);
    this.told(null);
  }

  menu(side, codes, chosen) {
    const menu = this.part(side), only = this.part(`${side}-only`);
    menu.replaceChildren(...codes.map((code) => element("option", {value: code}, code === "auto" ? "Detect language" : nameOf(code))));
    menu.value = chosen;
    menu.hidden = codes.length < 2;
    only.textContent = menu.hidden && chosen ? nameOf(chosen) : "";
  }

  // The language that the text was found to have, and how sure that is.
  told(answer) {
    this.detected = answer?.from;
    const detected = this.from === "auto" && answer, sure = detected && answer.confidence !== undefined;
    const auto = this.part("from").querySelector("[value=auto]");
    if (auto) auto.textContent = detected ? `Detected: ${nameOf(answer.from)}` : "Detect language";
    this.part("sure").textContent = sure ? `${Math.round(answer.confidence * 100)} % sure` : "";
    this.aboutModel(answer?.via ?? []);
    const swap = this.part("swap");
    swap.disabled = !this.has(this.to, this.source);
    swap.title = !swap.disabled ? "Swap languages (Alt+Shift+S)"
      : this.source ? `No model translates from ${nameOf(this.to)} into ${nameOf(this.source)}` : "The language of the text is not known yet";
  }

  // Which languages the translation goes through; or else whether its model has learned from this server's users.
  aboutModel(via) {
    const model = this.models.find(({adapted, sources, targets}) => adapted && sources.includes(this.source) && targets.includes(this.to));
    const adapted = model && !via.length ? showAdapted(model.adapted) : null;
    this.part("via").textContent = via.length ? `via ${via.map(nameOf).join(", ")}` : adapted?.short ?? "";
    this.part("via").title = adapted?.long ?? "";
  }

  // The source's language as far as it is known.
  get source() { return this.from === "auto" ? this.detected ?? "" : this.from; }

  swap() {
    this.choose({from: this.to, to: this.source});
  }
}
