// The dark theme: as the system has it, or as the reader chose. The first script of a page, so that it never flashes.
"use strict";

const theme = {
  system: window.matchMedia("(prefers-color-scheme: dark)"),
  sheet: document.getElementById("dark"),

  get dark() {
    const chosen = theme.read();
    return chosen ? chosen === "dark" : theme.system.matches;
  },

  read() {
    try { return localStorage.getItem("theme"); } catch { return null; }
  },

  // A choice that the system agrees with is forgotten: the page follows the system again.
  choose(dark) {
    try {
      if (dark === theme.system.matches) localStorage.removeItem("theme");
      else localStorage.setItem("theme", dark ? "dark" : "light");
    } catch { /* holds only for this page */ }
    theme.apply(dark);
  },

  apply(dark = theme.dark) {
    theme.sheet.media = dark ? "screen" : "not all";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    document.getElementById("theme")?.setAttribute("aria-pressed", String(dark));
    window.dispatchEvent(new Event("theme"));
  },
};

theme.apply();
theme.system.addEventListener("change", () => theme.apply());
window.addEventListener("storage", ({key}) => { if (key === "theme") theme.apply(); });
document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  if (!button) return;
  button.addEventListener("click", () => theme.choose(!theme.dark));
  theme.apply();
});
