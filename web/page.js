// Shared by all pages.
"use strict";

// element("svg:path", {d: "..."}) or element("td", {class: "number"}, "12", child)
function element(name, attributes = {}, ...children) {
  const svg = name.startsWith("svg:");
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name.slice(4)) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") made.style.cssText = value;  // as an attribute, the server's Content-Security-Policy forbids it
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}
