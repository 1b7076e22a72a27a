"""The page at /: typing, words, alternatives, languages, the keyboard."""
import json
import re
import urllib.parse
import urllib.request

from pages import PageTest, expect, in_both_looks, in_one_look

SENTENCE = "the cat sees a dog"
ASTRAL = "😀 the cat sees 𝔞 dog and the bird"


def in_common(one, other):
    """The length of the longest common subsequence."""
    best = [0] * (len(other) + 1)
    for item in one:
        before = 0
        for j, candidate in enumerate(other):
            before, best[j + 1] = best[j + 1], before + 1 if item == candidate else max(best[j + 1], best[j])
    return best[-1]


class Translate(PageTest):
    def test_empty(self):
        self.open()
        expect(self.page.locator("#source")).to_be_focused()
        for name in ("#copy", "#edit"):
            expect(self.page.locator(name)).to_be_disabled()
        with urllib.request.urlopen(self.server.address + "frontend/settings") as settings:
            endings = json.load(settings)["supportedFilesFormat"]
        self.assertEqual(re.findall(r"(?<!\S)\.\w+", self.page.locator("#formats ul").inner_text()), endings)
        self.assertEqual(self.page.locator("#file").get_attribute("accept").split(","), endings)
        expect(self.page.locator("#confirm")).to_be_hidden()  # without a memory
        self.check()
        examples = self.page.locator("#examples button")
        expect(examples).to_have_count(3)
        example = examples.nth(1).text_content()
        examples.nth(1).click()
        expect(self.page.locator("#source")).to_have_value(example)
        self.assertEqual(self.translated(), self.server.translate(example)["text"])
        expect(self.page.locator("#start")).to_be_hidden()
        self.page.get_by_role("button", name="Clear the text").click()
        expect(self.page.locator("#start")).to_be_visible()

    @in_one_look
    def test_languages_come_in_the_order_of_the_models(self):
        self.go("")
        expect(self.page.locator("#to option").first).to_be_attached()
        self.assertEqual(self.page.locator("#from option").evaluate_all("all => all.map((one) => one.value)"), ["en", "fr"])
        self.assertEqual(self.page.locator("#to option").evaluate_all("all => all.map((one) => one.value)"), ["fr", "ar", "zh"])
        expect(self.page.locator("#from")).to_have_value("en")
        expect(self.page.locator("#to")).to_have_value("fr")
        expect(self.page.locator("#swap")).to_have_attribute("title", "Swap languages (Alt+Shift+S)")
        self.page.locator("#to").select_option("ar")
        expect(self.page.locator("#swap")).to_be_disabled()
        expect(self.page.locator("#swap")).to_have_attribute("title", "No model translates from Arabic into English")

    def test_typing_gives_the_api_s_translation(self):
        self.open()
        self.page.keyboard.type("the cat se", delay=15)
        self.translated()
        # From now on the pane is never empty, however the text goes on.
        self.page.evaluate("""() => { window.empty = 0; new MutationObserver(() => { empty += !document.getElementById("target").textContent.trim(); })
                              .observe(document.getElementById("target"), {childList: true, subtree: true}); }""")
        self.page.keyboard.type("es a dog\nthe old house", delay=15)
        expect(self.page.locator("#count")).to_contain_text("32")
        self.page.wait_for_timeout(400)
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog\nthe old house")["text"])
        self.assertEqual(self.page.evaluate("empty"), 0)
        expect(self.page.locator("#spoken")).to_have_text(self.page.locator("#target").text_content(), use_inner_text=False)
        self.check()

    def test_clear(self):
        self.open()
        self.type(SENTENCE)
        self.translated()
        self.page.get_by_role("button", name="Clear the text").click()
        expect(self.page.locator("#target")).to_be_empty()
        expect(self.page.locator("#source")).to_be_focused()
        expect(self.page.locator("#others")).to_be_hidden()
        self.check(accessible=False)

    def test_words_show_what_they_attend_to(self):
        self.open()
        self.type(ASTRAL)
        self.translated()
        line = self.server.translate(ASTRAL)["lines"][0]
        points = list(ASTRAL)
        expected = ["".join(points[b:e]) for b, e in sorted({tuple(pair["source_span"]) for pair in line["alignment"] if pair["target"] == 1})]
        self.assertTrue(expected)
        self.page.locator("#target .word").nth(1).hover()
        self.assertEqual(self.page.locator("#mirror mark").all_text_contents(), expected)
        expect(self.page.locator("#word")).to_contain_text("% sure")
        self.picture("held")
        self.check()

    def test_confidence_shades_words(self):
        self.open()
        self.type("the old cat zzz the dog")
        self.translated()
        expect(self.page.locator("#legend")).to_be_hidden()
        self.page.get_by_role("button", name="Confidence").click()
        expect(self.page.locator("#target")).to_have_class("writing shaded")
        expect(self.page.locator("#legend")).to_be_visible()
        self.assertEqual(self.page.locator("#legend").text_content().split(), ["sure", "unsure"])
        words = self.server.translate("the old cat zzz the dog")["lines"][0]["words"]
        shown = self.page.locator("#target .word").evaluate_all("words => words.map((word) => Number(word.style.getPropertyValue('--doubt')))")
        self.assertEqual(len(shown), len(words))
        for one, word in zip(shown, words):
            self.assertAlmostEqual(one, 1 - word["confidence"], delta=0.006)
        self.check()

    def test_findings_are_named(self):
        self.open()
        self.type("the old house of 1987")
        self.translated()
        line = self.server.translate("the old house of 1987")["lines"][0]
        shown = self.page.locator("#findings li")
        self.assertEqual(shown.count(), len(line["findings"]))
        expect(shown.first).to_have_text("Number: “1987” is missing")
        expect(self.page.get_by_role("region", name="To check")).to_be_visible()
        self.picture("one")
        self.check()
        self.page.keyboard.press("Alt+Shift+E")
        self.page.locator("#edited").fill("la maison de 1987")  # nobody has checked that
        expect(self.page.locator("#findings")).to_be_hidden()
        self.type("the bird\nthe old house of 1987 and 25 dogs")
        self.translated()
        expect(self.page.locator("#findings")).to_contain_text(re.compile("Line 2 · Number: “1987” is missing.*Line 2 · Number: “25” is missing", re.S))
        self.picture("several")
        self.check()
        self.page.get_by_role("button", name="Clear the text").click()
        expect(self.page.locator("#findings")).to_be_hidden()

    def test_other_translations(self):
        self.open()
        self.type(SENTENCE)
        best = self.translated()
        others = self.page.locator("#others li button")
        self.assertEqual(others.all_text_contents(), self.server.translate(SENTENCE)["alternatives"])
        for one in others.all():
            text, marked = one.text_content(), one.locator("mark").all_text_contents()
            self.assertEqual(sum(len(part.split()) for part in marked), len(text.split()) - in_common(text.split(), best.split()))
            self.assertTrue(marked)
        other = others.nth(1).text_content()
        others.nth(1).click()
        expect(self.page.locator("#target")).to_have_text(other)
        self.assertIn(best, others.all_text_contents())
        self.check()

    def test_other_words(self):
        self.open()
        self.type(SENTENCE)
        words = self.translated().split()
        self.page.locator("#target .word").nth(2).click()
        options = self.page.locator("#choices [role=option]")
        expect(options.first).to_be_visible()
        self.picture("choices")
        self.check()
        chosen = options.nth(0).locator("strong").text_content()
        self.assertNotEqual(chosen, words[2])
        options.nth(0).click()
        expect(self.page.locator("#target .word").nth(2)).to_have_text(chosen)
        prefix = " ".join([*words[:2], chosen])
        self.assertEqual(self.translated(), self.server.translate(SENTENCE, prefix=prefix)["text"])
        expect(self.page.locator("#target .word").nth(2)).to_be_focused()
        self.check()

    @in_one_look
    def test_no_word_can_be_taken_before_there_are_any(self):
        self.open()
        self.type(SENTENCE)
        best = self.translated()
        words, choices = self.page.locator("#target .word"), self.page.locator("#choices")
        words.nth(2).click()
        expect(choices.locator("[role=option]").first).to_be_visible()
        self.page.keyboard.press("Escape")
        self.page.route("**/v1/translate", lambda route: None)  # never answered
        words.nth(1).click()
        for key in ("Enter", "ArrowDown", "Enter"):
            self.page.keyboard.press(key)
        expect(choices).to_have_text("Looking for other words…")
        expect(choices).to_be_focused()
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#target")).to_have_text(best)

    def test_other_words_leave_the_sentences_before_them_alone(self):
        first, second = "Where is the cat?", "The old house and the bird"
        self.open()
        self.type(f"{first} {second}")
        before = self.translated()
        settled = self.server.translate(first)["text"].split()
        self.assertEqual(before.split()[:len(settled)], settled)
        words = self.page.locator("#target .word")
        number = len(settled) + 1  # the second word of the second sentence
        self.assertLess(number, words.count())
        words.nth(number).click()
        options = self.page.locator("#choices [role=option]")
        expect(options.first).to_be_visible()
        self.picture("choices")
        for other in options.locator("strong").all_text_contents():
            self.assertNotEqual(other, before.split()[number])
        chosen = options.first.locator("strong").text_content()
        options.first.click()
        expect(words.nth(number)).to_have_text(chosen)
        after = self.translated()
        self.assertEqual(after.split()[:number], before.split()[:number])
        self.assertEqual(after, self.server.translate(f"{first} {second}", prefix=" ".join([*before.split()[:number], chosen]))["text"])
        self.check()

    def test_words_without_spaces(self):
        asked, sentence = [], "我们喜欢音乐。"
        others = ["我们喜欢电影。", "我们喜欢看书。", "我们喜爱音乐。", "我们喜欢音乐会。"]

        def answer(route):
            body = route.request.post_data_json
            asked.append(body)
            words = [{"span": [0, len(sentence)], "confidence": 0.5}]
            line = {"source": body["text"], "text": sentence, "words": words, "alignment": []}
            route.fulfill(json={"from": "en", "to": "zh", "via": [], "text": sentence, "alternatives": others,
                                **({"lines": [line]} if "prefix" not in body else {})})
        self.page.route("**/v1/translate", answer)
        self.open("#source=en&target=zh&q=we+like+music")
        words = self.page.locator("#target .word")
        expect(words).to_have_text(["我们", "喜欢", "音乐"])
        words.nth(2).click()
        expect(self.page.locator("#choices [role=option] strong").first).to_have_text("电影")
        self.assertEqual(asked[1]["prefix"], "我们喜欢")
        self.picture("choices")
        self.check(accessible=False)

    def test_a_third_language_is_named(self):
        self.open("#source=fr&target=ar")
        self.type("the cat")
        self.translated()
        expect(self.page.locator("#via")).to_have_text("via English")
        self.picture("pivot")
        self.check()
        inside = self.page.get_by_role("link", name="Look inside")
        expect(inside).to_be_disabled()
        inside.focus()
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("alert")).to_have_text("There is no single model to look inside: this translation goes through English.")

    def test_an_adapted_model_is_named(self):
        adapted = {"time": "2026-01-31T12:00:00Z", "segments": 1234,
                   "bleu": {"segments": {"before": 8.04, "after": 12.5}, "general": {"before": 41.25, "after": 41}}}

        def answer(route):
            models = route.fetch().json()
            next(one for one in models["models"] if one["name"] == "en-fr")["adapted"] = adapted
            route.fulfill(json=models)
        self.page.route("**/v1/models", answer)
        self.open()
        about = self.page.locator("#via")
        expect(about).to_have_text("adapted to 1,234 segments")
        expect(about).to_have_attribute("title", re.compile("January 31, 2026. BLEU on held-out segments 12.5, before 8.0; on general text 41.0"))
        self.type("the cat")
        self.translated()
        expect(about).to_have_text("adapted to 1,234 segments")
        self.picture("adapted")
        self.check()
        self.page.get_by_role("button", name="Swap languages").click()
        expect(about).to_have_text("")
        self.assertEqual(about.get_attribute("title"), "")

    def test_look_inside_the_line_of_the_cursor(self):
        self.open()
        self.type("the cat\n\nthe dog and the house")
        self.translated()
        inside = self.page.get_by_role("link", name="Look inside")
        linked = lambda text: re.compile("text=" + text.replace(" ", r"\+") + "$")
        expect(inside).to_have_attribute("href", linked("the dog and the house"))
        self.page.keyboard.press("Control+Home")
        expect(inside).to_have_attribute("href", linked("the cat"))
        self.page.keyboard.press("ArrowDown")  # a blank line
        expect(inside).to_have_attribute("href", linked("the cat"))

    def test_look_inside_the_word_that_was_chosen(self):
        self.open()
        self.type("the cat! the dog and the house\nthe bird")
        self.translated()
        words, inside = self.page.locator("#target .word"), self.page.get_by_role("link", name="Look inside")
        for number in (0, words.count() - 1, 0):
            words.nth(number).click()
            self.page.keyboard.press("Escape")
            marked = self.page.locator("#mirror mark").all_text_contents()
            text = urllib.parse.parse_qs(inside.get_attribute("href").split("#")[1])["text"][0]
            self.assertIn(text, ["the bird"] if number else ["the cat!", "the dog and the house"])
            self.assertIn(marked[0], text)
        self.page.locator("#source").press("Control+End")
        expect(inside).to_have_attribute("href", re.compile(r"text=the\+bird$"))

    def test_keyboard_alone(self):
        self.open()
        self.page.keyboard.type(SENTENCE)
        self.page.keyboard.press("Control+Enter")
        words = self.page.locator("#target .word")
        expect(words.nth(0)).to_be_focused()
        self.page.keyboard.press("ArrowRight")
        expect(words.nth(1)).to_be_focused()
        self.page.keyboard.press("End")
        expect(words.last).to_be_focused()
        self.page.keyboard.press("Home")
        self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("ArrowRight")
        self.page.keyboard.press("Enter")
        expect(self.page.get_by_role("listbox")).to_be_focused()
        expect(self.page.locator("#choices [role=option]").first).to_have_attribute("aria-selected", "true")
        self.page.keyboard.press("Escape")
        expect(words.nth(2)).to_be_focused()
        self.page.keyboard.press("Escape")
        expect(self.page.locator("#source")).to_be_focused()
        self.page.keyboard.press("Alt+Shift+C")
        self.assertEqual(self.page.evaluate("navigator.clipboard.readText()"), self.translated())
        self.page.keyboard.press("Alt+Shift+H")
        expect(self.page.get_by_role("dialog")).to_be_visible()
        self.picture("history")
        self.check()
        self.page.keyboard.press("Escape")
        expect(self.page.get_by_role("dialog")).to_be_hidden()
        self.check(accessible=False)

    def test_swap(self):
        self.open()
        self.type(SENTENCE)
        translation = self.translated()
        self.page.get_by_role("button", name="Swap languages").click()
        expect(self.page.locator("#from")).to_have_value("fr")
        expect(self.page.locator("#source")).to_have_value(translation)
        expect(self.page.locator("#target .word").first).to_be_visible()
        self.assertEqual(self.translated(), self.server.translate(translation, **{"from": "fr", "to": "en"})["text"])
        self.check(accessible=False)

    def test_from_right_to_left(self):
        self.open()
        self.page.locator("#to").select_option("ar")
        self.type(SENTENCE)
        self.translated()
        self.assertEqual(self.page.locator("#target").evaluate("(one) => getComputedStyle(one).direction"), "rtl")
        self.assertEqual(self.page.locator("#target").get_attribute("lang"), "ar")
        self.page.locator("#target .word").nth(0).focus()
        self.page.keyboard.press("ArrowLeft")
        expect(self.page.locator("#target .word").nth(1)).to_be_focused()
        self.check()

    def test_history(self):
        self.open()
        self.type(SENTENCE)
        translation = self.translated()
        self.page.wait_for_timeout(1700)
        self.page.reload()
        self.page.get_by_role("button", name="History").click()
        expect(self.page.locator("#past li")).to_have_count(1)
        self.picture("history")
        self.check()
        self.page.locator("#past .entry").click()
        expect(self.page.locator("#source")).to_have_value(SENTENCE)
        self.assertEqual(self.translated(), translation)
        self.page.get_by_role("button", name="History").click()
        self.page.get_by_role("button", name="Clear all").click()
        expect(self.page.locator("#past")).to_have_text("Nothing yet.")
        self.page.get_by_label("Keep a history").uncheck()
        self.page.keyboard.press("Escape")
        self.type("the old dog")
        self.translated()
        self.page.wait_for_timeout(1700)
        self.assertEqual(self.page.evaluate("JSON.parse(localStorage.getItem('history'))"), [])

    def test_the_theme_is_kept(self):
        self.open()
        ground = "getComputedStyle(document.body).backgroundColor"
        before = self.page.evaluate(ground)
        self.page.get_by_role("button", name="Dark theme").click()
        after = self.page.evaluate(ground)
        self.assertNotEqual(before, after)
        self.page.reload()
        self.assertEqual(self.page.evaluate(ground), after)
        self.check()

    @in_one_look
    def test_nothing_moves_where_motion_is_unwanted(self):
        self.open()
        self.page.locator("#target-pane").evaluate("(pane) => pane.classList.add('busy')")
        for wanted, animation in (("no-preference", "pass"), ("reduce", "none")):
            self.page.emulate_media(reduced_motion=wanted)
            self.assertEqual(self.page.locator("#target-pane .foot").evaluate("(foot) => getComputedStyle(foot, '::before').animationName"), animation)


globals().update(in_both_looks(Translate))
del Translate, PageTest
