#include <sstream>

#include <fasttext/fasttext.h>

#include "base/error.h"
#include "serve/fasttext.h"

namespace dragoman::internal {
namespace {

constexpr std::string_view label_prefix = "__label__";

class Classifier : public fasttext::FastText {
 public:
  explicit Classifier(std::istream& in) {
    if (!checkModel(in)) throw Error("the detector's file is not a fastText model");
    loadModel(in);
  }
};

class FastTextModel : public LanguageIdentifier {
 public:
  explicit FastTextModel(std::istream&& in) : model_(in) {}

  std::vector<std::pair<std::string, double>> probabilities(const std::string& line) const override {
    std::istringstream in(line + "\n");
    std::vector<std::pair<fasttext::real, std::string>> predicted;
    std::vector<std::pair<std::string, double>> all;
    if (!model_.predictLine(in, predicted, model_.getDictionary()->nlabels(), 0)) return all;
    for (const auto& [probability, label] : predicted)
      all.emplace_back(label.substr(label_prefix.size()), probability);
    return all;
  }

 private:
  Classifier model_;
};

}  // namespace

std::unique_ptr<LanguageIdentifier> read_fasttext(const std::string& bytes) {
  return std::make_unique<FastTextModel>(std::istringstream(bytes));
}

}  // namespace dragoman::internal
