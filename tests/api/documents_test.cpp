// Whole files through the library, with a model that has not learnt anything: what it writes does not matter.
#include <algorithm>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "dragoman/document.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

size_t count_of(std::string_view part, std::string_view text) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

class DocumentsTest : public testing::Test {
 protected:
  static std::string random_page(uint64_t key) {
    internal::Random random(key);
    const auto& lines = internal::known_lines();
    std::string page = "<!DOCTYPE html>\n<html><body>\n";
    int tags = 0;
    for (size_t i = 0, n = 1 + random.below(6); i < n; ++i) {
      page += "<p>";
      for (size_t part = 0, parts = 1 + random.below(5); part < parts; ++part) {
        const std::string& line = lines[random.below(lines.size())];
        const std::string words = line.substr(0, line.find(' ', random.below(line.size())));
        const int tag = tags++;
        switch (random.below(4)) {
          case 0:
            page += fmt::format("<b id=\"{}\">{}</b> ", tag, words);
            break;
          case 1:
            page += fmt::format("{}<img id=\"{}\"> ", words, tag);
            break;
          case 2:
            page += fmt::format("<i id=\"{}\">{} {{n{}}} <u>{}</u></i> ", tag, words, tag, words);
            break;
          default:
            page += words + " ";
        }
      }
      page += "</p>\n";
    }
    return page + "</body></html>\n";
  }

  // Placeholders are tags, too.
  static void expect_same_tags(const std::string& page, const std::string& result) {
    SCOPED_TRACE(page + "\n" + result);
    for (size_t at = page.find_first_of("<{"); at != page.npos; at = page.find_first_of("<{", at + 1)) {
      const std::string tag = page.substr(at, page.find_first_of(">}", at) + 1 - at);
      ASSERT_EQ(count_of(tag, result), count_of(tag, page)) << tag;
    }
  }

  TranslatedDocument translated(Translator& translator, const std::string& page,
                                Options options = {{"beam", 2}}) {
    options.emplace_back("max-length", 12);
    return translate_document(translator, {.bytes = page, .name = "page.html", .options = options});
  }

  internal::ModelFolder folder_{"documents-model"};
};

TEST_F(DocumentsTest, NoTagOrPlaceholderIsLostDoubledOrChanged) {
  Translator translator(folder_.path, {.threads = 2});
  for (uint64_t key = 0; key < 60; ++key) {
    const std::string page = random_page(key);
    expect_same_tags(page, translated(translator, page).bytes);
  }
}

// Where there is no text, there is no other translation of it either.
TEST_F(DocumentsTest, AlternativesOfNothingAreNone) {
  Translator translator(folder_.path, {.threads = 1});
  const TranslatedDocument result =
      translate_document(translator, {.bytes = "<p>\n</p>", .name = "page.html", .alternatives = SIZE_MAX});
  EXPECT_EQ(result.bytes, "<p>\n</p>");
  EXPECT_TRUE(result.alternatives.empty());
}

// Each other translation of a page is as whole as the best.
TEST_F(DocumentsTest, AlternativesHaveTheSameTags) {
  Translator translator(folder_.path, {.threads = 2});
  size_t alternatives = 0;
  for (uint64_t key = 0; key < 30; ++key) {
    const std::string page = random_page(key);
    const TranslatedDocument result =
        translate_document(translator, {.bytes = page,
                                        .name = "page.html",
                                        .options = {{"beam", 4}, {"max-length", 12}},
                                        .alternatives = 3});
    EXPECT_LE(result.alternatives.size(), 3u);
    std::vector<std::string> all = result.alternatives;
    all.push_back(result.bytes);
    std::ranges::sort(all);
    EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << "two are the same";
    EXPECT_EQ(result.bytes, translated(translator, page, {{"beam", 4}}).bytes);
    for (const std::string& alternative : result.alternatives) expect_same_tags(page, alternative);
    alternatives += result.alternatives.size();
  }
  EXPECT_GT(alternatives, 45u);
}

TEST_F(DocumentsTest, TheTextOfADocumentIsWithoutItsMarkup) {
  EXPECT_EQ(
      document_text({.bytes = "<p>The <b>cat</b> &amp; a dog.</p><!-- x --><script>y</script><p>A bird.",
                     .format = "html"}),
      "The cat & a dog.\nA bird.\n");
}

TEST_F(DocumentsTest, TheSameBytesInAnyBatch) {
  std::string page;
  for (uint64_t key = 0; key < 12; ++key) page += random_page(key);
  Translator one(folder_.path, {.threads = 1, .batch = 1}), many(folder_.path, {.threads = 3, .batch = 7});
  EXPECT_EQ(translated(one, page).bytes, translated(many, page).bytes);
}

