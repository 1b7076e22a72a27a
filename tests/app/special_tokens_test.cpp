// A vocabulary of another system, whose special tokens are not 0, 1 and 2, from preparing to translating.
#include "app/translating_commands.h"
#include "base/random.h"
#include "text/spm_file.h"

namespace dragoman::internal {
namespace {

const std::vector<std::string> numbers = {"one", "two", "three", "four", "five", "six", "seven", "eight"};
const std::vector<std::string> zahlen = {"eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht"};

class SpecialTokensTest : public TranslatingCommands {
 protected:
  SpecialTokensTest() {
    Random random(1);
    std::string source, target;
    for (int i = 0; i < 1500; ++i) {
      std::string separator;
      for (uint64_t words = 1 + random.below(4); words > 0; --words, separator = " ") {
        const uint64_t word = random.below(numbers.size());
        source += separator + numbers[word];
        target += separator + zahlen[word];
      }
      source += "\n";
      target += "\n";
    }
    Lines both = lines_of(source + target);
    write("shared.spm", spm_file(both, 50, special_));
    write("source", source);
    write("target", target);
  }

  const SpecialTokens special_ = {.unknown = 5, .start = 3, .end = 4};
};

TEST_F(SpecialTokensTest, OtherIdsTrainAndTranslate) {
  write("toy.toml", "[data]\nsource = \"" + file("source") + "\"\ntarget = \"" + file("target") +
                        "\"\nhold_out = 20\n[vocabulary]\nshared = true\nfrom = \"" + folder_.path +
                        "\"\n[model]\nd_model = 32\nheads = 2\nd_ff = 64\nencoder_layers = 1\n"
                        "decoder_layers = 1\n[training]\nbatch_tokens = 500\nmax_steps = 400\n"
                        "schedule = \"cosine\"\nlearning_rate = 0.005\nwarmup = 50\n"
                        "[validation]\nmetrics = \"bleu\"\n");
  const std::string out = file("run");
  const std::string pairs = run("prepare " + file("toy.toml") + " --show 1 --shortlist 5 --out " + out);
  EXPECT_NE(pairs.find("input   <s>"), std::string::npos) << pairs;
  EXPECT_NE(pairs.find("</s>\n"), std::string::npos) << pairs;
  run("train " + file("toy.toml") + " --out " + out);
  const std::string input = "two five eight\none\nseven three six four\n",
                    expected = "zwei fünf acht\neins\nsieben drei sechs vier\n";
  EXPECT_EQ(run("translate --model " + out, input), expected);
  EXPECT_EQ(run("translate --shortlist --model " + out, input), expected);
}

}  // namespace
}  // namespace dragoman::internal
