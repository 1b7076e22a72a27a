// The curves of training runs while they train: the report's sections, whose data the server is asked for every few
// seconds. What a reader has set stays: the part that is zoomed, the runs that are shown, the tables that are open.
import {Refused, getIfChanged} from "./server.js";

const state = document.getElementById("state");
const often = 2000, seldom = 10000;  // milliseconds, while it changes and while it does not answer
let version = null, shape = "", told = "";

// What can change only by building the page again: other runs, charts that have their first value, new sections.
function shapeOf({runs: all}) {
  const some = (values) => Object.keys(values).filter((name) => values[name].some?.((value) => value !== null)).join();
  return JSON.stringify(all.map((run) => [run.name, some(run.train), some(run.validation), run.epochs.step.length > 1,
    run.samples.map(({source}) => source), run.prepare !== null, Object.keys(run.configuration).length]));
}

function update(data) {
  if (!data.runs.length) return;
  const now = shapeOf(data);
  if (now !== shape) {
    shape = now;
    document.getElementById("page").replaceChildren();
    document.getElementById("sections").replaceChildren();
    showReport(data);
  } else {
    refreshReport(data);
  }
}

function tell(text) {
  if (text === told) return;  // it is spoken at each change
  told = text;
  state.textContent = text;
}

function stateOf({runs: all}) {
  if (!all.length) return "There are no training runs yet. They will appear here once they start.";
  const running = all.filter(({summary}) => summary.running).map(({name, summary}) => name + showLeft(summary.seconds_left));
  return running.length ? `Running: ${running.join("; ")}` : "None of these runs is training now.";
}

// One at a time.
async function poll() {
  if (polling) return;
  polling = true;
  clearTimeout(timer);
  let wait = often;
  if (!document.hidden) {
    try {
      const {json, tag} = await getIfChanged("v1/training", version);
      version = tag;
      if (json) {
        update(json);
        tell(stateOf(json));
      }
    } catch (error) {
      if (!(error instanceof Refused)) {
        polling = false;
        throw error;
      }
      tell(error.status ? error.message : "The server is not responding; these are the last values received.");
      version = null;
      wait = Math.max(seldom, error.retryAfter * 1000);
    }
  }
  polling = false;
  timer = setTimeout(poll, wait);
}

let timer = 0, polling = false;
document.addEventListener("visibilitychange", poll);
poll();
