// The public library: one batch for requests from everywhere, each with the bytes that it has alone.
#include "dragoman/translator.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/message_of.h"
#include "base/files.h"
#include "base/log.h"
#include "base/random.h"
#include "dragoman/glossary.h"
#include "dragoman/log.h"
#include "search/model_folder.h"

namespace dragoman {
namespace {

using namespace std::chrono_literals;

// So many tokens that it does not end by itself.
const Options endless = {{"max-length", 100000}, {"max-length-ratio", 0.0}, {"min-length", 100000}};

class LibraryTest : public testing::Test {
 protected:
  // One of many requests that differ in everything.
  static Request mixed_request(uint64_t number) {
    internal::Random random(number);
    const auto& lines = internal::known_lines();
    Request request = {.text = lines[random.below(lines.size())]};
    switch (random.below(5)) {
      case 0:
        request.options = {{"beam", 1}};
        break;
      case 1:
        request.options = {{"beam", 4}, {"nbest", 3}, {"length-penalty", 1.0}};
        break;
      case 2:
        request.options = {{"sample", true}, {"nbest", 2}, {"seed", int64_t(number)}};
        break;
      case 3:
        request.options = {{"beam", 2}, {"min-length", 5}, {"no-repeat-ngram", 2}, {"alignment", true}};
        break;
      default:
        request.options = {{"beam", 3}};
        request.prefix = "A dog";
    }
    request.options.emplace_back("max-length", 12);
    return request;
  }

