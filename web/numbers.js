// Numbers as people read them: round axes with their labels, and values in text.

// Round axes and tick labels: the definition of src/report/numbers.cpp, held to it by tests/report/axis_cases.json.
function roundAxis(least, most, ticksAtMost) {
  const size = Math.max(Math.abs(least), Math.abs(most));
  if (most - least <= Math.max(1e-12 * size, 1e-300)) most = least + Math.max(1, 1e-6 * size);
  const tolerance = 1e-6;  // of a step, so that rounding adds no tick
  for (let power = 10 ** Math.floor(Math.log10((most - least) / ticksAtMost)); ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      const step = digit * power, first = Math.floor(least / step + tolerance), last = Math.ceil(most / step - tolerance);
      if (last - first < ticksAtMost) return {least: first * step, most: last * step, step};
    }
  }
}

function axisTicks({least, most, step}) {
  const ticks = [];
  for (let i = Math.round(least / step); i <= Math.round(most / step); ++i) ticks.push(i * step);
  return ticks;
}

const exponentOf = (value) => Math.floor(Math.log10(Math.abs(value)) + 1e-9);
const withCommas = (value) => Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, ",");

function tickLabel({least, most, step}, tick) {
  if (Math.abs(tick) < step / 2) return "0";
  const isSmall = Math.max(Math.abs(least), Math.abs(most)) < 1e15, stepExponent = exponentOf(step);
  if (isSmall && step >= 1) return withCommas(tick);
  if (isSmall && stepExponent >= -4) return tick.toFixed(-stepExponent);
  const exponent = exponentOf(tick);
  return `${(tick / 10 ** exponent).toFixed(exponent - stepExponent)}e${exponent}`;
}

// Fixed decimals for columns; else four significant digits, and all of them before the decimal point.
function showNumber(value, decimals) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (decimals !== undefined) return value.toFixed(decimals);
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-3)) return value.toExponential(2).replace(/\.?0*e\+?/, "e");
  if (size >= 1000) return withCommas(value);
  return String(Number(value.toPrecision(4)));
}

const showPercent = (share) => `${Number((share * 100).toPrecision(3))}%`;

// Of a run, for a sentence; in minutes, so that it is not spoken again each second.
function showLeft(seconds) {
  if (seconds === null) return "";
  return seconds < 60 ? ", less than a minute left" : `, about ${showTime(seconds)} left`;
}

function showTime(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (seconds < 60) return `${Number(seconds.toFixed(1))} s`;
  const minutes = Math.round(seconds / 60), hours = Math.floor(minutes / 60), rest = minutes % 60;
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return rest ? `${hours} h ${rest} min` : `${hours} h`;
  return `${minutes} min`;
}
