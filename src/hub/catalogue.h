// The addresses and names of published models: share/hub.toml, which is part of the program.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dragoman::internal {

struct Catalogue {
  struct HuggingFace {
    std::string file;  // the address of a file of a model, with {model} and {file}
    std::vector<std::string> required, optional, weights;
    std::map<std::string, std::string> short_names;  // by their beginning
    std::map<std::string, std::string> aliases;      // whole names that stand for others
    std::vector<std::string> known;                  // OWNER/NAME
  } huggingface;
  struct Argos {
    std::string index;
  } argos;
  struct Firefox {
    std::string index, files;
  } firefox;
};

const Catalogue& catalogue();

}  // namespace dragoman::internal
