"""The pages /inspect and /training."""
import contextlib
import fcntl
import json
import math
import os
import pathlib
import random
import re
import shutil

from pages import PageTest, expect, in_both_looks, in_one_look


def event(name, step, **values):
    return json.dumps({"event": name, "step": step, "time": 1000 + step, **values}) + "\n"


def as_seen(colour):
    return colour


# Who lacks one kind of cones sees red and green in these mixtures of both, roughly.
def as_deuteranope(colour):
    red, green, blue = colour
    return 0.29 * red + 0.71 * green, 0.29 * red + 0.71 * green, blue


def as_protanope(colour):
    red, green, blue = colour
    return 0.11 * red + 0.89 * green, 0.11 * red + 0.89 * green, blue


def contrast(one, other):
    def luminance(colour):
        linear = [value / 255 / 12.92 if value <= 10 else ((value / 255 + 0.055) / 1.055) ** 2.4 for value in colour]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


class Views(PageTest):
    def setUp(self):
        super().setUp()
        self.runs = pathlib.Path(self.server.folder / "runs")
        shutil.rmtree(self.runs, ignore_errors=True)
        self.runs.mkdir()

    def append(self, run, *events):
        (self.runs / run).mkdir(exist_ok=True)
        with open(self.runs / run / "metrics.jsonl", "a") as file:
            file.write("".join(events))

    def train(self, run, steps):
        self.append(run, *(event("train", i, loss=9 / i, perplexity=2 + 90 / i, learning_rate=i * 1e-5, tokens_per_second=3000 + i) for i in steps))

    @contextlib.contextmanager
    def training(self, run):
        """As a run holds its folder."""
        folder = os.open(self.runs / run, os.O_RDONLY)
        fcntl.flock(folder, fcntl.LOCK_EX)
        try:
            yield
        finally:
            os.close(folder)

    @in_one_look
    def test_smoothed_curves_go_on_to_their_ends(self):
        noise = random.Random(1)
        losses = [2 + 0.002 * (400 - i) + noise.gauss(0, 0.1) for i in range(400)]
        losses[-1] = losses[0] = 9
        self.append("first", *(event("train", i + 1, loss=loss, perplexity=math.exp(loss)) for i, loss in enumerate(losses)))
        self.open("training")
        expect(self.page.locator("#curves figure")).not_to_have_count(0)
        for share in (0.02, 0.1):
            line = self.page.evaluate("([values, share]) => smooth(values, share, false)", [losses, share])
            self.assertEqual(len(line), len(losses))
            for i, value in enumerate(line):
                self.assertAlmostEqual(value, 2 + 0.002 * (400 - i), delta=0.35, msg=f"{share} {i}")
        # With gaps, and on a logarithmic axis; a line stays that line.
        for log in (False, True):
            straight = [math.exp(i / 50) if log else i for i in range(200)]
            straight[3] = straight[-2] = None
            line = self.page.evaluate("([values, log]) => smooth(values, 0.05, log)", [straight, log])
            for value, wanted in zip(line, straight):
                self.assertEqual(value is None, wanted is None)
                if wanted is not None:
                    self.assertAlmostEqual(value, wanted, delta=1e-6 * (1 + wanted))

    def test_training_and_validation_have_colours_of_their_own(self):
        self.train("first", range(1, 40))
        self.append("first", *(event("validation", i, loss=9 / i, perplexity=2.0) for i in (10, 20, 39)))
        self.open("training")
        chart = self.page.get_by_role("figure").filter(has_text="Loss").first
        expect(chart.locator(".name")).to_have_text(["training", "validation"])
        curves = chart.locator(".plot .curve")
        expect(curves).to_have_count(2)
        colours = curves.evaluate_all("all => all.map((one) => getComputedStyle(one).stroke)")
        ground = self.page.evaluate("getComputedStyle(document.body).backgroundColor")
        one, other, ground = (tuple(map(int, re.findall(r"\d+", colour)[:3])) for colour in (*colours, ground))
        self.assertEqual(chart.locator(".name .curve").evaluate_all("all => all.map((one) => getComputedStyle(one).stroke)"), colours)
        for see in (as_seen, as_deuteranope, as_protanope):
            self.assertGreater(math.dist(see(one), see(other)), 100)
        for colour in (one, other):
            self.assertGreater(contrast(colour, ground), 3)
        self.check()

    def test_settings_that_are_not_the_default_come_first(self):
        self.train("first", range(1, 4))
        recipe = {"model": {"d_model": 512, "heads": 3}, "training": {"seed": 1, "ema": 0.99}}
        (self.runs / "first/config.json").write_text(json.dumps({"format": 1, "recipe": recipe}))
        self.open("training")
        rows = self.page.locator("#configuration tbody tr:visible")
        expect(rows).to_have_count(2)
        self.assertEqual(rows.locator("th").all_text_contents(), ["model.heads", "training.ema"])
        self.assertEqual(rows.locator("td").all_text_contents(), ["3", "8", "0.99", "0.0"])
        self.picture("changed")
        self.check()
        self.page.get_by_label("all (5)").check()
        expect(rows).to_have_count(5)
        self.assertEqual(rows.locator("th").all_text_contents()[:2], ["model.heads", "training.ema"])
        self.assertEqual([int(weight) >= 700 for weight in rows.locator("th").evaluate_all("all => all.map((one) => getComputedStyle(one).fontWeight)")],
                         [True, True, False, False, False])

    def test_settings_that_the_recipe_set_are_marked(self):
        self.train("given", range(1, 4))
        recipe = {"model": {"d_model": 512, "heads": 3}, "training": {"seed": 1, "ema": 0.99}}
        (self.runs / "given/config.json").write_text(json.dumps({"recipe": recipe, "given": ["model.heads", "training.seed"]}))
        self.open("training")
        rows = self.page.locator("#configuration tbody tr:visible")
        expect(rows).to_have_count(3)
        marked = self.page.locator("#configuration tbody tr").filter(has=self.page.locator("td.set"))
        self.assertEqual(marked.locator("th").all_text_contents(), ["model.heads", "training.seed"])
        self.picture("set")
        self.check()

    def test_inspect(self):
        self.open()
        self.type("the cat sees a dog")
        translation = self.translated()
        with self.context.expect_page() as opened:
            self.page.get_by_role("link", name="Look inside").click()
        self.page = opened.value
        self.watch(self.page)
        self.dress(self.page)
        self.page.reload()
        expect(self.page.locator("canvas").first).to_be_visible()
        expect(self.page.locator("#translation")).to_contain_text(translation)
        expect(self.page.locator("#state")).to_be_hidden()
        self.check()

    @in_one_look
    def test_inspect_gives_what_the_command_gives(self):
        text = "the old cat sees a dog and the house"
        ours, commands = self.server.ask("v1/inspect", text=text)["sentences"][0], self.server.inspect_alone(text)
        for kind, layers in commands.pop("attention").items():
            rows = [row for heads in layers for head in heads for row in head]
            thousandths = [row for heads in ours["attention"][kind] for head in heads for row in head]
            self.assertEqual(len(rows), len(thousandths))
            for row, expected in zip(thousandths, rows):
                for weight, fraction in zip(row, expected, strict=True):
                    self.assertAlmostEqual(weight, 1000 * fraction, delta=1)
        del ours["attention"]
        for one in (ours, commands):
            one.pop("nbest")  # the command's search has its own length penalty, the server's the model's
            # Sums of floating-point numbers, in batches of other sizes.
            one["log_probabilities"] = [round(value, 3) for value in one["log_probabilities"]]
        self.assertEqual(ours, commands)

    def test_inspect_has_a_place_to_type(self):
        self.open("inspect")
        pair = self.page.get_by_label("Languages")
        expect(pair.locator("option")).to_have_text(["English → French", "French → English", "English → Arabic", "English → Chinese"])
        self.check()
        pair.select_option(label="French → English")
        self.page.get_by_placeholder("Type a sentence").fill("the old cat")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("canvas").first).to_be_visible()
        best = self.server.ask("v1/inspect", text="the old cat", **{"from": "fr", "to": "en"})["sentences"][0]
        expect(self.page.locator("#translation")).to_contain_text(best["target"])
        self.page.get_by_label("A translation to inspect instead of the model's").fill("a dog")
        self.page.get_by_role("button", name="Inspect").click()
        expect(self.page.locator("#translation")).to_contain_text("given translation")
        self.page.reload()
        expect(self.page.get_by_placeholder("Type a sentence")).to_have_value("the old cat")
        expect(pair).to_have_value("fr en")
        self.check()

    @in_one_look
    def test_links_to_sections_leave_the_address(self):
        self.open("inspect#from=en&to=ar&text=القط")
        expect(self.page.locator("canvas").first).to_be_visible()
        address = self.page.url
        self.page.get_by_role("link", name="Attention").click()
        expect(self.page.locator("#attention h2")).to_be_in_viewport()
        self.assertEqual(self.page.url, address)
        source = self.page.locator("#translation dd").first
        self.assertEqual(source.evaluate("(one) => getComputedStyle(one).direction"), "rtl")

    @in_one_look
    def test_an_attention_that_another_model_lacks(self):
        def answer(route):
            inspected = route.fetch().json()
            inspected["sentences"][0]["attention"]["decoder"] = []  # as of recurrent units
            route.fulfill(json=inspected)
        self.open("inspect#from=en&to=fr&text=the+cat")
        self.page.get_by_role("button", name="Decoder").click()
        self.page.route("**/v1/inspect", answer)
        self.page.get_by_placeholder("Type a sentence").fill("the old cat")
        self.page.keyboard.press("Enter")
        expect(self.page.locator("#attention")).to_contain_text("The decoder has recurrent units")
        expect(self.page.get_by_role("button", name="Cross")).to_have_attribute("aria-pressed", "true")
        expect(self.page.locator("#state")).to_be_hidden()
        self.check(accessible=False)

    def test_all_pages_look_alike(self):
        looks = []
        for path in ("", "inspect", "training"):
            self.open(path)
            expect(self.page.get_by_role("link", name="Training")).to_be_visible()
            looks.append(self.page.evaluate("""() => {
                const brand = document.querySelector(".brand"), theme = document.getElementById("theme"), place = (one) => JSON.stringify(one.getBoundingClientRect());
                const {fontFamily, fontSize, backgroundColor, color} = getComputedStyle(document.body), {borderRadius, minHeight} = getComputedStyle(theme);
                return [brand.textContent, place(brand.querySelector("img")), theme.getBoundingClientRect().top, fontFamily, fontSize, backgroundColor, color, borderRadius, minHeight]; }"""))
            self.assertEqual(self.page.locator("nav [aria-current=page]").count(), 1)
        self.assertEqual(looks[0], looks[1])
        self.assertEqual(looks[0], looks[2])

    @in_one_look
    def test_the_theme_changes_where_nothing_can_be_kept(self):
        self.open("inspect")
        self.page.evaluate("Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('', 'SecurityError'); }})")
        button = self.page.get_by_role("button", name="Dark theme")
        before = button.get_attribute("aria-pressed")
        for pressed in ("false" if before == "true" else "true", before):
            button.click()
            expect(button).to_have_attribute("aria-pressed", pressed)

    def test_training_grows(self):
        self.open("training")
        expect(self.page.locator("#state")).to_contain_text("There are no training runs yet")
        self.check()
        self.train("first", range(1, 40))
        expect(self.page.locator("#state")).to_have_text("None of these runs is training now.")
        expect(self.page.locator("#summary .status")).to_have_text("stopped")
        with self.training("first"):
            expect(self.page.locator("#state")).to_have_text("Running: first")
            self.append("first", event("train", 40, loss=0.2, perplexity=2.0, seconds=30, done=0.25))
            expect(self.page.locator("#state")).to_have_text("Running: first, about 2 min left")
            expect(self.page.locator("#summary .status")).to_have_text("running, about 2 min left")
        expect(self.page.locator("#summary .status")).to_have_text("stopped")
        expect(self.page.locator("#curves figure")).not_to_have_count(0)
        self.append("first", event("validation", 39, loss=1.5, bleu=12.5), event("sample", 39, source="a dog", reference="une chienne", translation="une chatte")[:-9])
        expect(self.page.locator("#summary")).to_contain_text("12.5")
        expect(self.page.locator("#samples")).to_have_count(0)  # that line is not whole yet
        self.append("first", event("sample", 39, source="a dog", reference="une chienne", translation="une chatte")[-9:])
        expect(self.page.locator("#samples")).to_contain_text("une chatte")
        self.check()

    @in_one_look
    def test_a_run_stays_hidden_beside_a_new_one(self):
        for run in ("b", "c"):
            self.train(run, range(1, 40))
        self.open("training")
        boxes = self.page.locator("fieldset.which input")
        expect(boxes).to_have_count(2)
        boxes.nth(1).uncheck()
        self.train("a", range(1, 40))
        expect(boxes).to_have_count(3)
        self.assertEqual(boxes.evaluate_all("all => all.map((one) => one.checked)"), [True, True, False])

    def test_what_a_reader_has_set_stays(self):
        self.train("first", range(1, 40))
        self.open("training")
        self.page.get_by_label("training time").check()
        self.train("first", range(40, 60))
        expect(self.page.locator("#summary")).to_contain_text("59")
        expect(self.page.get_by_label("training time")).to_be_checked()
        self.train("second", range(1, 20))
        with self.training("first"), self.training("second"):
            expect(self.page.locator("#state")).to_have_text("Running: first; second")
            expect(self.page.get_by_label("training time")).to_be_checked()
            self.append("first", event("end", 59, reason="training.max_steps"))
            expect(self.page.locator("#state")).to_have_text("Running: second")
            expect(self.page.locator("#summary .status")).to_have_text(["finished", "running"])
        self.check()


globals().update(in_both_looks(Views))
del Views, PageTest
