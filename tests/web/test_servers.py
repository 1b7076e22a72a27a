"""The page of servers that allow less, or more, than the one of the other tests."""
import pathlib
import re
import subprocess
import unittest

import pages
from pages import expect, in_both_looks
from served import Server

GET_DETECTOR = pathlib.Path(__file__).resolve().parents[2] / "tools/get_detector"


class Servers(pages.PageTest):
    """A server with a detector of languages, whose beams are of two."""

    @classmethod
    def setUpClass(cls):
        detector = cls.downloads / "lid.176.ftz"
        if not detector.exists() and subprocess.run([GET_DETECTOR, detector], capture_output=True).returncode != 0:
            raise unittest.SkipTest("the detector cannot be downloaded")
        cls.server = Server(pages.PageTest.server.program, pages.PageTest.server.folder, "--max-beam=2", f"--detector={detector}")

    @classmethod
    def tearDownClass(cls):
        cls.server.stop()

    def test_no_more_alternatives_than_allowed(self):
        self.open()
        self.type("the cat sees a dog")
        self.assertEqual(self.translated(), self.server.ask("v1/translate", text="the cat sees a dog", alternatives=1)["text"])
        expect(self.page.locator("#others li")).to_have_count(1)
        self.page.locator("#target .word").nth(2).click()
        expect(self.page.locator("#choices")).not_to_contain_text("Looking")
        expect(self.page.get_by_role("alert")).to_be_hidden()
        self.check()

    def test_the_detected_language_is_shown(self):
        self.open("#source=auto&target=en")
        self.type("Où est la gare, s'il vous plaît ?")
        self.translated()
        expect(self.page.locator("#from option:checked")).to_have_text("Detected: French")
        expect(self.page.locator("#sure")).to_have_text(re.compile(r"^(100|9\d) % sure$"))
        expect(self.page.locator("#source")).to_have_attribute("lang", "fr")
        self.picture("detected")
        self.check()
        self.page.get_by_role("button", name="Swap languages").click()
        expect(self.page.locator("#from")).to_have_value("en")
        expect(self.page.locator("#to")).to_have_value("fr")


globals().update(in_both_looks(Servers))
del Servers
