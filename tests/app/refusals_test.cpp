// What commands refuse before they begin: each in the sentence that says what to do.
#include "app/commands.h"
#include "base/error.h"
#include "search/model_folder.h"

namespace dragoman::internal {
namespace {

class Refusals : public testing::Test {
 protected:
  // `said` is all of the sentence, or what it has in it.
  template <class Kind = UsageError>
  void expect(void (*command)(const Arguments&), const Arguments& arguments, const std::string& said) {
    try {
      command(arguments);
      ADD_FAILURE() << "not refused: " << said;
    } catch (const Kind& error) {
      EXPECT_NE(std::string(error.what()).find(said), std::string::npos) << error.what();
    }
  }
  std::string write(const std::string& name, const std::string& text) const {
    write_file(model_.path + "/" + name, {text});
    return model_.path + "/" + name;
  }

  const ModelFolder model_{"model"};
  const std::string& m_ = model_.path;
};

TEST_F(Refusals, OfTranslate) {
  expect(translate, {}, "translate needs --model DIR");
  expect(translate, {"--model", m_, "--attention"}, "--attention needs --format json");
  expect(translate, {"--model", m_, "--pieces", "--format", "json"},
         "--pieces has no effect with --format json");
  expect(translate, {"--model", m_, "--prefix-bias", "0.5"},
         "--prefix-bias has no effect without --prefix FILE");
  expect(translate, {"--model", m_, "--prefix", "-"},
         "--prefix must name a file: standard input is for the text");
  expect(translate, {"--model", m_, "--prefix", "-", m_ + "/config.json", "-"}, "--prefix must name a file");
  expect(translate, {"--model", m_, "--language-model-weight", "0.2"},
         "--language-model-weight has no effect without --language-model DIR");
}

TEST_F(Refusals, OfSearching) {
  const auto refused = [&](Arguments arguments, const std::string& said) {
    arguments.insert(arguments.begin(), {"--model", m_});
    expect<Error>(translate, arguments, said);
    arguments.insert(arguments.end(), {"--source", "x", "--reference", "x"});
    expect<Error>(evaluate, arguments, said);
  };
  for (const std::string key : {"temperature", "top-k", "top-p", "seed"})
    refused({"--" + key, key == "top-p" ? "0.5" : "3"}, key + " has no effect without sample");
  refused({"--sample", "--beam", "2"},
          "beam has no effect with sample, where nbest is the number of samples");
  refused({"--always-allow", "x"}, "always-allow has no effect without shortlist");
  refused({"--shortlist", "--always-allow", "-"}, "always-allow must be a file");
  refused({"--length-penalty", "0", "--penalty-form", "plain"},
          "penalty-form has no effect where length-penalty");
  refused({"--coverage-penalty", "1", "--beam", "1"}, "coverage-penalty has no effect without a beam");
  refused({"--coverage-penalty", "1", "--sample"}, "coverage-penalty has no effect without a beam");
  refused({"--alignment-layer", "1"}, "alignment-layer has no effect without alignment");
  refused({"--min-length", "9", "--max-length", "8"}, "min-length is 9, but max-length is only 8");
  refused({"--min-length-ratio", "9"}, "min-length-ratio is 9, but max-length-ratio is only 3");
}

TEST_F(Refusals, OfTrainForAnotherSystem) {
  const std::string recipe = write("recipe.toml",
                                   "[data]\nsynthetic = \"copy\"\n[training]\nmax_steps = 1\n[vocabulary]\n"
                                   "source_eos = false\n");
  const std::string out = m_ + "/trained";
  expect(train, {recipe, "--out", out, "--for", "huggingface"},
         "--for huggingface: the recipe needs model.tied = \"all\" (or model.norm = \"post\"), "
         "model.norm_eps = 1e-5, vocabulary.source_eos = true");
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(Refusals, OfEvaluateAndScore) {
  const std::string empty = write("empty", "");
  expect(evaluate, {"--model", m_, "--source", "x"},
         "evaluate needs --model DIR, --source FILE and --reference");
  expect(evaluate, {"--model", m_, "--source", "x", "--reference", "x", "--nbest", "2"},
         "--nbest has no effect on");
  expect(evaluate, {"--model", m_, "--source", "-", "--reference", "-"},
         "standard input cannot be several files");
  expect<Error>(evaluate, {"--model", m_, "--source", empty, "--reference", empty}, empty + " is empty");
  expect(score, {"--model", m_, "--target", "x"},
         "score needs --source FILE: " + m_ + " is no language model");
  expect(score, {"--model", m_, "--source", "x"}, "score needs --model DIR, --source FILE and --target FILE");
  expect(score, {"--model", m_, "--source", "-", "--target", "-"}, "standard input cannot be several files");
  expect(score, {"--model", m_, "--source", empty, "--target", empty, "--alignment-layer", "1"},
         "--alignment-layer has no effect without --alignment");
}

TEST_F(Refusals, OfServe) {
  for (const std::string origin : {"example.org", "https://example.org/page"})
    expect(serve, {"--model", m_, "--cors", origin},
           "cors contains \"" + origin + "\", but an origin is like https://example.org");
}

TEST_F(Refusals, OfQuantizeAndAverage) {
  expect(quantize, {"--model", m_}, "quantize needs --model DIR and --out DIR");
  expect(quantize, {"--model", m_, "--out", m_}, m_ + " already holds a model: choose another folder");
  expect(export_model, {"--model", m_}, "export needs --model DIR and --out DIR");
  expect(export_model, {"--model", m_, "--out", m_}, m_ + " already holds a model: choose another folder");
  expect(export_model, {"--model", m_, "--format", "fairseq"}, "huggingface");
  expect(average, {m_, m_}, "average needs --out");
  expect(average, {m_, "--out", m_}, m_ + " already holds a model");
  expect(average, {m_, m_, "--last", "2", "--out", m_ + "/new"},
         "--last needs a single model, but 2 were given");
  const ModelFolder other("other", 40, true, {.kind = PieceKind::characters, .size = 45, .shared = true},
                          VocabularyConfig{.size = 45});
  expect<Error>(average, {m_, other.path, "--out", m_ + "/new"},
                m_ + " and " + other.path + " have different vocabularies and cannot be averaged");
}

TEST_F(Refusals, OfAnUnknownInstructionSet) {
  setenv("DRAGOMAN_ISA", "mmx", 1);
  expect<Error>(quantize, {"--model", m_, "--out", m_ + "/new"}, "DRAGOMAN_ISA");
  expect<Error>(average, {m_, m_, "--out", m_ + "/new"}, "DRAGOMAN_ISA");
  unsetenv("DRAGOMAN_ISA");
}

TEST_F(Refusals, OfExplain) {
  const std::string needs = "explain needs --model DIR, --source SENTENCE and --target SENTENCE";
  expect(explain, {"--source", "cat", "--target", "cat"}, needs);
  expect(explain, {"--model", m_, "--source", "cat"}, needs);
  expect(explain, {"--model", m_, "--target", "cat"},
         "explain needs --source SENTENCE: " + m_ + " translates");
  const std::vector<std::string> pair = {"--model", m_, "--source", "cat", "--target", "cat"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), pair.begin(), pair.end());
    return more;
  };
  expect(explain, with({"--step", "atention"}), "did you mean attention?");
  expect(explain, with({"--layer", "9"}), "layer is 9, but the model has 2 layers: count from 1");
  expect(explain, with({"--head", "9"}), "head is 9, but the model has 2 heads: count from 1");
  expect(explain, with({"--step", "gradient", "--weight", "generator"}), "which the model does not have");
  expect(explain, with({"--format", "json", "--columns", "3"}), "--columns has no effect with --format json");
}

TEST_F(Refusals, OfInspect) {
  const std::string empty = write("empty", "\n \n"), one = write("one", "It is.\n");
  const std::string needs = "inspect needs --model DIR, and --text SENTENCE or a FILE";
  expect(inspect, {"--text", "cat"}, needs);
  expect(inspect, {"--model", m_, "--text", "cat", one},
         "inspect takes --text or a FILE: remove one of them");
  expect(inspect, {"--model", m_, "--text", ""}, "--text is empty: give a sentence");
  expect(inspect, {"--model", m_, "--target", "cat", one}, "--target is the translation of one sentence");
  expect(inspect, {"--model", m_, "--format", "svg", one},
         "--format svg draws one sentence: give it with --text");
  for (const std::string key : {"attention", "layer"})
    expect(inspect, {"--model", m_, "--text", "cat", "--" + key, key == "layer" ? "1" : "cross"},
           "--" + key + " has no effect without --format svg");
  expect<Error>(inspect, {"--model", m_, "--out", m_ + "/page", empty},
                "inspect: the input contains no sentence");
  expect<Error>(inspect, {"--model", m_, "--out", m_ + "/page", "--text", "\u200b"}, "contains no words");
}

}  // namespace
}  // namespace dragoman::internal
