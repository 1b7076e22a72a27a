"""What all tests of the pages share: a browser's page that must not complain, reach outside, or scroll sideways."""
import contextlib
import pathlib
import unittest

import axe_core_python
from playwright.sync_api import expect

AXE = (pathlib.Path(axe_core_python.__file__).parent / "axe.min.js").read_text()
expect.set_options(timeout=15000)


class PageTest(unittest.TestCase):
    """Subclasses for each theme and width are made by `in_all_looks`."""
    theme, width = "light", 1440
    server = browser = pictures = downloads = None

    def setUp(self):
        self.context = self.browser.new_context(viewport={"width": self.width, "height": 800}, color_scheme=self.theme,
                                                base_url=self.server.address, accept_downloads=True)
        self.context.set_default_timeout(15000)
        self.context.grant_permissions(["clipboard-read", "clipboard-write"])
        self.page, self.complaints, self.forgiven = self.context.new_page(), [], ()
        self.watch(self.page)

    def tearDown(self):
        with contextlib.suppress(Exception):
            self.picture("end")
        self.context.close()

    def watch(self, page):
        page.on("console", lambda message: self.complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.complaints.append(f"outside: {request.url}")
                if not request.url.startswith((self.server.address, "data:", "blob:")) else None)

    def open(self, path="#source=en&target=fr"):
        self.page.goto(path)
        if path.startswith("#"):
            expect(self.page.locator("#to option").first).to_be_attached()

    def type(self, text):
        self.page.locator("#source").fill(text)

    def translated(self):
        """The text of the translation once it is done."""
        expect(self.page.locator("#target .word").first).to_be_visible()
        expect(self.page.locator("#target-pane")).to_have_attribute("aria-busy", "false")
        return self.page.locator("#target").text_content()

    def picture(self, name):
        if self.pictures:
            self.page.screenshot(path=f"{self.pictures}/{self.id().split('.')[-1]}-{self.theme}-{self.width}-{name}.png", full_page=True)

    def check(self, accessible=True):
        """No complaint, nothing wider than the window, and none of axe's rules broken."""
        self.assertEqual([one for one in self.complaints if not any(words in one for words in self.forgiven)], [])
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), self.width)
        if accessible:
            self.page.evaluate(AXE)
            found = self.page.evaluate("axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']})")
            broken = [(one["id"], [node["html"][:160] + " " + node["failureSummary"] for node in one["nodes"]][:3]) for one in found["violations"]]
            self.assertEqual(broken, [])


def in_all_looks(test):
    """The class in both themes, on a telephone and on a desk."""
    made = {}
    for theme in ("light", "dark"):
        for width in (390, 1440):
            name = f"{test.__name__}_{theme}_{width}"
            made[name] = type(name, (test,), {"theme": theme, "width": width, "__module__": test.__module__})
    return made
