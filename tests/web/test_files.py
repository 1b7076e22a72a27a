"""Files: chosen and dropped."""
from pages import PageTest, expect, in_both_looks

TEXT = "the cat sees a dog\n\nthe old house\n"
DROP = """([name, text]) => {
  const data = new DataTransfer();
  data.items.add(new File([text], name, {type: "text/plain"}));
  for (const kind of ["dragenter", "dragover"]) document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
  return () => document.body.dispatchEvent(new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true}));
}"""


class Files(PageTest):
    def downloaded(self):
        with self.page.expect_download() as waiting:
            self.page.get_by_role("button", name="Download").click()
        return waiting.value

    def test_a_chosen_file(self):
        self.open()
        self.page.locator("#file").set_input_files([{"name": "letter.txt", "mimeType": "text/plain", "buffer": TEXT.encode()}])
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
        self.page.locator("#file").set_input_files([{"name": "picture.png", "mimeType": "image/png", "buffer": b"\x89PNG"}])
        expect(self.page.locator(".file .bad")).to_be_visible()
        self.check()
        self.page.get_by_role("button", name="Remove picture.png").click()
        expect(self.page.locator("#files")).to_be_hidden()


globals().update(in_both_looks(Files))
del Files, PageTest
