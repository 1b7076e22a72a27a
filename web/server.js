// The pages' requests to the server: JSON, event streams and uploads. Refusals are thrown as Refused, with the
// server's own sentence.

export class Refused extends Error {
  constructor(status, message, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;  // seconds; 0: the server did not say
  }

  // Worth another try without a change by the reader: the server is gone, busy or starting.
  get passing() { return this.status === 0 || this.status === 429 || this.status === 502 || this.status === 503 || this.status === 504; }
  get wantsKey() { return this.status === 401 || this.status === 403; }
}

export const apiKey = {
  get() { try { return localStorage.getItem("api-key") ?? ""; } catch { return this.kept ?? ""; } },
  set(key) { try { localStorage.setItem("api-key", key); } catch { this.kept = key; } },
};

function headers(more) {
  const key = apiKey.get();
  return key ? {...more, Authorization: `Bearer ${key}`} : more;
}

// {"error": "..."}, {"error": {"message": "..."}} or {"message": "..."}: the APIs differ.
function sentenceOf(text, status) {
  try {
    const {error, message} = JSON.parse(text);
    return (typeof error === "string" ? error : error?.message) ?? message ?? text;
  } catch {
    return `the server answered with status ${status}`;
  }
}

function secondsOf(retryAfter) {
  const seconds = Number(retryAfter);
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 600) : 0;
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server is not responding");
  }
  if (!response.ok && response.status !== 304) {
    const text = await response.text().catch(() => "");
    throw new Refused(response.status, sentenceOf(text, response.status), secondsOf(response.headers.get("Retry-After")));
  }
  return response;
}

export const getJson = async (path) => (await ask(path, {headers: headers({})})).json();

// {json, tag}: the answer and its version; json is null where that is the version that one has.
export async function getIfChanged(path, version) {
  const response = await ask(path, {cache: "no-store", headers: headers(version ? {"If-None-Match": version} : {})});
  return {json: response.status === 304 ? null : await response.json(), tag: response.headers.get("ETag") ?? version};
}

const posted = (body, accept, signal) => ({
  method: "POST", signal, body: JSON.stringify(body), headers: headers({"Content-Type": "application/json", Accept: accept}),
});

export const postJson = async (path, body, signal) => (await ask(path, posted(body, "application/json", signal))).json();

// The events of a stream, as they come: {event, data}.
export async function* postStream(path, body, signal) {
  const response = await ask(path, posted(body, "text/event-stream", signal));
  if (!response.headers.get("Content-Type")?.startsWith("text/event-stream")) {
    yield {event: "result", data: await response.json()};
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const {value, done} = await reader.read();
      if (done) return;
      rest += value.replaceAll("\r\n", "\n");
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const event = eventOf(block);
        if (event) yield event;
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The connection was lost before the translation was complete");
  } finally {
    reader.cancel().catch(() => {});
  }
}

function eventOf(block) {
  let event = "message";
  const data = [];
  for (const line of block.split("\n")) {
    if (line.startsWith("event:")) event = line.slice(6).trim();
    if (line.startsWith("data:")) data.push(line.slice(5).trimStart());
  }
  return data.length ? {event, data: JSON.parse(data.join("\n"))} : null;
}

// Of the error event, which comes after the status has been sent. Its kind tells whether another try may help.
const passingKinds = {rate: 429, unavailable: 503, expired: 504};

export const refusal = ({error: {message, kind}}) => new Refused(passingKinds[kind] ?? 500, message);

// fetch() does not report how much of an upload is sent.
export function upload(path, form, onProgress, signal) {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers({}))) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({loaded, total}) => onProgress(loaded / Math.max(total, 1)));
    request.addEventListener("load", () => {
      const {status, responseText: text} = request, wait = secondsOf(request.getResponseHeader("Retry-After"));
      if (status !== 200) return reject(new Refused(status, sentenceOf(text, status), wait));
      try {
        resolve(JSON.parse(text));
      } catch {
        reject(new Refused(status, "The server's answer is not JSON"));
      }
    });
    request.addEventListener("error", () => reject(new Refused(0, "The server is not responding")));
    signal.addEventListener("abort", () => { request.abort(); reject(signal.reason); });
    request.send(form);
  });
}

export async function download(path) {
  return (await ask(path, {headers: headers({})})).blob();
}