  internal::ModelFolder folder_{"library-model"};
  Translator translator_{folder_.path, {.threads = 1, .batch = 4}};
};

void expect_same(const Translation& got, const Translation& wanted) {
  EXPECT_EQ(got.source, wanted.source);
  ASSERT_EQ(got.hypotheses.size(), wanted.hypotheses.size());
  for (size_t i = 0; i < got.hypotheses.size(); ++i) {
    const Hypothesis &one = got.hypotheses[i], &other = wanted.hypotheses[i];
    EXPECT_EQ(one.text, other.text);
    EXPECT_EQ(one.score, other.score);
    ASSERT_EQ(one.tokens.size(), other.tokens.size());
    for (size_t t = 0; t < one.tokens.size(); ++t) {
      EXPECT_EQ(one.tokens[t].log_probability, other.tokens[t].log_probability);
      EXPECT_EQ(one.tokens[t].attention, other.tokens[t].attention);
    }
  }
}

TEST_F(LibraryTest, RequestsOfManyThreadsHaveTheBytesThatTheyHaveAlone) {
  constexpr uint64_t count = 120;
  std::vector<Translation> alone;
  for (uint64_t i = 0; i < count; ++i) alone.push_back(translator_.submit(mixed_request(i)).get());
  for (const int workers : {1, 2}) {
    Translator shared(folder_.path, {.threads = 2, .batch = 5, .workers = workers});
    std::vector<std::future<Translation>> futures(count);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (uint64_t i = t; i < count; i += 4) futures[i] = shared.submit(mixed_request(i));
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (uint64_t i = 0; i < count; ++i) expect_same(futures[i].get(), alone[i]);
  }
}

TEST_F(LibraryTest, ListsComeBackInTheirOrder) {
  std::vector<std::string> texts;
  for (size_t i = 0; i < 30; ++i) texts.push_back(internal::known_lines()[i % 4]);
  const Options options = {{"beam", 2}, {"max-length", 10}};
  const auto all = translator_.translate(texts, options);
  ASSERT_EQ(all.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) expect_same(all[i], translator_.translate(texts[i], options));
  EXPECT_TRUE(translator_.translate(std::span<const std::string>()).empty());
}

TEST_F(LibraryTest, OptionsAreCheckedWhenARequestIsSubmitted) {
  std::string message;
  EXPECT_EQ(kind_of(
                [&] {
                  translator_.submit({.text = "x", .options = {{"beem", 4}}});
                },
                &message),
            ErrorKind::usage);
  EXPECT_NE(message.find("beam"), message.npos) << message;
  const auto refusal = [&](const Options& options) {
    return kind_of([&] { translator_.translate("x", options); }, &message);
  };
  EXPECT_EQ(refusal({{"beam", 0}}), ErrorKind::usage);
  EXPECT_NE(message.find("1 to 1000"), message.npos) << message;
  EXPECT_EQ(refusal({{"beam", "wide"}}), ErrorKind::usage);
  EXPECT_EQ(refusal({{"beam", 2}, {"nbest", 3}}), ErrorKind::usage);
  EXPECT_EQ(refusal({{"alignment-layer", 99}, {"alignment", true}}), ErrorKind::usage);
  EXPECT_EQ(refusal({{"shortlist", true}}), ErrorKind::failure);
  EXPECT_NE(message.find("shortlist"), message.npos) << message;
  for (const uint64_t beam : {(uint64_t{1} << 32) + 3, UINT64_MAX})
    EXPECT_EQ(refusal({{"beam", beam}}), ErrorKind::usage) << beam;
  EXPECT_EQ(translator_.translate("It is cold.", {{"beam", size_t{4}}, {"max-length", short{5}}}).text(),
            translator_.translate("It is cold.", {{"beam", 4}, {"max-length", 5}}).text());
}

// Defaults of a model that was made to be searched in a certain way.
TEST_F(LibraryTest, AModelMayHaveOptionsOfItsOwn) {
  const std::string& line = internal::known_lines()[0];
  const auto translated = [&](const std::string& search, const Options& options) {
    const internal::ModelFolder folder("library-model-search");
    const std::string path = folder.path + "/config.json";
    nlohmann::json config = nlohmann::json::parse(internal::read_file(path));
    config["search"] = nlohmann::json::parse(search);
    internal::write_file(path, {config.dump()});
    return Translator(folder.path, {.threads = 1}).translate(line, options);
  };
  const char* defaults = R"({"beam": 3, "length-penalty": 1.0, "penalty-form": "plain", "max-length": 9})";
  const Options same = {{"beam", 3}, {"length-penalty", 1.0}, {"penalty-form", "plain"}, {"max-length", 9}};
  expect_same(translated(defaults, {}), translator_.translate(line, same));
  expect_same(translated(defaults, {{"max-length", 5}, {"nbest", 2}}),
              translator_.translate(line, {{"beam", 3},
                                           {"length-penalty", 1.0},
                                           {"penalty-form", "plain"},
                                           {"max-length", 5},
                                           {"nbest", 2}}));
  expect_same(
      translated(defaults, {{"sample", true}}),
      translator_.translate(
          line, {{"sample", true}, {"length-penalty", 1.0}, {"penalty-form", "plain"}, {"max-length", 9}}));
  for (const char* wrong : {R"({"beam": 0})", R"({"beams": 2})", R"({"nbest": 9})", "[3]"}) {
    std::string message;
    kind_of([&] { translated(wrong, {}); }, &message);
    EXPECT_NE(message.find("config.json"), std::string::npos) << message;
  }
}

TEST_F(LibraryTest, TermsComeOutAndAreChecked) {
  const Translation done =
      translator_.submit({.text = "The cat sleeps.", .terms = {{{4, 7}, {"dog barks"}}}}).get();
  EXPECT_NE(done.text().find("dog barks"), std::string::npos) << done.text();
  EXPECT_FALSE(done.terms_missed);
  EXPECT_TRUE(translator_.submit({.text = "The cat.", .terms = {{{4, 7}, {"Ж"}}}}).get().terms_missed);
  std::string message;
  const auto submit = [&](Term term) {
    return kind_of([&] { translator_.submit({.text = "Où est\xff", .terms = {term}}); }, &message);
  };
  EXPECT_EQ(submit({{3, 8}, {"a"}}), ErrorKind::usage);
  EXPECT_EQ(message,
            "term 1 spans 3 to 8, but the text has 7 characters: a term must cover at least one of them");
  EXPECT_EQ(submit({{3, 3}, {"a"}}), ErrorKind::usage);
  EXPECT_EQ(submit({{3, 4}, {}}), ErrorKind::usage);
  EXPECT_EQ(submit({{3, 4}, {"a", " "}}), ErrorKind::usage);
  EXPECT_EQ(message, "term 1 has no target, or a blank one: give at least one character");
}

TEST_F(LibraryTest, AGlossarysTermsAreThoseOfARequest) {
  const std::string path = testing::TempDir() + "glossary.tsv";
  internal::write_file(path, {"cat\tdog barks\n"});
  const Glossary glossary(path);
  std::string message;
  EXPECT_EQ(glossary.size(), 1U);
  const std::string text = "\xff The cat sleeps, cat.";
  const std::vector<Term> terms = glossary.terms(text);
  ASSERT_EQ(terms.size(), 2U);
  EXPECT_EQ(terms[0].source.begin, 6U);
  EXPECT_EQ(translator_.submit({.text = text, .terms = terms}).get().terms_missed, false);
  internal::write_file(path, {"cat\n"});
  EXPECT_EQ(kind_of([&] { Glossary again(path); }, &message), ErrorKind::failure);
  EXPECT_TRUE(message.starts_with(path + ":1: ")) << message;
}

TEST_F(LibraryTest, AGlossaryMayBeGivenAsEntries) {
  const Glossary glossary(std::vector<Glossary::Entry>{{"a | cat ", "=#|"}, {"cat", "dog"}});
  EXPECT_EQ(glossary.size(), 2U);
  EXPECT_EQ(glossary.terms("The cat sleeps.").at(0).targets, std::vector<std::string>{"dog"});
  EXPECT_EQ(glossary.terms("Is a | cat here?").at(0).targets, std::vector<std::string>{"=#|"});
  std::string message;
  const auto refused = [&](const Glossary::Entry& entry) {
    return kind_of([&] { Glossary(std::vector<Glossary::Entry>{{"a", "b"}, entry}); }, &message);
  };
  EXPECT_EQ(refused({"c", " \t"}), ErrorKind::failure);
  EXPECT_TRUE(message.starts_with("glossary:2: ")) << message;
  EXPECT_EQ(refused({std::string(501, 'x'), "y"}), ErrorKind::failure);
}

TEST_F(LibraryTest, OptionsAreListed) {
  const auto all = Translator::options();
  const auto find = [&](const std::string& name) {
    const auto place = std::ranges::find(all, name, &OptionInfo::name);
    EXPECT_NE(place, all.end()) << name;
    return *place;
  };
  EXPECT_EQ(find("beam").type, "integer");
  EXPECT_EQ(std::get<int64_t>(find("beam").default_value), 5);
  EXPECT_EQ(find("beam").limits, "1 to 1000");
  EXPECT_EQ(find("penalty-form").limits, "gnmt|plain");
  EXPECT_EQ(find("alignment").type, "boolean");
  EXPECT_EQ(find("prefix-bias").type, "number");
}

TEST_F(LibraryTest, AStopTokenCancels) {
  const auto stop = std::make_unique<std::stop_source>();  // on the heap: GCC 12 warns of one on the stack
  std::vector<std::future<Translation>> cancelled;
  for (int i = 0; i < 20; ++i) {
    cancelled.push_back(
        translator_.submit({.text = "The cat sleeps.", .options = endless, .stop = stop->get_token()}));
  }
  const Options options = {{"beam", 2}, {"max-length", 9}};
  const Translation wanted = Translator(folder_.path, {.threads = 1}).translate("It is cold.", options);
  auto other = translator_.submit({.text = "It is cold.", .options = options});
  stop->request_stop();
  for (auto& future : cancelled) EXPECT_EQ(kind_of([&] { future.get(); }), ErrorKind::cancelled);
  expect_same(other.get(), wanted);
  EXPECT_EQ(kind_of([&] { translator_.submit({.text = "x", .stop = stop->get_token()}).get(); }),
            ErrorKind::cancelled);
}

TEST_F(LibraryTest, ATimeoutExpires) {
  auto late = translator_.submit({.text = "The cat sleeps.", .options = endless, .timeout = 50ms});
  EXPECT_EQ(kind_of([&] { late.get(); }), ErrorKind::expired);
  EXPECT_FALSE(translator_.translate("It is cold.", {{"max-length", 5}}).hypotheses.empty());
  const auto longest = std::chrono::milliseconds::max();
  auto in_time =
      translator_.submit({.text = "It is cold.", .options = {{"max-length", 5}}, .timeout = longest});
  EXPECT_FALSE(in_time.get().hypotheses.empty());
}

TEST_F(LibraryTest, CallbacksAreCalledOnce) {
  std::atomic<int> called = 0;
  std::promise<std::string> text;
  translator_.submit({.text = "It is cold.", .options = {{"max-length", 6}}},
                     [&](std::future<Translation> done) {
                       ++called;
                       text.set_value(done.get().text());
                     });
  EXPECT_EQ(text.get_future().get(), translator_.translate("It is cold.", {{"max-length", 6}}).text());
  EXPECT_EQ(called, 1);
}

TEST_F(LibraryTest, WhatProgressCallsFinalStays) {
  size_t not_empty = 0;
  for (uint64_t i = 0; i < 40; ++i) {
    Request request = mixed_request(i);
    std::vector<std::string> finals;
    request.on_progress = [&](const Progress& progress) {
      ASSERT_LE(progress.final_bytes, progress.text.size());
      finals.emplace_back(progress.text.substr(0, progress.final_bytes));
    };
    const std::string text = translator_.submit(request).get().text();
    for (const std::string& final : finals) {
      EXPECT_TRUE(text.starts_with(final)) << "'" << final << "' of '" << text << "'";
      not_empty += !final.empty();
    }
  }
  EXPECT_GT(not_empty, 0u);
}

TEST_F(LibraryTest, GreedyProgressIsFinal) {
  std::vector<std::string> texts;
  const auto note = [&](const Progress& progress) {
    EXPECT_EQ(progress.final_bytes, progress.text.size());
    texts.emplace_back(progress.text);
  };
  const Options options = {{"beam", 1}, {"max-length", 10}, {"no-repeat-ngram", 3}};
  const std::string text =
      translator_.submit({.text = "Where is the station?", .options = options, .on_progress = note})
          .get()
          .text();
  ASSERT_FALSE(texts.empty());
  EXPECT_TRUE(text.starts_with(texts.back())) << "'" << texts.back() << "' of '" << text << "'";
}

TEST_F(LibraryTest, ScoresAreSumsOfTheirTokens) {
  const TextPair pair = {"The cat sleeps.", "A dog barks."};
  const Score score = translator_.score(std::span(&pair, 1), {.alignment = true})[0];
  double sum = 0;
  for (const float p : score.log_probabilities) sum += static_cast<double>(p);
  EXPECT_DOUBLE_EQ(sum, score.total);
  EXPECT_LT(score.total, 0);
  EXPECT_FALSE(score.alignment.empty());
  EXPECT_TRUE(std::isnan(translator_.score(std::span(&pair, 1), {.max_length = 2})[0].total));
}

TEST_F(LibraryTest, SeveralModelsAreNotScoredAsOne) {
  Translator two(std::vector<std::string>{folder_.path, folder_.path}, {.threads = 1});
  const TextPair pair = {"The cat sleeps.", "A dog barks."};
  EXPECT_EQ(kind_of([&] { two.score(std::span(&pair, 1)); }), ErrorKind::usage);
  EXPECT_EQ(kind_of([&] { two.inspect("The cat sleeps."); }), ErrorKind::usage);
}

TEST_F(LibraryTest, SettingsHaveTheLimitsOfTheCommands) {
  for (const TranslatorSettings& settings :
       {TranslatorSettings{.threads = 500'000'000}, TranslatorSettings{.batch = INT64_MAX},
        TranslatorSettings{.threads = 1, .workers = 1 << 30}})
    EXPECT_EQ(kind_of([&] { Translator(folder_.path, settings); }), ErrorKind::usage);
}

// A line of the log may come from where nothing may be thrown.
TEST_F(LibraryTest, WhatALogThrowsIsDropped) {
  set_log(LogLevel::debug, [](LogLevel, std::string_view) { throw std::runtime_error("no log"); });
  EXPECT_NO_THROW(Translator(folder_.path, {.threads = 1}).translate("It is cold."));
  EXPECT_NO_THROW(internal::log_warning("a warning"));
  set_log(LogLevel::off);
}

TEST_F(LibraryTest, ScoresComeBackInTheirOrder) {
  std::vector<TextPair> pairs;
  for (size_t i = 0; i < 300; ++i)
    pairs.push_back({internal::known_lines()[i % 4], internal::known_lines()[i % 3]});
  const auto scores = translator_.score(pairs);
  ASSERT_EQ(scores.size(), pairs.size());
  for (size_t i = 0; i < 12; ++i)
    EXPECT_EQ(scores[12 + i].total, translator_.score(std::span(pairs).subspan(i, 1))[0].total);
}

TEST_F(LibraryTest, ConfidenceOfWordsIsTheProductOfTheirTokens) {
  const auto best = translator_.translate("A dog barks at the cat.", {{"max-length", 20}}).hypotheses[0];
  double words = 1, tokens = 1;
  for (const WordConfidence& word : best.words()) words *= word.confidence;
  for (const Token& token : best.tokens) {
    if (token.span.end > token.span.begin) tokens *= std::exp(static_cast<double>(token.log_probability));
  }
  EXPECT_NEAR(words, tokens, 1e-9 * tokens);
  EXPECT_GT(best.confidence(), 0);
  EXPECT_LE(best.confidence(), 1);
}

TEST_F(LibraryTest, DamagedWeightsAreRefusedUnlessNobodyLooks) {
  const std::string path = folder_.path + "/model.safetensors";
  std::string bytes = internal::read_file(path);
  bytes.back() ^= 1;
  internal::write_file(path, {bytes});
  std::string message;
  EXPECT_EQ(kind_of([&] { Translator{folder_.path}; }, &message), ErrorKind::failure);
  EXPECT_NE(message.find("does not match its checksum"), message.npos) << message;
  EXPECT_FALSE(
      Translator(folder_.path, {.verify = false}).translate("x", {{"max-length", 2}}).hypotheses.empty());
}

TEST_F(LibraryTest, TellsWhatItIs) {
  const ModelInfo info = translator_.info();
  EXPECT_EQ(info.folder, folder_.path);
  EXPECT_EQ(info.precision, "fp32");
  EXPECT_EQ(info.threads, 1);
  EXPECT_GT(info.parameters, 1000);
  EXPECT_EQ(info.source_vocabulary, info.target_vocabulary);
  EXPECT_TRUE(nlohmann::json::parse(info.config).contains("model"));
  EXPECT_EQ(kind_of([] { Translator("/nowhere"); }), ErrorKind::failure);
}

}  // namespace
}  // namespace dragoman
