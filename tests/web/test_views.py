"""The pages /inspect and /training."""
import json
import pathlib
import shutil

from pages import PageTest, expect, in_all_looks


def event(name, step, **values):
    return json.dumps({"event": name, "step": step, "time": 1000 + step, **values}) + "\n"


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

    def test_inspect(self):
        self.open()
        self.type("the cat sees a dog")
        translation = self.translated()
        with self.context.expect_page() as opened:
            self.page.get_by_role("link", name="Look inside").click()
        self.page = opened.value
        self.watch(self.page)
        expect(self.page.locator("canvas").first).to_be_visible()
        expect(self.page.locator("#translation")).to_contain_text(translation)
        expect(self.page.locator("#state")).to_be_hidden()
        self.check()

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

    def test_inspect_without_a_sentence(self):
        self.open("inspect")
        expect(self.page.locator("#state")).to_contain_text("translate one")
        self.check()

    def test_training_grows(self):
        self.open("training")
        expect(self.page.locator("#state")).to_contain_text("There are no training runs yet")
        self.check()
        self.train("first", range(1, 40))
        expect(self.page.locator("#state")).to_have_text("Live: first")
        expect(self.page.locator("#summary")).to_contain_text("39")
        expect(self.page.locator("#curves figure")).not_to_have_count(0)
        self.append("first", event("validation", 39, loss=1.5, bleu=12.5), event("sample", 39, source="a dog", reference="une chienne", translation="une chatte")[:-9])
        expect(self.page.locator("#summary")).to_contain_text("12.5")
        expect(self.page.locator("#samples")).to_have_count(0)  # that line is not whole yet
        self.append("first", event("sample", 39, source="a dog", reference="une chienne", translation="une chatte")[-9:])
        expect(self.page.locator("#samples")).to_contain_text("une chatte")
        self.check()

    def test_what_a_reader_has_set_stays(self):
        self.train("first", range(1, 40))
        self.open("training")
        self.page.get_by_label("training time").check()
        self.train("first", range(40, 60))
        expect(self.page.locator("#summary")).to_contain_text("59")
        expect(self.page.get_by_label("training time")).to_be_checked()
        self.train("second", range(1, 20))
        expect(self.page.locator("#state")).to_have_text("Live: first, second")
        expect(self.page.get_by_label("training time")).to_be_checked()
        self.append("first", event("end", 59, reason="training.max_steps"))
        expect(self.page.locator("#state")).to_have_text("Live: second")
        self.check()


globals().update(in_all_looks(Views))
del Views, PageTest