TEST_F(DocumentsTest, WhatIsNotTextStays) {
  Translator translator(folder_.path);
  const std::string page =
      "<script>let cat = \"A dog barks\";</script>\n<p>{name} 42 <b>%d</b></p>\n<!-- The cat -->";
  const TranslatedDocument result = translated(translator, page);
  EXPECT_EQ(result.bytes, page);
  const std::string text = "  The cat sleeps. \r\n\r\n\tA dog.\n";
  const std::string lines =
      translate_document(translator, {.bytes = text, .name = "a.txt", .options = {{"max-length", 5}}}).bytes;
  EXPECT_TRUE(lines.starts_with("  ") && lines.find(" \r\n\r\n\t") != lines.npos && lines.ends_with("\n"))
      << lines;
}

// Which a model of one pair does not know.
TEST_F(DocumentsTest, LanguagesAreThoseOfTheFile) {
  Translator translator(folder_.path);
  const TranslatedDocument result = translated(
      translator, "<html lang=\"en\"><p>Mr. Smith sleeps.</p></html>", {{"from", "en"}, {"to", "fr"}});
  EXPECT_TRUE(result.bytes.starts_with("<html lang=\"fr\"><p>")) << result.bytes;
}

// Those of a model may have other names.
TEST_F(DocumentsTest, LanguagesAreNamedAsDocumentsNameThem) {
  Translator translator(folder_.path);
  const auto page_in = [&](const std::string& to) {
    return translated(translator, "<html lang=\"en\"><p>Mr. Smith sleeps.</p></html>",
                      {{"from", "eng_Latn"}, {"to", to}})
        .bytes;
  };
  EXPECT_TRUE(page_in("fra_Latn").starts_with("<html lang=\"fr\"><p>")) << page_in("fra_Latn");
  EXPECT_TRUE(page_in("zh-Hans").starts_with("<html lang=\"zh-Hans\"><p>")) << page_in("zh-Hans");
  const std::string memory =
      "<tmx version=\"1.4\"><header srclang=\"en\"/><body>"
      "<tu><tuv xml:lang=\"en\"><seg>A cat</seg></tuv></tu></body></tmx>";
  const TranslatedDocument result = translate_document(
      translator, {.bytes = memory,
                   .name = "a.tmx",
                   .options = {{"from", "eng_Latn"}, {"to", "fra_Latn"}, {"max-length", 5}}});
  EXPECT_EQ(result.segments, 1u);
  EXPECT_NE(result.bytes.find("<tuv xml:lang=\"fr\"><seg>"), std::string::npos) << result.bytes;
}

TEST_F(DocumentsTest, ReportsProgressAndStops) {
  Translator translator(folder_.path);
  const std::string page = random_page(3);
  size_t most = 0, texts = 0;
  const auto show = [&](size_t done, size_t all) {
    most = std::max(most, done);
    texts = all;
  };
  translate_document(translator,
                     {.bytes = page, .name = "a.html", .options = {{"max-length", 5}}, .on_progress = show});
  EXPECT_GT(texts, 0u);
  EXPECT_EQ(most, texts);
  EXPECT_THROW(translate_document(translator,
                                  {.bytes = page,
                                   .name = "a.html",
                                   .options = {{"max-length", 5}},
                                   .timeout = std::chrono::milliseconds::max(),
                                   .on_progress = [](size_t, size_t) { throw std::out_of_range("mine"); }}),
               std::out_of_range);

  std::stop_source stop;
  stop.request_stop();
  try {
    translate_document(translator, {.bytes = page, .name = "a.html", .stop = stop.get_token()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::cancelled) << error.what();
  }
  while (translator.pending() > 0) std::this_thread::yield();  // cancelled requests end within a step
}

TEST_F(DocumentsTest, FormatsAreNamedOrKnownByTheFilesName) {
  Translator translator(folder_.path);
  const auto message = [&](const DocumentRequest& request) {
    try {
      translate_document(translator, request);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.bytes = "", .name = "A.TXT"}), "");
  EXPECT_EQ(message({.bytes = "", .name = "notes", .format = "text"}), "");
  EXPECT_NE(message({.bytes = "", .name = "a.xyz"}).find("a.xyz"), std::string::npos);
  EXPECT_NE(message({.bytes = "", .name = "a.txt", .format = "txt"}).find("use text, html"),
            std::string::npos);
  EXPECT_NE(message({.bytes = "The cat", .name = "a.txt", .options = {{"bean", 4}}}).find("beam"),
            std::string::npos);
  EXPECT_EQ(document_formats().front().name, "text");
}

}  // namespace
}  // namespace dragoman
