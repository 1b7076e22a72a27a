"""The page of a server with a translation memory: what it has is shown, and what is confirmed is in it at once."""
import pathlib
import re
import subprocess
import tempfile

import pages
from pages import expect, in_both_looks
from served import Server

SEGMENTS = {"the cat sees a dog": "le chat voit un chien", "the old house": "la vieille maison"}


class Desk(pages.PageTest):
    @classmethod
    def setUpClass(cls):
        base = pages.PageTest.server
        folder = pathlib.Path(tempfile.mkdtemp(dir=base.folder))
        rows = folder / "segments.tsv"
        rows.write_text("".join(f"{source}\t{target}\n" for source, target in SEGMENTS.items()))
        subprocess.run([base.program, "memory", "build", rows, "--from=en", "--to=fr", "--out", folder / "desk"], check=True,
                       capture_output=True)
        cls.server = Server(base.program, base.folder, f"--memory={folder / 'desk'}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_segments_are_shown_with_their_similarity(self):
        self.open()
        self.type("the cat sees a bird")
        machine = self.translated()
        row = self.page.locator("#memory li")
        expect(row).to_have_count(1)
        expect(row).to_contain_text(re.compile(r"^80 %.*the cat sees a dog.*le chat voit un chien$"))
        self.picture("similar")
        self.check()
        row.get_by_role("button").click()
        expect(self.page.locator("#target")).to_have_text("le chat voit un chien")
        self.assertNotEqual(machine, "le chat voit un chien")
        self.type("the cat sees a dog")
        expect(row).to_contain_text("exact")
        self.assertEqual(self.translated(), "le chat voit un chien")
        self.type("nothing like it at all, a bird")
        self.translated()
        expect(self.page.locator("#memory")).to_be_hidden()

    def test_what_is_confirmed_comes_back(self):
        text = f"a new house of {self.theme}"
        self.open()
        self.type(text)
        self.translated()
        self.page.keyboard.press("Alt+Shift+E")
        self.page.locator("#edited").fill("une maison neuve")
        self.page.keyboard.press("Alt+Shift+M")
        button = self.page.locator("#confirm")
        expect(button).to_have_text("Confirmed")
        expect(self.page.locator("#spoken")).to_have_text("Confirmed: it is in the memory")
        self.picture("confirmed")
        self.check()
        self.assertEqual(self.server.translate(text)["flags"], ["memory"])
        self.type("the bird")
        self.translated()
        expect(button).to_have_text("Confirm")
        self.type(text)
        expect(self.page.locator("#target")).to_have_text("une maison neuve")
        expect(self.page.locator("#memory li").first).to_contain_text("exact")

    def test_lines_that_do_not_correspond_are_not_confirmed(self):
        self.open()
        self.type("the bird\nthe cat")
        self.translated()
        self.page.locator("#edit").click()
        self.page.locator("#edited").fill("un")
        self.page.locator("#confirm").click()
        expect(self.page.get_by_role("alert")).to_contain_text("not as many lines")
        self.check(accessible=False)

    def test_a_language_without_a_memory(self):
        self.open()
        self.page.locator("#to").select_option("ar")
        self.type("the cat sees a dog")
        self.translated()
        expect(self.page.locator("#confirm")).to_be_disabled()
        expect(self.page.locator("#memory")).to_be_hidden()


globals().update(in_both_looks(Desk))
del Desk
