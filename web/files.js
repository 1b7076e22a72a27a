// Files: dropped or chosen, sent to the server, translated and offered for download.
import {icon} from "./icon.js";
import {Refused, download, upload} from "./server.js";
import {nameOf} from "./languages.js";

const megabytes = (bytes) => `${(bytes / 1e6).toLocaleString("en", {maximumSignificantDigits: 3})} MB`;

export class Files {
  constructor(languages, onRefused) {
    this.limit = Infinity;  // bytes
    this.languages = languages;
    this.onRefused = onRefused;
    this.list = document.getElementById("files");
    this.drop = document.getElementById("drop");
    const input = document.getElementById("file"), choose = document.getElementById("choose-file");
    choose.addEventListener("click", () => input.click());
    input.addEventListener("change", () => { this.send([...input.files]); input.value = ""; });
    this.listen();
  }

  listen() {
    let inside = 0;  // dragenter and dragleave come for each element under the file
    const holds = (event) => event.dataTransfer?.types.includes("Files");
    const show = (is) => { this.drop.hidden = !is; if (!is) inside = 0; };
    window.addEventListener("dragenter", (event) => { if (holds(event)) { ++inside; show(true); event.preventDefault(); } });
    window.addEventListener("dragleave", (event) => { if (holds(event) && --inside <= 0) show(false); });
    window.addEventListener("dragover", (event) => { if (holds(event)) event.preventDefault(); });
    window.addEventListener("drop", (event) => {
      if (!holds(event)) return;
      event.preventDefault();
      show(false);
      this.send([...event.dataTransfer.files]);
    });
  }

  send(files) {
    for (const file of files) this.translate(file);
  }

  async translate(file) {
    const {from, to} = this.languages, bar = element("progress", {max: 1, value: 0, "aria-label": `Upload of ${file.name}`});
    const state = element("span", {class: "quiet", role: "status"}, `into ${nameOf(to)}`), remove = element("button", {type: "button", class: "plain", "aria-label": `Remove ${file.name}`}, icon("close"));
    const row = element("div", {class: "file"}, icon("file"), element("span", {class: "name"}, file.name), bar, state, remove);
    const removed = new AbortController();
    remove.addEventListener("click", () => {
      removed.abort();
      row.remove();
      this.list.hidden = !this.list.children.length;
    });
    this.list.append(row);
    this.list.hidden = false;
    const form = new FormData();
    form.append("file", file);
    form.append("source", from || "auto");
    form.append("target", to);
    try {
      if (file.size > this.limit) throw new Refused(413, `the file is larger than ${megabytes(this.limit)}, the limit`);
      const answer = await upload("translate_file", form, (share) => {
        if (share >= 1) bar.removeAttribute("value"); else bar.value = share;
        state.textContent = share >= 1 ? "translating…" : "sending…";
      }, removed.signal);
      bar.remove();
      state.textContent = "";
      this.offer(row, state, answer.translatedFileUrl, translatedName(file.name, to, answer.translatedFileUrl));
    } catch (error) {
      if (error.name === "AbortError") return;
      bar.remove();
      state.textContent = error.message;
      state.className = "bad";
      this.onRefused(error);
    }
  }

  // The address may name another host than the one that the page came from, behind a proxy: only its end counts.
  offer(row, state, url, name) {
    const link = element("button", {type: "button"}, "Download");
    link.addEventListener("click", async () => {
      try {
        const blob = await download(`download_file/${url.slice(url.lastIndexOf("/") + 1)}`);
        const address = URL.createObjectURL(blob);
        element("a", {href: address, download: name}).click();
        setTimeout(() => URL.revokeObjectURL(address), 60000);
      } catch (error) {
        state.textContent = error.message;
        state.className = "bad";
      }
    });
    row.insertBefore(link, row.lastChild);
  }
}

// "report.docx" into French: "report.fr.docx", or with the extension that the translation's address has
function translatedName(name, to, url) {
  const dot = name.lastIndexOf(".");
  return dot > 0 ? `${name.slice(0, dot)}.${to}${url.slice(url.lastIndexOf("."))}` : `${name}.${to}`;
}
