"""The texts of the page at /: in its address, as they are set, copied and kept, and changed by hand and key."""
import re

from pages import PageTest, expect, in_both_looks, in_one_look

SENTENCE = "the cat sees a dog"
LONGEST_IN_ADDRESS, LONGEST_IN_HISTORY = 3000, 200_000
# Whether the page leaves a key to the browser.
LEAVES = '''(place, init) => place.dispatchEvent(
  new KeyboardEvent("keydown", {bubbles: true, cancelable: true, ...init}))'''


class Texts(PageTest):
    def answer(self, text, **more):
        """The server answers each request with this text, without words; returns the requests."""
        asked = []

        def fulfil(route):
            asked.append(route.request.post_data_json)
            line = {"source": asked[-1]["text"], "text": text, "words": [], "alignment": []}
            route.fulfill(json={"from": "en", "to": "fr", "via": [], "text": text, "alternatives": [], "lines": [line], **more})
        self.page.route("**/v1/translate", fulfil)
        return asked

    def copied(self):
        self.page.get_by_role("button", name="Copy").click()
        return self.page.evaluate("navigator.clipboard.readText()")

    def leaves(self, place, key, code, **more):
        return self.page.locator(place).evaluate(LEAVES, {"key": key, "code": code, **more})

    def test_the_address_keeps_the_text(self):
        text = "the cat / sees #1, 100 %\n\na dog &c. 😀"
        self.open()
        self.type(text)
        translation = self.translated()
        expect(self.page).to_have_url(re.compile("#en/fr/the%20cat%20%2F%20sees"))
        self.page.reload()
        expect(self.page.locator("#source")).to_have_value(text)
        self.assertEqual(self.translated(), translation)
        address = self.page.url
        self.page.evaluate("localStorage.clear()")
        self.page.goto("about:blank")
        self.page.goto(address)
        expect(self.page.locator("#source")).to_have_value(text)
        self.go("#fr/en/le%20chat%")  # cut inside a character
        expect(self.page.locator("#from")).to_have_value("fr")
        expect(self.page.locator("#source")).to_have_value("")
        self.check(accessible=False)

    @in_one_look
    def test_a_long_text_is_kept_in_its_tab_alone(self):
        text = "the cat\n" * (LONGEST_IN_ADDRESS // 8 + 1)
        self.open()
        self.paste(text)
        expect(self.page).to_have_url(re.compile("#en/fr$"))
        self.page.reload()
        expect(self.page.locator("#source")).to_have_value(text)
        self.paste(text[:LONGEST_IN_ADDRESS])
        expect(self.page).to_have_url(re.compile("#en/fr/the"))
        self.page.get_by_role("button", name="Clear the text").click()
        expect(self.page).to_have_url(re.compile("#en/fr$"))
        self.page.reload()
        expect(self.page.locator("#to option").first).to_be_attached()
        expect(self.page.locator("#source")).to_have_value("")

    def test_french_punctuation_is_not_torn_off(self):
        plain = "« Où ? » : 10 000 %, vrai ; non ! 3 chats ?"
        set_well = "«\xa0Où\u202f?\xa0»\xa0: 10\u202f000\xa0%, vrai\u202f; non\u202f! 3 chats\u202f?"
        asked = self.answer(plain)
        self.open()
        self.type("where")
        self.assertEqual(self.translated(), set_well)
        self.assertEqual(self.copied(), set_well)
        self.page.locator("#target .word").last.click()
        expect(self.page.locator("#choices")).not_to_contain_text("Looking")
        self.assertEqual(asked[1]["prefix"], plain[:-1])
        self.page.keyboard.press("Escape")
        # At no width does a line begin with a mark of punctuation.
        marks = self.page.locator("#target .word").filter(has_text=re.compile("^[?!:;»%,]+$"))
        self.page.locator("#target").evaluate("(target) => { target.style.padding = 0; }")
        for width in range(140, 400, 8):
            lefts = marks.evaluate_all("""(all, width) => all.map((one) => {
                one.parentNode.style.width = `${width}px`;
                return one.getBoundingClientRect().left - one.parentNode.getBoundingClientRect().left; })""", width)
            self.assertGreater(min(lefts), 1, width)

    @in_one_look
    def test_other_languages_keep_their_spaces(self):
        self.answer("Why ? No : 10 000 %")
        self.open("#source=fr&target=en")
        self.type("pourquoi")
        self.assertEqual(self.translated(), "Why ? No : 10 000 %")

    @in_one_look
    def test_a_language_without_a_valid_tag(self):
        self.answer("le chat", **{"from": "e"})
        self.open()
        self.type("the cat")
        self.assertEqual(self.translated(), "le chat")
        self.check(accessible=False)

    @in_one_look
    def test_a_text_that_the_history_has_no_room_for_leaves_the_others(self):
        answers = ["le chat", "x" * LONGEST_IN_HISTORY]
        self.open()
        for text in answers:
            self.answer(text)
            self.type(f"the cat {len(text)}")
            expect(self.page.locator("#spoken")).to_have_text(text[:1000])
            self.page.locator("#copy").click()
            expect(self.page.locator("#spoken")).to_have_text("Copied")
        kept = self.page.evaluate("JSON.parse(localStorage.getItem('history')).map(({target}) => target)")
        self.assertEqual(kept, answers[:1])

    @in_one_look
    def test_copied_is_said_of_what_was_copied(self):
        self.open()
        self.type(SENTENCE)
        self.translated()
        copy = self.page.locator("#copy")
        # As it is over plain HTTP.
        self.page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
        self.page.evaluate("document.execCommand = () => false")
        copy.click()
        expect(self.page.get_by_role("alert")).to_contain_text("does not let the page copy")
        expect(copy).to_have_text("Copy")
        self.page.evaluate("delete document.execCommand")
        self.page.keyboard.press("Alt+Shift+E")
        self.page.locator("#edited").fill("autre chose")
        self.page.keyboard.press("Alt+Shift+C")
        expect(copy).to_have_text("Copied")
        self.page.evaluate("delete navigator.clipboard")
        self.assertEqual(self.page.evaluate("navigator.clipboard.readText()"), "autre chose")

    @in_one_look
    def test_letters_that_a_shortcut_would_take_are_written(self):
        self.open()
        self.type(SENTENCE)
        self.translated()
        shortcut = {"altKey": True, "shiftKey": True}
        for key, code in (("Í", "KeyS"), ("Ç", "KeyC"), ("Dead", "KeyE"), ("Ó", "KeyH")):  # on a Mac
            self.assertTrue(self.leaves("#source", key, code, **shortcut), key)
        self.assertTrue(self.leaves("#source", "H", "KeyH", isComposing=True, **shortcut))
        expect(self.page.locator("#from")).to_have_value("en")
        expect(self.page.get_by_role("dialog")).to_be_hidden()
        for place, key in (("#source", "H"), ("#source", "Р"), ("#target .word >> nth=0", "Ó")):
            self.assertFalse(self.leaves(place, key, "KeyH", **shortcut), key)
            expect(self.page.get_by_role("dialog")).to_be_visible()
            self.page.keyboard.press("Escape")
        self.assertTrue(self.leaves("#target .word >> nth=0", "ArrowLeft", "ArrowLeft", altKey=True))
        self.assertFalse(self.leaves("#target .word >> nth=0", "ArrowLeft", "ArrowLeft"))

    @in_one_look
    def test_escape_ends_a_composition_first(self):
        self.open()
        self.type(SENTENCE)
        self.translated()
        self.page.keyboard.press("Alt+Shift+E")
        self.assertTrue(self.leaves("#edited", "Escape", "Escape", isComposing=True))
        expect(self.page.locator("#edited")).to_be_visible()
        self.assertFalse(self.leaves("#edited", "Escape", "Escape"))
        expect(self.page.locator("#edited")).to_be_hidden()

    def test_the_translation_can_be_changed(self):
        self.open()
        self.type(f"{SENTENCE}\nthe old house")
        words = self.translated().split()
        before = self.page.locator("#target .word").nth(1).get_attribute("style")
        self.page.get_by_role("button", name="Edit").click()
        field = self.page.get_by_role("textbox", name="Translation, to change it")
        expect(field).to_be_focused()
        self.page.keyboard.type(" vraiment")
        self.page.keyboard.press("Control+Home")
        self.page.keyboard.press("Control+Delete")
        self.page.keyboard.type("Voici ")
        self.picture("edited")
        self.check()
        self.page.keyboard.press("Escape")
        expect(field).to_be_hidden()
        shown = self.page.locator("#target .word")
        changed = ["Voici", *words[1:], "vraiment"]
        expect(shown).to_have_text(changed)
        self.assertEqual(shown.nth(1).get_attribute("style"), before)  # what is known of a word stays
        self.assertEqual(self.copied().split(), changed)
        # Other words still come, behind what is written now.
        with self.page.expect_request(lambda request: "prefix" in (request.post_data or "")) as asked:
            shown.nth(2).click()
        self.assertEqual(asked.value.post_data_json["prefix"].split(), changed[:2])
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#others")).to_be_visible()
        self.type("the old dog")
        expect(self.page.locator("#target")).to_have_text(self.server.translate("the old dog")["text"])
        self.check()

    def test_a_change_of_all_lines_is_kept(self):
        self.open()
        self.type(f"{SENTENCE}\nthe old house")
        self.translated()
        self.page.keyboard.press("Alt+Shift+E")
        self.page.keyboard.press("Control+A")
        self.page.keyboard.type("autre\nchose\nencore")
        self.page.get_by_role("button", name="Edit").click()
        expect(self.page.locator("#edited")).to_be_hidden()
        self.assertEqual(self.page.locator("#target").text_content(), "autre\nchose\nencore")
        expect(self.page.locator("#target .word")).to_have_count(0)  # there is nothing that they would be the words of
        self.assertEqual(self.copied(), "autre\nchose\nencore")

    def test_a_change_can_be_taken_back(self):
        self.open()
        self.type(SENTENCE)
        best = self.translated()
        for key in ("x", "Enter"):  # with a second line there are no words
            self.page.get_by_role("button", name="Edit").click()
            self.page.keyboard.press(key)
            self.page.keyboard.press("Escape")
            self.assertEqual(self.page.locator("#target").text_content(), best + ("x" if key == "x" else "\n"))
            self.page.locator("#others li button").filter(has_text=re.compile(f"^{re.escape(best)}$")).click()
            expect(self.page.locator("#target")).to_have_text(best)
            expect(self.page.locator("#target .word")).to_have_text(best.split())
        self.check(accessible=False)


globals().update(in_both_looks(Texts))
del Texts, PageTest
