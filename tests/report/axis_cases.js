// Holds web/numbers.js to axis_cases.json: node axis_cases.js numbers.js axis_cases.json. Prints what differs.
const {readFileSync} = require("node:fs");
const [, , script, cases] = process.argv;
const {roundAxis, axisTicks, tickLabel} = new Function(readFileSync(script, "utf8") + "\nreturn {roundAxis, axisTicks, tickLabel};")();
for (const {least, most, ticks_at_most, labels} of JSON.parse(readFileSync(cases, "utf8"))) {
  const axis = roundAxis(least, most, ticks_at_most), found = axisTicks(axis).map((tick) => tickLabel(axis, tick));
  if (JSON.stringify(found) !== JSON.stringify(labels)) console.log(`${least} to ${most}: ${found}, not ${labels}`);
}
