"""The page at / where the server refuses, is busy, or is gone."""
import json

from pages import PageTest, expect, in_both_looks, in_one_look

ASKED = "**/v1/translate"


def refusal(status, message, **headers):
    return {"status": status, "content_type": "application/json", "headers": headers,
            "body": json.dumps({"error": {"message": message, "kind": "test"}})}


class Refusals(PageTest):
    def setUp(self):
        super().setUp()
        self.forgiven = ("Failed to load resource",)  # Chromium says so of each status of 400 or more

    def test_a_busy_server_is_asked_again(self):
        answers = [refusal(503, "the queue is full", **{"Retry-After": "1"}), refusal(429, "too many requests", **{"Retry-After": "1"})]
        self.page.route(ASKED, lambda route: route.fulfill(**answers.pop(0)) if answers else route.continue_())
        self.open()
        self.type("the cat sees a dog")
        notice = self.page.get_by_role("alert")
        expect(notice).to_contain_text("The queue is full. Trying again in 1 s.")
        self.picture("busy")
        self.check()
        expect(notice).to_contain_text("Too many requests.")
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog")["text"])
        expect(notice).to_be_hidden()

    @in_one_look
    def test_waits_grow_until_there_is_an_answer(self):
        self.open()
        answers = [refusal(503, "the queue is full") for _ in range(2)]
        self.page.route(ASKED, lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
        notice = self.page.get_by_role("alert")
        self.type("the cat sees a dog")
        expect(notice).to_contain_text("Trying again in 2 s.")
        expect(notice).to_contain_text("Trying again in 4 s.")
        self.translated()
        expect(notice).to_be_hidden()
        asked = []
        self.listen(self.page, "request", lambda request: asked.append(request.url))
        self.page.evaluate("dispatchEvent(new Event('online'))")
        self.page.wait_for_timeout(200)
        self.assertEqual(asked, [])  # nobody waits for the network any more
        answers.append(refusal(503, "the queue is full"))
        self.type("the old house")
        expect(notice).to_contain_text("Trying again in 2 s.")

    @in_one_look
    def test_a_translation_that_fails_on_its_way_is_asked_for_again(self):
        error = {"error": {"message": "the server is stopping: try again", "kind": "unavailable"}}
        answers = [{"content_type": "text/event-stream", "body": f"event: error\ndata: {json.dumps(error)}\n\n"}]
        self.page.route(ASKED, lambda route: route.fulfill(**answers.pop()) if answers else route.continue_())
        self.open()
        self.type("the cat sees a dog")
        expect(self.page.get_by_role("alert")).to_contain_text("The server is stopping: try again. Trying again in 2 s.")
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog")["text"])

    @in_one_look
    def test_a_server_that_is_gone_at_the_start_is_asked_again(self):
        gone = [True]
        self.page.route("**/v1/models", lambda route: route.abort() if gone else route.continue_())
        self.go("#source=en&target=fr")
        notice = self.page.get_by_role("alert")
        expect(notice).to_contain_text("The server is not responding.")
        self.type("the cat sees a dog")
        self.page.wait_for_timeout(300)
        expect(notice).to_contain_text("The server is not responding.")
        gone.clear()
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog")["text"])

    def test_a_server_that_is_gone_is_asked_again(self):
        gone = [True]
        self.page.route(ASKED, lambda route: route.abort() if gone else route.continue_())
        self.open()
        self.type("the cat sees a dog")
        expect(self.page.get_by_role("alert")).to_contain_text("The server is not responding.")
        self.check()
        gone.clear()
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog")["text"])

    def test_a_refusal_is_shown_in_the_server_s_words(self):
        self.page.route(ASKED, lambda route: route.fulfill(**refusal(400, "no model translates from en to fr: try de")))
        self.open()
        self.type("the cat")
        expect(self.page.get_by_role("alert")).to_have_text("No model translates from en to fr: try de.")
        self.check()

    @in_one_look
    def test_a_text_over_the_limit_is_not_sent(self):
        self.open()
        limit = int(self.page.locator("#count").text_content().split("/")[1].replace(",", ""))
        self.type("a " * (limit // 2) + "b")
        expect(self.page.get_by_role("alert")).to_contain_text("the limit is")
        expect(self.page.locator("#count")).to_have_class("quiet bad")

    def test_a_long_text_is_asked_for_without_its_words(self):
        asked = []
        self.listen(self.page, "request", lambda request: asked.append(request.post_data_json) if request.url.endswith("v1/translate") else None)
        self.open()
        text = "the cat sees a dog\n" * 300
        self.paste(text)
        expect(self.page.locator("#word")).to_have_text("Words and alternatives: up to 5,000 characters")
        self.assertEqual(asked, [{"from": "en", "to": "fr", "details": False, "text": text, "stream": True}])
        self.assertEqual(self.page.locator("#target").text_content(), self.server.ask("v1/translate", text=text, details=False)["text"])
        expect(self.page.locator("#shade")).to_be_disabled()
        expect(self.page.locator("#copy")).to_be_enabled()
        self.picture("long")
        self.check(accessible=False)

    def test_a_key_is_asked_for_and_used(self):
        def guarded(route):
            if route.request.headers.get("authorization") == "Bearer secret":
                return route.continue_(headers={name: value for name, value in route.request.headers.items() if name != "authorization"})
            return route.fulfill(**refusal(401, "this server needs an API key"))
        self.page.route("**/v1/**", guarded)
        self.go("")
        key = self.page.get_by_label("This server requires an API key:")
        expect(key).to_be_focused()
        self.picture("key")
        self.check()
        key.fill("secret")
        key.press("Enter")
        expect(key).to_be_hidden()
        self.type("the cat")
        self.assertEqual(self.translated(), self.server.translate("the cat")["text"])


globals().update(in_both_looks(Refusals))
del Refusals, PageTest
