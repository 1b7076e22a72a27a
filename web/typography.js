// No-break spaces where a language's typography has them, so that no line begins with a lone "?". Models write plain
// spaces there, and what they write is what is kept and sent: each space stands for one space, so that positions stay.

const narrow = "\u202f", wide = "\u00a0";

const rules = {
  fr: [[/ (?=[;!?])/g, narrow], [/ (?=[:»])/g, wide], [/(?<=«) /g, wide], [/(?<=\d) (?=\d{3}(?!\d))/g, narrow], [/(?<=\d) (?=[%‰€$£°])/g, wide]],
};

const rulesOf = (language) => rules[(language ?? "").split(/[-_]/)[0].toLowerCase()] ?? [];

export const typographic = (text, language) => rulesOf(language).reduce((now, [where, space]) => now.replace(where, space), text);

// The text as a model would write it, from one that is set as above.
export const plain = (text, language) => (rulesOf(language).length ? text.replace(/[\u00a0\u202f]/g, " ") : text);
