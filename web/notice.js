// The line below the text for what went wrong, in the server's words; and another try where that may help.

const longestWait = 30;  // seconds

export class Notice {
  constructor() {
    this.line = document.getElementById("notice");
    this.tries = 0;
  }

  hide() {
    this.cancel();
    this.line.hidden = true;
  }

  // After a success: the wait before another try is short again.
  clear() {
    this.hide();
    this.tries = 0;
  }

  // No further try.
  cancel() {
    clearInterval(this.ticking);
    window.removeEventListener("online", this.go);
  }

  say(text) {
    this.cancel();
    this.line.textContent = asSentence(text);
    this.line.hidden = false;
  }

  // Says what happened, and tries again when the server said, or at growing intervals, or once there is a network again.
  retry(error, again) {
    const wait = error.retryAfter || Math.min(longestWait, 2 ** ++this.tries);
    const until = Date.now() + wait * 1000, seconds = element("span", {});
    const tick = () => {
      const left = Math.ceil((until - Date.now()) / 1000);
      if (left > 0) return void (seconds.textContent = `${left} s`);
      this.go();
    };
    this.say(error.message);
    // The seconds are not spoken: an alert is read again each time it changes.
    this.line.append(" ", element("span", {"aria-hidden": "true"}, "Trying again in ", seconds, "."));
    this.go = () => { this.cancel(); again(); };
    this.ticking = setInterval(tick, 500);
    window.addEventListener("online", this.go);
    tick();
  }
}

function asSentence(text) {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(upper) ? upper : `${upper}.`;
}
