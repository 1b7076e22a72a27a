// The dark theme: as the system has it, or as the reader chose. The first script of a page, so that it never flashes.
"use strict";

const theme = {
  system: window.matchMedia("(prefers-color-scheme: dark)"),
  sheet: document.getElementById("dark"),

  get dark() { return theme.chosen ? theme.chosen === "dark" : theme.system.matches; },

  restore() {
    try { theme.chosen = localStorage.getItem("theme"); } catch { /* not allowed: as the system has it */ }
    theme.apply();
  },

  // A choice that the system agrees with is forgotten: the page follows the system again.
  choose(dark) {
    theme.chosen = dark === theme.system.matches ? null : dark ? "dark" : "light";
    try {
      if (theme.chosen) localStorage.setItem("theme", theme.chosen); else localStorage.removeItem("theme");
    } catch { /* holds only for this page */ }
    theme.apply();
  },

  apply() {
    const {dark} = theme;
    theme.sheet.media = dark ? "screen" : "not all";
    document.documentElement.style.colorScheme = dark ? "dark" : "light";
    document.getElementById("theme")?.setAttribute("aria-pressed", String(dark));
    window.dispatchEvent(new Event("theme"));
  },
};

theme.restore();
theme.system.addEventListener("change", theme.apply);
window.addEventListener("storage", ({key}) => { if (key === "theme") theme.restore(); });
document.addEventListener("DOMContentLoaded", () => {
  const button = document.getElementById("theme");
  if (!button) return;
  button.addEventListener("click", () => theme.choose(!theme.dark));
  theme.apply();
});
