"""Files: chosen and dropped."""
from pages import PageTest, expect, in_both_looks, in_one_look

TEXT = "the cat sees a dog\n\nthe old house\n"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, {type: "text/plain"}));
  for (const kind of ["dragenter", "dragover"]) document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
  return () => document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


class Files(PageTest):
    def choose(self, name="letter.txt", mime="text/plain", contents=TEXT.encode()):
        self.page.locator("#file").set_input_files([{"name": name, "mimeType": mime, "buffer": contents}])

    def downloaded(self):
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name="Download").click()
        return waiting.value

    def test_a_chosen_file(self):
        self.open()
        self.choose()
        download = self.downloaded()
        self.assertEqual(download.suggested_filename, "letter.fr.txt")
        with open(download.path()) as file:
            self.assertEqual(file.read(), self.server.translate(TEXT)["text"])
        self.check()

    def test_a_dropped_file(self):
        self.open()
        drop = self.page.evaluate_handle(DROP, ["letter.txt", TEXT])
        expect(self.page.locator("#drop")).to_be_visible()
        self.picture("dragged")
        drop.evaluate("(drop) => drop()")
        expect(self.page.locator("#drop")).to_be_hidden()
        with open(self.downloaded().path()) as file:
            self.assertEqual(file.read(), self.server.translate(TEXT)["text"])
        self.check()

    def test_a_file_that_is_refused(self):
        self.forgiven = ("Failed to load resource",)
        self.open()
        self.choose("picture.png", "image/png", b"\x89PNG")
        expect(self.page.locator(".file .bad")).to_be_visible()
        self.check()
        self.page.get_by_role("button", name="Remove picture.png").click()
        expect(self.page.locator("#files")).to_be_hidden()

    @in_one_look
    def test_a_file_that_is_removed_is_not_translated(self):
        self.page.route("**/translate_file", lambda route: None)  # never answered
        self.open()
        with self.page.expect_request("**/translate_file"):
            self.choose()
        with self.page.expect_event("requestfailed", lambda request: request.url.endswith("translate_file")):
            self.page.get_by_role("button", name="Remove letter.txt").click()
        expect(self.page.locator("#files")).to_be_hidden()
        self.check(accessible=False)

    @in_one_look
    def test_an_answer_that_is_not_json(self):
        page = {"content_type": "text/html", "body": "<p>Log in</p>"}
        self.page.route("**/translate_file", lambda route: route.fulfill(**page))
        self.open()
        self.choose()
        expect(self.page.locator(".file .bad")).to_have_text("The server's answer is not JSON")
        expect(self.page.locator(".file progress")).to_have_count(0)
        self.check(accessible=False)

    @in_one_look
    def test_a_file_over_the_limit_is_not_sent(self):
        asked = []
        self.listen(self.page, "request", lambda request: asked.append(request.url))

        def answer(route):
            models = route.fetch().json()
            models["limits"]["upload_bytes"] = 10
            route.fulfill(json=models)
        self.page.route("**/v1/models", answer)
        self.open()
        self.choose()
        expect(self.page.locator(".file .bad")).to_have_text("the file is larger than 0.00001 MB, the limit")
        self.assertFalse([url for url in asked if "translate_file" in url])
        self.check(accessible=False)


globals().update(in_both_looks(Files))
del Files, PageTest
