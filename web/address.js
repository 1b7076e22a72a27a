// The languages and the text in the page's address, #en/fr/text, so that a reload and a link bring them back.
//
// A server never sees this part of an address. A text that is too long for it comes back in the same tab only.

const longest = 3000, rest = 400;  // characters; milliseconds after the last change, as browsers limit how often it changes

function decoded(part) {
  try { return decodeURIComponent(part); } catch { return ""; }  // cut somewhere
}

const encoded = (text) => encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));

function ofThisTab(text) {
  try {
    if (text === undefined) return sessionStorage.getItem("text") ?? "";
    sessionStorage.setItem("text", text);
  } catch { /* it is lost */ }
  return "";
}

export class Address {
  // onChange({from, to, text}): the reader went to another address
  constructor(onChange) {
    this.timer = 0;
    window.addEventListener("hashchange", () => onChange(this.read()));
    window.addEventListener("pagehide", () => this.flush());
  }

  // {from, to, text}, each missing where the address does not say it. A link may also be #source=en&target=fr&q=text.
  read() {
    const hash = location.hash.slice(1);
    if (hash.includes("/")) {
      const [from, to, ...text] = hash.split("/").map(decoded);
      return {from, to, text: text.length ? text.join("/") : ofThisTab()};
    }
    const about = new URLSearchParams(hash || location.search);
    return {from: about.get("source") ?? undefined, to: about.get("target") ?? undefined, text: about.get("q") ?? ""};
  }

  write(about) {
    clearTimeout(this.timer);
    this.next = about;
    this.timer = setTimeout(() => this.flush(), rest);
  }

  flush() {
    if (!this.next) return;
    const {from, to, text} = this.next, fits = text.length <= longest;
    this.next = null;
    clearTimeout(this.timer);
    ofThisTab(fits ? "" : text);
    window.history.replaceState(null, "", `#${[from, to, ...(text && fits ? [text] : [])].map(encoded).join("/")}`);
  }
}
