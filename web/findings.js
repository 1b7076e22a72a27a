// What checks of the translation found: what it lacks, or has too much of. No proof, so a reader is only asked to look.

const kinds = {
  numbers: "Number", placeholders: "Placeholder", names: "Name", negation: "Negation", repetition: "Repetition",
  untranslated: "Not translated", wrong_language: "Language",
};

// findings: {line, check, description}; several: the text has more than one line
export function showFindings(findings, several) {
  const section = document.getElementById("findings");
  section.hidden = !findings.length;
  section.querySelector("ul").replaceChildren(...findings.map(({line, check, description}) =>
    element("li", {}, element("strong", {}, `${several ? `Line ${line} · ` : ""}${kinds[check] ?? check}:`), ` ${description}`)));
}
