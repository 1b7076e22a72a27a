"""What all tests of the pages share: a browser's page that must not complain, reach outside, or scroll sideways."""
import contextlib
import pathlib
import unittest

import axe_playwright_python
from playwright.sync_api import expect

AXE = (pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
# What breaks a rule, and the rules that axe failed to apply. By default axe also returns every element that keeps a
# rule, and to bring those here takes longer than to find them.
BROKEN = """async (rules) => {
  const {violations, incomplete} = await axe.run(document, {runOnly: rules, resultTypes: ["violations"]});
  const shown = ({html, failureSummary}) => `${html.slice(0, 160)} ${failureSummary}`;
  return [...violations.map(({id, nodes}) => [id, nodes.slice(0, 3).map(shown)]),
    ...incomplete.filter(({error}) => error).map(({id, error}) => [id, error.message])]; }"""
expect.set_options(timeout=15000)


class PageTest(unittest.TestCase):
    """`in_both_looks` makes the subclasses, each with a theme and a width."""
    theme, width = "dark", 1440
    server = context = pictures = downloads = None

    def setUp(self):
        self.page, self.complaints, self.forgiven = self.emptied_page(), [], ()
        self.watch(self.page)

    def tearDown(self):
        with contextlib.suppress(Exception):
            self.picture("end")

    def emptied_page(self):
        """The page of the test before, as if it were new: to open another costs two seconds of processor time."""
        page, *others = self.context.pages or [self.context.new_page()]
        for other in others:
            other.close()
        page.unroute_all(behavior="ignoreErrors")
        self.dress(page)
        page.goto(self.server.address + "web/icon.svg")
        page.mouse.move(0, 0)
        page.evaluate("localStorage.clear(); sessionStorage.clear()")
        return page

    def dress(self, page):
        page.emulate_media(color_scheme=self.theme, reduced_motion="no-preference")
        page.set_viewport_size({"width": self.width, "height": 800})

    def listen(self, page, event, listener):
        """Until the end of the test."""
        page.on(event, listener)
        self.addCleanup(page.remove_listener, event, listener)

    def watch(self, page):
        self.listen(page, "console", lambda message: self.complaints.append(f"{message.text} {message.location['url']}")
                    if message.type in ("error", "warning") else None)
        self.listen(page, "pageerror", lambda error: self.complaints.append(str(error)))
        self.listen(page, "request", lambda request: self.complaints.append(f"outside: {request.url}")
                    if not request.url.startswith((self.server.address, "data:", "blob:")) else None)

    def go(self, path):
        self.page.goto(self.server.address + path)

    def open(self, path="#source=en&target=fr"):
        self.go(path)
        if path.startswith("#"):
            expect(self.page.locator("#to option").first).to_be_attached()

    def type(self, text):
        self.page.locator("#source").fill(text)

    def paste(self, text):
        """For texts of many lines: Chromium types them line by line, and the page follows each of them."""
        self.page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
        self.page.locator("#source").press("ControlOrMeta+A")
        self.page.keyboard.press("ControlOrMeta+V")
        expect(self.page.locator("#source")).to_have_value(text)

    def translated(self):
        """The text of the translation once it is done."""
        expect(self.page.locator("#target .word").first).to_be_visible()
        expect(self.page.locator("#target-pane")).to_have_attribute("aria-busy", "false")
        return self.page.locator("#target").text_content()

    def picture(self, name):
        if self.pictures:
            for theme in ("light", "dark"):
                self.page.emulate_media(color_scheme=theme)
                path = f"{self.pictures}/{self.id().split('.')[-1]}-{theme}-{self.width}-{name}.png"
                self.page.screenshot(path=path, full_page=True)
            self.page.emulate_media(color_scheme=self.theme)

    def check(self, accessible=True):
        """No complaint, nothing wider than the window, and no rule of axe broken; that of contrast in both themes."""
        self.assertEqual([one for one in self.complaints if not any(words in one for words in self.forgiven)], [])
        self.assertLessEqual(self.page.evaluate("document.documentElement.scrollWidth"), self.width)
        if accessible:
            self.page.evaluate(AXE)
            self.assertEqual(self.page.evaluate(BROKEN, RULES), [])
            other = "light" if self.theme == "dark" else "dark"
            self.page.emulate_media(color_scheme=other)
            self.assertEqual(self.page.evaluate(BROKEN, ["color-contrast"]), [], other)
            self.page.emulate_media(color_scheme=self.theme)


def in_one_look(test):
    """For tests whose outcome depends on no theme and no width."""
    test.in_one_look = True
    return test


def in_both_looks(test):
    """The class on a telephone in light colours, and on a desk in dark ones."""
    left_out = {name: None for name, value in vars(test).items() if hasattr(value, "in_one_look")}
    looks = {"telephone": {"theme": "light", "width": 390, **left_out}, "desk": {"theme": "dark", "width": 1440}}
    return {f"{test.__name__}_{look}": type(f"{test.__name__}_{look}", (test,), {"__module__": test.__module__, **more})
            for look, more in looks.items()}
