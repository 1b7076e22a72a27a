// The list of other words at a clicked word, beside it: a listbox that the arrow keys move in.

export class Choices {
  constructor() {
    this.box = document.getElementById("choices");
    this.box.addEventListener("keydown", (event) => this.type(event));
    this.box.addEventListener("click", ({target}) => this.take(target.closest("[role=option]")));
    document.addEventListener("pointerdown", ({target}) => { if (!this.box.contains(target)) this.close(); });
    window.addEventListener("resize", () => this.close());
  }

  get open() { return !this.box.hidden; }

  // Shows that choices are coming.
  wait(word) {
    this.close();
    this.word = word;
    this.items = [];
    this.held = 0;
    word.setAttribute("aria-expanded", "true");
    this.fill([element("p", {class: "quiet"}, "Looking for other words…")]);
    this.box.focus();
  }

  // items: {text, after, take}
  show(items) {
    if (!this.open) return;
    this.items = items;
    if (!items.length) return this.fill([element("p", {class: "quiet"}, "The model suggests no other word here.")]);
    this.fill(items.map(({text, after}, i) => element("div", {role: "option", id: `choice-${i}`, "aria-selected": "false", dir: "auto"},
      element("strong", {}, text), after ? element("span", {class: "quiet"}, after) : null)));
    this.hold(0);
  }

  fill(nodes) {
    this.box.replaceChildren(...nodes);
    this.box.removeAttribute("aria-activedescendant");
    this.box.hidden = false;
    this.put();
  }

  // Below the word, inside the window; above it where there is no room below.
  put() {
    const word = this.word.getBoundingClientRect(), {offsetWidth, offsetHeight, style} = this.box, edge = 8;
    const begin = getComputedStyle(this.word).direction === "rtl" ? word.right - offsetWidth : word.left;
    const left = Math.max(edge, Math.min(begin, document.documentElement.clientWidth - offsetWidth - edge));
    const below = word.bottom + 4, above = word.top - offsetHeight - 4;
    style.left = `${left + scrollX}px`;
    style.top = `${(below + offsetHeight > innerHeight && above > 0 ? above : below) + scrollY}px`;
  }

  hold(index) {
    const options = [...this.box.querySelectorAll("[role=option]")];
    if (!options.length) return;
    this.held = (index + options.length) % options.length;
    options.forEach((option, i) => option.setAttribute("aria-selected", String(i === this.held)));
    this.box.setAttribute("aria-activedescendant", options[this.held].id);
    options[this.held].scrollIntoView({block: "nearest"});
  }

  take(option) {
    const item = option && this.items[[...this.box.children].indexOf(option)];
    if (!item) return;
    this.close(true);
    item.take();
  }

  close(refocus = false) {
    if (!this.open) return;
    this.box.hidden = true;
    this.box.replaceChildren();
    this.word.removeAttribute("aria-expanded");
    if (refocus) this.word.focus();
    this.onClose?.();
  }

  type(event) {
    if (event.key === "ArrowDown") this.hold(this.held + 1);
    else if (event.key === "ArrowUp") this.hold(this.held - 1);
    else if (event.key === "Enter" || event.key === " ") this.take(this.box.children[this.held]);
    else if (event.key === "Escape" || event.key === "Tab") this.close(true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
