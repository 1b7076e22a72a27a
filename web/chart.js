// An interactive chart: curves over a common axis, drawn as SVG to fit the page, with a cursor that shows the values.
//
// It needs a browser: it zooms, smooths, and redraws when its width changes. Figures that must show without a script are
// drawn by src/report/line_chart.cpp. Both use the axes and labels of numbers.js.

const axes = {
  step: {name: "step", show: showNumber, ticks: (low, high, count) => linearTicks(low, high, count, 1)},
  seconds: {name: "training time", show: showTime, ticks: timeTicks},
  epoch: {name: "epoch", show: showNumber, ticks: (low, high, count) => linearTicks(low, high, count, 1)},
  length: {name: "sentence length in tokens", show: showNumber, ticks: (low, high, count) => linearTicks(low, high, count, 1)},
  confidence: {name: "confidence in percent", show: showNumber, ticks: (low, high) => linearTicks(low, high, 5)},
};

// Ticks are {value, label}: about `count` round numbers from low to high, at least `apart` from each other.
function linearTicks(low, high, count, apart = 0) {
  let axis = roundAxis(low, high, count + 2);  // its ends may lie outside
  if (axis.step < apart) axis = {least: Math.floor(low), most: Math.ceil(high), step: apart};
  const room = (high - low) * 1e-9;
  return axisTicks(axis).filter((tick) => tick >= low - room && tick <= high + room).map((tick) => ({value: tick, label: tickLabel(axis, tick)}));
}

function timeTicks(low, high, count) {
  const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];
  const step = steps.find((one) => one >= (high - low) / count) ?? roundAxis(0, (high - low) / 86400, count).step * 86400;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high; ++i) ticks.push({value: i * step, label: showTime(i * step)});
  return ticks;
}

function logTicks(low, high) {
  const decades = Math.log10(high / low), ticks = [];
  const factors = decades > 3.5 ? [1] : decades > 1.2 ? [1, 3] : [1, 1.5, 2, 3, 5, 7];
  const every = Math.max(1, Math.ceil(decades / 6));
  for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
    if (factors.length === 1 && power % every) continue;
    for (const factor of factors) {
      const value = factor * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push({value, label: showNumber(value)});
    }
  }
  return ticks.length > 1 ? ticks : linearTicks(low, high, 5);
}

// The line through these points, {x, y}, with the least squares: a function of x.
function lineThrough(points) {
  const mean = (key) => points.reduce((sum, one) => sum + one[key], 0) / points.length, middle = mean("x"), level = mean("y");
  const spread = points.reduce((sum, {x}) => sum + (x - middle) ** 2, 0);
  const slope = spread > 0 ? points.reduce((sum, {x, y}) => sum + (x - middle) * (y - level), 0) / spread : 0;
  return (x) => level + slope * (x - middle);
}

// A local regression: each value is that of a line through this share of the curve around it, which near the ends lies to
// one side of it. There the last values, on which a line depends most, would bend it: towards the end, where curves are
// flat, the window grows to twice its length. A tenth of each window, what is farthest from a first line, is dropped, so
// that an outlier is not smeared out. Gaps stay gaps.
function smooth(values, share, log) {
  const reach = Math.round(values.length * share / 2), last = values.length - 1;
  if (reach < 1 || last < 2 * reach) return values;
  return values.map((value, i) => {
    if (value === null || (log && value <= 0)) return value;
    const missing = Math.max(0, i + reach - last), end = Math.min(last, Math.max(i + reach, 2 * reach)), points = [];
    for (let x = Math.max(0, i - reach - 3 * missing); x <= end; ++x) {
      if (values[x] !== null && (!log || values[x] > 0)) points.push({x, y: log ? Math.log(values[x]) : values[x]});
    }
    const first = lineThrough(points), off = ({x, y}) => Math.abs(y - first(x));
    const kept = points.length > 4 ? points.sort((a, b) => off(a) - off(b)).slice(0, -Math.ceil(points.length / 10)) : points;
    const found = lineThrough(kept)(i);
    return log ? Math.exp(found) : found;
  });
}

