"""The page at / where the server refuses, is busy, or is gone."""
import json

from pages import PageTest, expect, in_all_looks

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

    def test_a_server_that_is_gone_is_asked_again(self):
        gone = [True]
        self.page.route(ASKED, lambda route: route.abort() if gone else route.continue_())
        self.open()
        self.type("the cat sees a dog")
        expect(self.page.get_by_role("alert")).to_contain_text("The server does not answer.")
        self.check()
        gone.clear()
        self.assertEqual(self.translated(), self.server.translate("the cat sees a dog")["text"])

    def test_a_refusal_is_shown_in_the_server_s_words(self):
        self.page.route(ASKED, lambda route: route.fulfill(**refusal(400, "no model translates from en to fr: try de")))
        self.open()
        self.type("the cat")
        expect(self.page.get_by_role("alert")).to_have_text("No model translates from en to fr: try de.")
        self.check()

    def test_a_text_over_the_limit_is_not_sent(self):
        self.open()
        limit = int(self.page.locator("#count").text_content().split("/")[1].replace(",", ""))
        self.type("a " * (limit // 2) + "b")
        expect(self.page.get_by_role("alert")).to_contain_text("at most")
        expect(self.page.locator("#count")).to_have_class("quiet bad")

    def test_a_key_is_asked_for_and_used(self):
        def guarded(route):
            if route.request.headers.get("authorization") == "Bearer secret":
                return route.continue_(headers={name: value for name, value in route.request.headers.items() if name != "authorization"})
            return route.fulfill(**refusal(401, "this server needs an API key"))
        self.page.route("**/v1/**", guarded)
        self.page.goto("")
        key = self.page.get_by_label("This server asks for an API key:")
        expect(key).to_be_focused()
        self.picture("key")
        self.check()
        key.fill("secret")
        key.press("Enter")
        expect(key).to_be_hidden()
        self.type("the cat")
        self.assertEqual(self.translated(), self.server.translate("the cat")["text"])


globals().update(in_all_looks(Refusals))
del Refusals, PageTest
