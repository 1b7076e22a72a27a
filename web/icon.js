// A symbol of the page (translate.html) as an icon.
export const icon = (name) => element("svg:svg", {class: "icon", "aria-hidden": "true"}, element("svg:use", {href: `#icon-${name}`}));
