// The defaults of the search that a model's folder has: commands translate by them, and check options on top of them.
#include <nlohmann/json.hpp>

#include "app/translating_commands.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

class SearchDefaults : public TranslatingCommands {
 protected:
  void set(const char* table, const json& values) const {
    json config = json::parse(read_file(file("config.json")));
    config[json::json_pointer(table)] = values;
    write("config.json", config.dump());
  }
  std::string with_model(const std::string& arguments, int exit_code = 0, const std::string& input = "") {
    return run(arguments + " --model " + folder_.path, input, exit_code);
  }
};

TEST_F(SearchDefaults, AnInspectionTranslatesByThem) {
  set("/search", {{"beam", 2}, {"min-length", 7}, {"max-length", 7}});
  const json line = json::parse(with_model("translate --format json", 0, "A dog.\n")),
             seen = json::parse(with_model("inspect --format json --text 'A dog.'"))["sentences"][0];
  EXPECT_EQ(seen["target"], line["text"]);
  EXPECT_LE(seen["nbest"].size(), 2U);
}

TEST_F(SearchDefaults, AWiderBeamHasMoreOutputs) {
  set("/search", {{"beam", 6}, {"max-length", 9}});
  with_model("translate --nbest 6");
  with_model("inspect --format json --nbest 6 --text 'A dog.'");
  for (const std::string command :
       {"translate", "inspect --format json --text 'A dog.'", "calibrate --source none --reference none"}) {
    with_model(command + " --nbest 7", 2);
    EXPECT_EQ(errors_,
              "dragoman: the command line: nbest is 7, but a beam of 6 finds at most 6: widen the beam\n");
  }
}

// Where the files are missing, this is said only after the options were checked.
TEST_F(SearchDefaults, OptionsHaveAnEffectBesideThem) {
  set("/search", {{"max-length", 1000}, {"replace-unknown", true}, {"shortlist", true}});
  for (const std::string option : {"--min-length 600", "--alignment-layer 1", "--always-allow none"}) {
    with_model("translate " + option);
    for (const std::string command : {"evaluate", "calibrate"}) {
      with_model(command + " --source none --reference none " + option, 1);
      EXPECT_NE(errors_.find("No such file or directory"), std::string::npos) << errors_;
    }
  }
}

TEST_F(SearchDefaults, AGlossaryIsReadInTheModelsLanguages) {
  const auto term = [](const std::string& language, const std::string& word) {
    return "<langSet xml:lang=\"" + language + "\"><tig><term>" + word + "</term></tig></langSet>";
  };
  const std::string glossary =
      write("terms.tbx", "<?xml version=\"1.0\"?>\n<martif type=\"TBX\"><text><body>\n<termEntry>" +
                             term("de", "Hund") + term("en", "cat") + term("fr", "dog barks") +
                             "</termEntry>\n</body></text></martif>\n");
  set("/recipe/data/from", "en");
  set("/recipe/data/to", "fr");
  const std::string output =
      with_model("translate --max-length 20 --glossary " + glossary, 0, "The cat sleeps.\n");
  EXPECT_NE(output.find("dog barks"), std::string::npos) << output;
}

}  // namespace
}  // namespace dragoman::internal
