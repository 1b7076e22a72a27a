// The translation as a field, to change it by hand. The view of the translation lies under it, and gives it its height.

export class Editor {
  // view: of the translation; on.change(text): after each change; on.end(): it is closed
  constructor(view, on) {
    this.view = view;
    this.on = on;
    this.field = document.getElementById("edited");
    this.button = document.getElementById("edit");
    this.button.addEventListener("pointerdown", (event) => { if (this.open) event.preventDefault(); });  // the field keeps the focus
    this.button.addEventListener("click", () => { if (this.open) this.close(); else this.begin(); });
    this.field.addEventListener("input", () => { this.follow(); on.change(this.field.value); });
    this.field.addEventListener("blur", () => { if (document.hasFocus()) this.close(); });
  }

  get open() { return !this.field.hidden; }

  begin() {
    if (this.open || this.button.disabled || this.view.isBusy) return;
    this.field.value = this.view.place.textContent;
    this.field.dir = this.view.place.dir;
    this.field.lang = this.view.place.lang;
    this.field.hidden = false;
    this.button.setAttribute("aria-pressed", "true");
    this.follow();
    this.field.focus();
    this.field.setSelectionRange(this.field.value.length, this.field.value.length);
  }

  follow() { this.view.lieUnder(`${this.field.value}\u200b`); }

  close() {
    if (!this.open) return;
    this.field.hidden = true;  // which takes the focus from it, too
    this.button.setAttribute("aria-pressed", "false");
    this.view.lieUnder(null);
    this.on.end();
  }
}
