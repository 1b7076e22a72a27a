"""A server with small models, for the tests of the pages, and its answers without a page."""
import json
import pathlib
import re
import subprocess
import tempfile
import time
import urllib.request

FIXTURES = pathlib.Path(__file__).resolve().parent.parent / "golden/fixtures"


class Server:
    """`dragoman serve` with one small model under the names of several pairs."""

    def __init__(self, program, folder, *options):
        self.program, self.folder = program, pathlib.Path(folder)
        self.model = model = self.folder / "model"
        if not model.exists():
            subprocess.run([program, "import", FIXTURES / "huggingface/joint", "--out", model], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        models = [f"{pair}={model}" for pair in ("en-fr", "fr-en", "en-ar", "en-zh")]
        self.log = pathlib.Path(tempfile.mkdtemp(dir=folder)) / "server.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([program, "serve", "--port", "0", *(f"--model={one}" for one in models), *options],
                                            stdout=log, stderr=log)
        self.address = self.wait_for_address()

    def wait_for_address(self):
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"http://[^\s/]+:\d+", self.log.read_text())
            if found:
                return found[0] + "/"
            time.sleep(0.05)
        self.process.kill()
        raise RuntimeError(f"the server did not start: {self.log.read_text()[-2000:]}")

    def stop(self):
        self.process.terminate()
        self.process.wait(40)

    def ask(self, path, **body):
        body = {"from": "en", "to": "fr", **body}
        request = urllib.request.Request(self.address + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def translate(self, text, **more):
        """What /v1/translate answers to what the page asks."""
        return self.ask("v1/translate", text=text, alternatives=3, alignment=True, **more)

    def inspect_alone(self, text):
        """What `dragoman inspect` writes without a server."""
        found = subprocess.run([self.program, "inspect", "--model", self.model, "--text", text, "--nbest", "4",  # its beam
                                "--format", "json"],
                               check=True, capture_output=True)
        return json.loads(found.stdout)["sentences"][0]