// The range of the vertical axis: all values, except a few outliers that would flatten the rest.
function verticalRange(lists, log) {
  const values = lists.flat().filter((value) => value !== null && (!log || value > 0)).sort((a, b) => a - b);
  if (!values.length) return null;
  const at = (share) => values[Math.min(values.length - 1, Math.floor(share * values.length))];
  const scale = (value) => (log ? Math.log(value) : value);
  let low = values[0], high = values[values.length - 1];
  const middle = scale(at(0.99)) - scale(at(0.01));
  if (scale(high) - scale(at(0.99)) > 1.5 * middle && middle > 0) high = at(0.995);
  if (scale(at(0.01)) - scale(low) > 1.5 * middle && middle > 0) low = at(0.005);
  if (log) return low === high ? [low / 2, high * 2] : [low / (high / low) ** 0.04, high * (high / low) ** 0.04];
  const room = low === high ? Math.abs(low) * 0.1 || 1 : (high - low) * 0.05;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

// Each run has a marker shape, so that colour is not the only way to tell runs apart.
const shapes = [
  "M0-4A4 4 0 1 0 0 4A4 4 0 1 0 0-4Z", "M-3.6-3.6H3.6V3.6H-3.6Z", "M0-4.6L4.4 3.6H-4.4Z", "M0-5L5 0 0 5-5 0Z",
  "M0 4.6L4.4-3.6H-4.4Z", "M-1.5-4.5H1.5V-1.5H4.5V1.5H1.5V4.5H-1.5V1.5H-4.5V-1.5H-1.5Z",
  "M-4-4L4 4M4-4L-4 4", "M-5 0H5M0-5V5",
];
// A series has the colour of its run, or one of its own by name ("source"). What has no run has the first marker.
const colour = (run) => (typeof run === "string" ? `var(--${run})` : `var(--run-${run % 8})`);
const markerOf = (run) => (typeof run === "string" ? 0 : run % 8);

function shape(run, x, y, scale = 1) {
  const open = markerOf(run) >= 6;
  return element("svg:path", {
    d: shapes[markerOf(run)], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) scale(${scale})`,
    fill: open ? "none" : colour(run), stroke: open ? colour(run) : "none", "stroke-width": 2,
  });
}

// The key before a name in a legend: a run's marker, or a short line for another series, with a marker where that has them.
function key(run, dashed = false, marked = typeof run !== "string") {
  const line = typeof run === "string" ? element("svg:path", {class: dashed ? "curve second" : "curve", d: "M-7 0H7", stroke: colour(run)}) : null;
  return element("svg:svg", {class: "key", viewBox: "-7 -7 14 14", "aria-hidden": "true"}, ...[line, marked ? shape(run, 0, 0) : null].filter(Boolean));
}

class Chart {
  // series: {run, label, x, y, low, high, points, dashed, area}; marks: {x, name, bad}. `unit` follows each value.
  constructor(title, {note = "", axis = "step", unit = "", log = false, zero = false} = {}) {
    const fixed = ["length", "epoch", "confidence"].includes(axis);  // does not zoom
    Object.assign(this, {fixed, title, axis, unit, log, zero, series: [], marks: [], part: null, zoomed: () => {}});
    this.figure = element("figure", {class: "card", tabindex: 0},
      element("figcaption", {}, element("h3", {}, title), element("span", {class: "note"}, note)));
    this.plot = element("svg:svg", {class: "plot", role: "img"});
    this.tip = element("div", {class: "tip", role: "status", hidden: ""});
    this.figure.append(this.plot, this.tip);
    this.plot.addEventListener("pointermove", (event) => this.move(this.pixel(event)));
    this.plot.addEventListener("pointerdown", (event) => this.press(event));
    this.plot.addEventListener("pointerup", (event) => this.release(this.pixel(event)));
    this.plot.addEventListener("dblclick", () => this.zoomed(null));
    this.figure.addEventListener("pointerleave", () => this.leave());
    this.figure.addEventListener("blur", () => this.leave());
    this.figure.addEventListener("keydown", (event) => this.type(event));
    new ResizeObserver(() => this.draw()).observe(this.figure);
    // Redraws at the printed size, so that the text is not scaled down.
    addEventListener("beforeprint", () => this.draw(this.figure.matches(":first-child, .inner") ? 720 : 350, 200));
    addEventListener("afterprint", () => this.draw());
  }

  // part: [from, to] of the axis; null: all of it.
  set(series, marks, axis, smoothing, part = null) {
    this.series = series.map((one) => ({...one, smooth: one.points ? one.y : smooth(one.y, smoothing, this.log)}));
    Object.assign(this, {marks, axis, part});
    this.draw();
  }

  // The range of the horizontal axis: as zoomed, or up to the last value of any series.
  extent() {
    const last = this.series.reduce((most, one) => Math.max(most, one.x[one.x.length - 1] ?? 0), 0);
    const first = this.axis === "length" ? this.series[0].x[0] : 0;
    return this.part ?? [first, Math.max(last, first + 1e-9)];
  }

  draw(width = this.plot.clientWidth, height = this.plot.clientHeight) {
    if (!width || !height) return;
    this.plot.replaceChildren();
    this.cross = null;
    if (!this.series.some((one) => one.x.length)) return;
    const [from, to] = this.extent();
    const inside = (one) => one.smooth.filter((_, i) => one.x[i] >= from && one.x[i] <= to);
    const range = verticalRange(this.series.map(inside), this.log);
    if (!range) return;
    if (this.zero) range[0] = 0;
    this.plot.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const [low, high] = this.log ? range.map(Math.log) : range;
    const ticks = this.log ? logTicks(...range) : linearTicks(...range, 5);
    const longest = Math.max(...ticks.map(({label}) => label.length + this.unit.length));
    const edge = {left: Math.max(52, 16 + 6.8 * longest), right: width - 14, top: 10, bottom: height - 36};
    this.x = (value) => edge.left + (value - from) / (to - from) * (edge.right - edge.left);
    this.y = (value) => edge.bottom - ((this.log ? Math.log(value) : value) - low) / (high - low) * (edge.bottom - edge.top);
    this.edge = edge;
    this.plot.append(element("svg:title", {}, this.summary()));
    this.drawAxes(from, to, ticks);
    this.drawCurves();
    this.cross = this.plot.appendChild(element("svg:g"));
  }

  drawAxes(from, to, ticks) {
    const {left, right, bottom} = this.edge, axis = axes[this.axis];
    for (const {value, label} of ticks) {
      const y = this.y(value);
      this.plot.append(element("svg:line", {class: "gridline", x1: left, x2: right, y1: y, y2: y}),
        element("svg:text", {x: left - 7, y: y + 4, "text-anchor": "end"}, label + this.unit));
    }
    for (const {value, label} of axis.ticks(from, to, Math.max(2, (right - left) / 95))) {
      const x = this.x(value), anchor = right - x < 18 ? "end" : "middle";
      this.plot.append(element("svg:line", {class: "axis", x1: x, x2: x, y1: bottom, y2: bottom + 4}),
        element("svg:text", {x: anchor === "end" ? right + 8 : x, y: bottom + 17, "text-anchor": anchor}, label));
    }
    this.plot.append(element("svg:line", {class: "axis", x1: left, x2: right, y1: bottom, y2: bottom}),
      element("svg:text", {x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle"}, axis.name));
  }

  drawCurves() {
    const {left, right, top, bottom} = this.edge, id = `clip-${this.title.replace(/\W/g, "-")}`;
    const clip = element("svg:clipPath", {id}, element("svg:rect", {x: left - 6, y: top - 6, width: right - left + 12, height: bottom - top + 8}));
    const inside = element("svg:g", {"clip-path": `url(#${id})`});
    for (const {x, bad} of this.marks) {
      inside.append(element("svg:line", {class: bad ? "mark bad" : "mark", x1: this.x(x), x2: this.x(x), y1: bottom, y2: bottom - 9}));
    }
    for (const one of this.series) this.drawBehind(inside, one);
    for (const one of this.series) this.drawCurve(inside, one);
    this.plot.append(clip, inside);
  }

  // The SVG path of a curve, interrupted at gaps.
  path(xs, ys) {
    let path = "", pen = "M";
    xs.forEach((x, i) => {
      if (ys[i] === null || (this.log && ys[i] <= 0)) { pen = "M"; return; }
      path += `${pen}${this.x(x).toFixed(1)} ${this.y(ys[i]).toFixed(1)}`;
      pen = "L";
    });
    return path;
  }

  // What smoothing hides: the raw values, or their range.
  drawBehind(inside, one) {
    if (one.low) {
      const there = one.x.map((_, i) => i).filter((i) => one.low[i] !== null && (!this.log || one.low[i] > 0));
      const back = [...there].reverse();
      const outline = this.path([...there, ...back].map((i) => one.x[i]), [...there.map((i) => one.high[i]), ...back.map((i) => one.low[i])]);
      inside.append(element("svg:path", {class: "band", d: outline + "Z", fill: colour(one.run)}));
    } else if (one.smooth !== one.y) {
      inside.append(element("svg:path", {class: "raw", d: this.path(one.x, one.y), stroke: colour(one.run)}));
    }
    if (one.area) {
      const bottom = this.edge.bottom, path = this.path(one.x, one.y);
      inside.append(element("svg:path", {class: "area", fill: colour(one.run),
        d: `${path}L${this.x(one.x[one.x.length - 1])} ${bottom}L${this.x(one.x[0])} ${bottom}Z`}));
    }
  }

  // The curve with its run's marker at the end, and at each validation if there is room.
  drawCurve(inside, one) {
    inside.append(element("svg:path", {class: one.dashed ? "curve second" : "curve", d: this.path(one.x, one.smooth), stroke: colour(one.run)}));
    if (one.area) return;
    const there = one.x.map((_, i) => i).filter((i) => one.smooth[i] !== null && (!this.log || one.smooth[i] > 0));
    let before = -Infinity;
    there.forEach((i, n) => {
      const x = this.x(one.x[i]), last = n === there.length - 1;
      if (!last && (!one.points || x - before < 16)) return;
      before = x;
      inside.append(shape(one.run, x, this.y(one.smooth[i]), last ? 1 : 0.7));
    });
  }

  show(value) { return showNumber(value) + this.unit; }

  // For screen readers.
  summary() {
    const parts = this.series.map((one) => {
      const there = one.y.filter((value) => value !== null);
      return there.length ? `${one.label}: from ${this.show(there[0])} to ${this.show(there[there.length - 1])}` : "";
    });
    return `${this.title}. ${parts.filter(Boolean).join("; ")}.`;
  }

  // The index of the value nearest to x.
  nearest(one, x) {
    let low = 0, high = one.x.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (one.x[middle] < x) low = middle + 1; else high = middle;
    }
    return low > 0 && x - one.x[low - 1] < one.x[low] - x ? low - 1 : low;
  }

  pixel(event) { return event.clientX - this.plot.getBoundingClientRect().left; }

  // The horizontal axis's value at a pixel.
  value(pixel) {
    const {left, right} = this.edge, [from, to] = this.extent();
    return from + Math.max(0, Math.min(1, (pixel - left) / (right - left))) * (to - from);
  }

  press(event) {
    if (event.pointerType === "mouse") this.begun = this.pixel(event); else this.move(this.pixel(event));
  }

  move(pixel) {
    if (!this.cross) return;
    this.tell(this.value(pixel));
    if (this.begun === undefined || this.fixed) return;
    const [a, b] = [Math.min(this.begun, pixel), Math.max(this.begun, pixel)];
    this.cross.append(element("svg:rect", {class: "zoom", x: a, width: b - a, y: this.edge.top, height: this.edge.bottom - this.edge.top}));
  }

  release(pixel) {
    const begun = this.begun;
    this.begun = undefined;
    if (begun === undefined || !this.cross || this.fixed || Math.abs(pixel - begun) < 8) return;
    this.leave();
    this.zoomed([this.value(Math.min(begun, pixel)), this.value(Math.max(begun, pixel))]);
  }

  tell(x) {
    const {top, bottom} = this.edge, axis = axes[this.axis], rows = [], [from, to] = this.extent();
    // The cursor snaps to the nearest point of any curve; each curve shows its own nearest value.
    const hits = this.series.map((one) => ({one, i: this.nearest(one, x)})).filter(({one, i}) => one.x[i] >= from && one.x[i] <= to);
    if (!hits.length) return;
    const best = hits.reduce((a, b) => (Math.abs(b.one.x[b.i] - x) < Math.abs(a.one.x[a.i] - x) ? b : a));
    this.at = best.one.x[best.i];
    this.cross.replaceChildren(element("svg:line", {class: "cross", x1: this.x(this.at), x2: this.x(this.at), y1: top, y2: bottom}));
    for (const {one} of hits) {
      const i = this.nearest(one, this.at), value = one.smooth[i];
      if (value === null || this.at > one.x[one.x.length - 1] * 1.01 + 1e-9) continue;
      if (!one.area && (!this.log || value > 0)) this.cross.append(shape(one.run, this.x(one.x[i]), Math.max(top, this.y(value)), 1.1));
      const beside = Math.abs(this.x(one.x[i]) - this.x(this.at)) > 6 ? element("small", {}, ` at ${axis.show(one.x[i])}`) : "";
      rows.push(element("tr", {}, element("td", {}, key(one.run, one.dashed, one.points || typeof one.run !== "string")), element("td", {}, one.label),
        element("td", {}, this.show(value)), element("td", {}, beside)));
    }
    const near = this.marks.filter((mark) => Math.abs(this.x(mark.x) - this.x(this.at)) < 5).slice(0, 3);
    this.tip.replaceChildren(element("strong", {}, `${axis.name} ${axis.show(this.at)}`), element("table", {}, ...rows),
      ...near.map((mark) => element("div", {class: mark.bad ? "warning" : null}, mark.name)));
    this.tip.hidden = false;
    this.placeTip();
  }

  // Beside the cursor, on the side with more room.
  placeTip() {
    const plot = this.plot.getBoundingClientRect(), figure = this.figure.getBoundingClientRect();
    const x = plot.left - figure.left + this.x(this.at), after = this.x(this.at) < plot.width / 2;
    this.tip.style.top = `${plot.top - figure.top + this.edge.top}px`;
    this.tip.style.left = after ? `${x + 12}px` : "auto";
    this.tip.style.right = after ? "auto" : `${figure.width - x + 12}px`;
  }

  type(event) {
    const one = this.series.reduce((a, b) => (b.x.length > (a?.x.length ?? 0) ? b : a), null);
    if (!one || !["ArrowLeft", "ArrowRight", "Home", "End", "Escape"].includes(event.key)) return;
    event.preventDefault();
    if (event.key === "Escape") return this.leave();
    const last = one.x.length - 1, now = this.tip.hidden ? -1 : this.nearest(one, this.at), stride = Math.max(1, Math.round(last / 100));
    const next = {ArrowLeft: now - stride, ArrowRight: now + stride, Home: 0, End: last}[event.key];
    this.tell(one.x[Math.max(0, Math.min(last, next))]);
  }

  leave() {
    this.begun = undefined;
    this.tip.hidden = true;
    this.cross?.replaceChildren();
  }
}

// Series of histograms in the same bins, at most 60; the last bin includes all longer sentences.
function histograms(names, all) {
  const longest = Math.max(...all.map((list) => {
    const total = list.reduce((sum, [, count]) => sum + count, 0);
    let sum = 0;
    return list.find(([, count]) => (sum += count) >= total * 0.999)[0];
  }));
  const width = Math.ceil(longest / 60);
  return all.map((list, i) => {
    const total = list.reduce((sum, [, count]) => sum + count, 0), bins = Array(Math.floor(longest / width) + 1).fill(0);
    for (const [length, count] of list) bins[Math.min(bins.length - 1, Math.floor(length / width))] += count;
    return {run: names[i], label: names[i], x: bins.map((_, bin) => bin * width), y: bins.map((count) => count / total * 100), area: true, dashed: i > 0};
  });
}
