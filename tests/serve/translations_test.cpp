// Translations of texts: lines, languages, pivots, HTML, each with what its model alone makes of it.
#include "serve/translations.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "api/message_of.h"
#include "base/error.h"
#include "base/log.h"
#include "document/made_pdf.h"
#include "dragoman/document.h"
#include "memory/builder.h"
#include "search/saved_model.h"
#include "search/shortlist.h"
#include "serve/memories/store.h"
#include "serve/models/detector.h"
#include "serve/models/folder_watch.h"
#include "serve/models/languages.h"
#include "serve/models/served_languages.h"
#include "serve/open_translations.h"
#include "serve/route.h"
#include "serve/translations/document.h"
#include "temporary_folder.h"

namespace dragoman::internal {
namespace {

dragoman::Options with(dragoman::Options options, const char* language) {
  options.emplace_back("split-sentences", language);
  return options;
}

TEST_F(TranslationsTest, ATextIsItsLines) {
  const auto translations = open({"en-fr=" + one_.path});
  dragoman::Translator model = alone(one_);
  dragoman::Options options = short_ones;
  options.emplace_back("split-sentences", "en");
  const auto line = [&](const std::string& text) { return model.translate(text, options).text(); };
  const TextResult result =
      translated(*translations, {.text = "The cat sleeps.\r\n\nWhere is the dog? A cat.\n",
                                 .from = "EN",
                                 .to = "fr-CA",
                                 .options = short_ones});
  EXPECT_EQ(result.text, line("The cat sleeps.") + "\r\n\n" + line("Where is the dog? A cat.") + "\n");
  EXPECT_EQ(result.from, "en");
  EXPECT_EQ(result.to, "fr");
  EXPECT_EQ(result.lines.size(), 4u);
  EXPECT_TRUE(result.via.empty());
}

TEST_F(TranslationsTest, APairWithoutAModelGoesThroughAThirdLanguage) {
  const auto translations = open({"de-en=" + one_.path, "en-fr=" + other_.path});
  dragoman::Translator first = alone(one_), second = alone(other_);
  dragoman::Options last = with(short_ones, "en");
  last.emplace_back("nbest", 3);
  const dragoman::Translation wanted =
      second.translate(first.translate("A dog barks.", with(short_ones, "de")).text(), last);
  const TextResult result = translated(
      *translations,
      {.text = "A dog barks.", .from = "de", .to = "fr", .options = short_ones, .alternatives = 2});
  EXPECT_EQ(result.text, wanted.text());
  EXPECT_EQ(result.via, std::vector<std::string>{"en"});
  ASSERT_EQ(result.alternatives.size(), 2u);
  EXPECT_EQ(result.alternatives[0], wanted.hypotheses[1].text);
  EXPECT_EQ(translations->pairs().size(), 3u);
  // The second model would read the source again, or the first one's translations as those that are wanted.
  for (const char* format : {"po", "xliff", "xcstrings", "tmx"}) {
    const TextWork file = {.text = "msgid \"A dog\"\nmsgstr \"\"\n",
                           .format = format,
                           .name = "file",
                           .from = "de",
                           .to = "fr",
                           .options = short_ones};
    EXPECT_NE(message_of([&] { translated(*translations, file); }).find("cannot be translated through en"),
              std::string::npos)
        << format;
  }
}

// Its translation by the first model is plain text.
TEST_F(TranslationsTest, APdfGoesThroughAThirdLanguage) {
  if (std::ranges::none_of(dragoman::document_formats(), [](const auto& f) { return f.name == "pdf"; }))
    GTEST_SKIP() << "this build has no poppler";
  const auto translations = open({"de-en=" + one_.path, "en-fr=" + other_.path});
  dragoman::Translator first = alone(one_), second = alone(other_);
  const std::string pdf = pdf_file({{{50, 100, 10, "A dog barks."}}});
  const std::string english =
      translate_document(first, {.bytes = pdf, .name = "report.pdf", .options = with(short_ones, "de")})
          .bytes;
  const TextResult result = translated(
      *translations,
      {.text = pdf, .format = "pdf", .name = "report.pdf", .from = "de", .to = "fr", .options = short_ones});
  EXPECT_EQ(result.text,
            translate_document(second, {.bytes = english, .name = "a.txt", .options = with(short_ones, "en")})
                .bytes);
}

TEST_F(TranslationsTest, PairsComeInTheOrderOfTheModels) {
  const auto translations = open({"en-fr=" + one_.path, "en-de=" + other_.path, "ar-en=" + one_.path});
  std::vector<std::string> pairs;
  for (const ServedPair& pair : translations->pairs()) pairs.push_back(pair.from + "-" + pair.to);
  EXPECT_EQ(pairs, (std::vector<std::string>{"en-fr", "en-de", "ar-en", "ar-de", "ar-fr"}));
}

TEST_F(TranslationsTest, HtmlKeepsItsTags) {
  const auto translations = open({"en-fr=" + one_.path});
  const std::string html = "<p>The <b>cat</b> sleeps.</p>";
  dragoman::Translator model = alone(one_);
  dragoman::Options options = short_ones;
  options.emplace_back("split-sentences", "en");
  const TextResult result = translated(
      *translations, {.text = html, .format = "html", .from = "en", .to = "fr", .options = short_ones});
  EXPECT_EQ(result.text,
            translate_document(model, {.bytes = html, .name = "page.html", .options = options}).bytes);
}

TEST_F(TranslationsTest, EmptyLinesShareOneRequest) {
  const auto translations = open({"en-fr=" + one_.path});
  const auto text_of = [&](const std::string& text) {
    return translated(*translations, {.text = text, .from = "en", .to = "fr", .options = short_ones});
  };
  const auto requests = [&] { return translations->models().front().translator->statistics().requests; };
  const std::string ends(10'000, '\n'), cat = text_of("The cat sleeps.").text;
  const uint64_t before = requests();
  const TextResult result = text_of(ends + "The cat sleeps.\r\n\r\n");
  EXPECT_EQ(result.text, ends + cat + "\r\n\r\n");
  ASSERT_EQ(result.lines.size(), 10'003u);
  EXPECT_EQ(result.lines.back().hypotheses.size(), 1u);
  EXPECT_EQ(requests() - before, 2u);
}

TEST_F(TranslationsTest, ADocumentIsCountedBeforeItIsTranslated) {
  const auto translations = open({"en-fr=" + one_.path});
  TextWork work = {.text = "<p title='x'>The <b>cat</b></p><p>sleeps</p>",
                   .format = "html",
                   .name = "text",
                   .from = "en",
                   .to = "fr",
                   .options = short_ones};
  size_t counted = 0;
  work.on_read = [&](size_t characters) { counted = characters; };
  translated(*translations, work);
  EXPECT_EQ(counted, 14u);
  work.on_read = [](size_t) { throw ServeError(413, "too many"); };
  EXPECT_THROW(translated(*translations, work), ServeError);
}

// A text of two lines has two translations of a line each.
TEST_F(TranslationsTest, AMemoryAddsNoLines) {
  const TemporaryFolder folder;
  MemoryBuilder builder(folder.path("memory"), "en", "fr");
  builder.add({"Hello", "Bonjour\nle\rmonde"});
  builder.add({"The cat sleeps.", "Le chat dort."});
  builder.finish();
  const MemoryStore store({folder.path("memory")});
  const auto translations = open({"en-fr=" + one_.path});
  const TextResult result = translated(*translations, {.text = "Hello\nThe cat sleeps.",
                                                       .from = "en",
                                                       .to = "fr",
                                                       .options = short_ones,
                                                       .memories = store.all()});
  EXPECT_EQ(result.text, "Bonjour le monde\nLe chat dort.");
}

// While a large document is translated, others are; and it begins while others are.
TEST_F(TranslationsTest, ALargeDocumentLeavesRoomForOthers) {
  TranslationsSettings small = settings();
  small.texts = 8;
  small.characters = 200;
  const auto translations = open_translations({"en-fr=" + one_.path}, small);
  std::promise<void> release;
  const std::shared_future<void> released = release.get_future().share();
  std::promise<TextResult> done;
  translations->translate({.text = std::string(1000, ' ') + "<p>The cat</p>",
                           .format = "html",
                           .name = "text",
                           .from = "en",
                           .to = "fr",
                           .options = short_ones,
                           .on_read = [&](size_t) { released.wait(); }},
                          [&](std::future<TextResult> result) { done.set_value(result.get()); });
  EXPECT_FALSE(translations->overload());
  EXPECT_NE(
      translated(*translations, {.text = "A dog.", .from = "en", .to = "fr", .options = short_ones}).text,
      "");
  release.set_value();
  EXPECT_NE(done.get_future().get().text, "");
}

TEST_F(TranslationsTest, ReportsTheWholeText) {
  TranslationsSettings one_by_one = settings();  // a line begins once those before it are done
  one_by_one.translator.batch = 1;
  const auto translations = open_translations({"en-fr=" + one_.path}, one_by_one);
  std::vector<std::pair<std::string, size_t>> reports;
  const TextResult result =
      translated(*translations,
                 {.text = "The cat sleeps.\nA dog barks.\nIt is cold.",
                  .from = "en",
                  .to = "fr",
                  .options = short_ones,
                  .on_progress = [&](const Progress& p) { reports.emplace_back(p.text, p.final_bytes); }});
  const std::string first_line = result.lines[0].text() + "\n";
  bool is_first_line_final = false;
  for (const auto& [text, final_bytes] : reports) {
    EXPECT_EQ(text.substr(0, final_bytes), result.text.substr(0, final_bytes));
    if (final_bytes >= first_line.size() && text.starts_with(first_line)) is_first_line_final = true;
  }
  EXPECT_TRUE(is_first_line_final) << reports.size() << " reports";
}

TEST_F(TranslationsTest, RefusesWhatItCannotDoAtOnce) {
  const auto translations = open({"en-fr=" + one_.path});
  const auto refused = [&](TextWork work) {
    return message_of([&] { translations->translate(std::move(work), [](auto) { FAIL(); }); });
  };
  EXPECT_EQ(refused({.text = "x", .from = "xx"}), "no model translates from \"xx\", only from en");
  EXPECT_EQ(refused({.text = "x", .from = "en", .to = "de"}),
            "no model translates from en to \"de\", only to fr");
  EXPECT_NE(refused({.text = "x", .from = "en", .options = {{"bean", 1}}}).find("beam"), std::string::npos);
  EXPECT_NE(refused({.text = "x\ny", .from = "en", .prefix = "z"}).find("one line, but this one has 2"),
            std::string::npos);
}

TEST_F(TranslationsTest, ADocumentThatCannotBeReadIsItsSendersError) {
  const auto translations = open_translations({"en-fr=" + one_.path}, settings());
  const TextWork work = {.text = "The <x>cat", .format = "xml", .name = "text", .from = "en", .to = "fr"};
  const auto refuses = [](const std::function<void()>& read) {
    try {
      read();
      ADD_FAILURE() << "it was read";
    } catch (const dragoman::Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::usage);
      EXPECT_EQ(std::string(error.what()).substr(0, 26), "text: line 1: invalid XML:");
    }
  };
  refuses([&] { translated(*translations, work); });
  refuses([&] { text_of_document(work); });
}

TEST_F(TranslationsTest, SaysWhenAsMuchWaitsAsMay) {
  TranslationsSettings one_text = settings();
  one_text.texts = 1;
  const auto translations = open_translations({"en-fr=" + one_.path}, one_text);
  EXPECT_FALSE(translations->overload());
  std::promise<void> release;
  std::promise<TextResult> done;
  const std::shared_future<void> released = release.get_future().share();
  translations->translate({.text = "The cat sleeps.",
                           .from = "en",
                           .options = short_ones,
                           .on_progress = [&](const Progress&) { released.wait(); }},
                          [&](std::future<TextResult> result) { done.set_value(result.get()); });
  EXPECT_TRUE(translations->overload());
  EXPECT_THROW(translations->translate({.text = "x", .from = "en"}, [](auto) { FAIL(); }), Overloaded);
  release.set_value();
  done.get_future().get();
  EXPECT_TRUE(eventually([&] { return !translations->overload(); }));
}

TEST_F(TranslationsTest, RefusesTwoModelsOfOnePair) {
  EXPECT_NE(message_of([&] {
              open({"en-fr=" + one_.path, "en-fr=" + other_.path});
            }).find("en to fr"),
            std::string::npos);
  EXPECT_NE(message_of([&] { open({one_.path}); }).find("--model en-fr="), std::string::npos);
}

// Also while its texts come in one after the other.
TEST_F(TranslationsTest, ADocumentEndsWithItsDeadline) {
  const auto translations = open({"en-fr=" + one_.path});
  std::string html;
  for (int i = 0; i < 3000; ++i) html += "<p>The cat sleeps " + std::to_string(i) + " times.</p>";
  const auto begin = std::chrono::steady_clock::now();
  try {
    translated(*translations, {.text = html,
                               .format = "html",
                               .from = "en",
                               .to = "fr",
                               .options = {{"max-length", 60}, {"max-length-ratio", 0.0}, {"min-length", 60}},
                               .deadline = begin + std::chrono::milliseconds(200)});
    ADD_FAILURE() << "it was translated";
  } catch (const dragoman::Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::expired) << error.what();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

// Sure of a language by the text's first letter.
class LettersModel : public LanguageIdentifier {
 public:
  std::vector<std::pair<std::string, double>> probabilities(const std::string& line) const override {
    EXPECT_LE(line.size(), 3 * 4096u);
    EXPECT_EQ(line.find('\n'), line.npos);
    return {
        {"en", line.starts_with("e") ? 0.9 : 0.05}, {"no", line.starts_with("n") ? 0.8 : 0.05}, {"zh", 0.01}};
  }
};

TEST(Detector, ChoosesAmongWhatIsServed) {
  const LanguageDetector detector(std::make_unique<LettersModel>());
  EXPECT_EQ(detector.detect("e", {"en", "nb"}).front().language, "en");
  EXPECT_EQ(detector.detect("n", {"en", "nb"}).front().language, "nb");
  EXPECT_EQ(detector.detect("n", {"en", "zh"}).front().language, "en");
  EXPECT_LT(detector.detect("n", {"en", "zh"}).front().confidence, 0.25);
  EXPECT_EQ(detector.detect("n", {"fr"}).front().confidence, 0);
  EXPECT_EQ(detector.detect("e", {"nb", "en-GB", "en-US"}).front().language, "en-GB")
      << "as it is written anywhere";
  EXPECT_EQ(detector.detect("e", {"en-GB", "en"}).front().language, "en");
  for (const auto& text :
       {std::string(100'000, 'e'), std::string(100'000, '\xff'), std::string("e\n\xe2\x82")})
    EXPECT_EQ(detector.detect(text, {"en", "nb"}).size(), 2u);
}

TEST(Detector, ReadsNothingButItsFile) {
  const std::string path = testing::TempDir() + "not-a-detector.ftz";
  for (const std::string& bytes : {std::string("\xba\x16\x4f\x2f"), std::string(938'013, 'x')}) {
    write_file(path, {bytes});
    EXPECT_NE(message_of([&] { LanguageDetector{path}; }).find("tools/get_detector"), std::string::npos);
  }
}

TEST(Languages, ALanguageIsFoundByItsOnlyRegion) {
  const auto found = [](const std::set<std::string>& codes, const char* written) {
    return ServedLanguages::find(codes, written).value_or("");
  };
  EXPECT_EQ(found({"en", "pt-BR"}, "PT"), "pt-BR");
  EXPECT_EQ(found({"en", "pt-BR", "pt-PT"}, "pt"), "");
  EXPECT_EQ(found({"en", "pt", "pt-PT"}, "pt"), "pt");
  EXPECT_EQ(found({"en", "pt", "pt-PT"}, "pt-BR"), "pt");
  EXPECT_EQ(found({"pt-BR"}, "pt-PT"), "");
  EXPECT_EQ(found({"zh-Hant"}, "zh"), "") << "another script";
}

TEST_F(TranslationsTest, ATextFindsTheOnlyRegionOfItsLanguage) {
  const auto translations = open({"en-pt-BR=" + one_.path});
  const TextWork work = {.text = "x", .from = "en", .to = "pt", .options = short_ones};
  EXPECT_EQ(translated(*translations, work).to, "pt-BR");
  EXPECT_EQ(translations->languages(), translations->languages()) << "they are not built anew";
}

TEST(Languages, APairIsFoundInAName) {
  EXPECT_EQ(pair_of("opus-mt-en-fr"), LanguagePair("en", "fr"));
  EXPECT_EQ(pair_named("en-pt-BR"), LanguagePair("en", "pt-BR"));
  EXPECT_EQ(pair_named("zh-Hant-en"), LanguagePair("zh-Hant", "en"));
  EXPECT_FALSE(pair_of("demo"));
}

}  // namespace
}  // namespace dragoman::internal
