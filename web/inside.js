// The link to the inspection of a sentence: that of the word chosen last, or the one that the cursor is in, or the first.

const about = "Every layer and head of the model at work on a sentence";

export class Inside {
  // say: shows a sentence, where the link is followed but leads nowhere
  constructor(nameOf, say) {
    this.link = document.getElementById("inside");
    this.nameOf = nameOf;
    this.link.addEventListener("click", () => { if (this.why) say(this.why); });
    this.link.addEventListener("keydown", ({key}) => { if (key === "Enter" && this.why) say(this.why); });
    this.leadTo(null);
  }

  // To the sentence at this unit of the result's source.
  leadTo(result, unit = 0) {
    const via = result?.answer.via ?? [];
    this.why = via.length ? `There is no single model to look inside: this translation goes through ${via.map(this.nameOf).join(" and ")}` : "";
    this.link.title = this.why || about;
    const nowhere = !result || Boolean(this.why);
    for (const [name, value, has] of [["role", "link", nowhere], ["aria-disabled", "true", nowhere], ["tabindex", "0", this.why]]) {
      if (has) this.link.setAttribute(name, value); else this.link.removeAttribute(name);
    }
    if (nowhere) return this.link.removeAttribute("href");
    const {from, to} = result.answer, {number, source: text, target} = result.lineAt(unit);
    this.link.href = `inspect#${new URLSearchParams({from, to, text, ...(target && {target})})}`;
    if (result.source.includes("\n")) this.link.title = `${about}: line ${number}. Choose a word, or put the cursor into another line, to choose that`;
  }
}
