// Terms in a prepared corpus.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.h"
#include "data/corpora.h"
#include "data/prepare_corpus.h"
#include "text/term_marks.h"

namespace dragoman::internal {
namespace {

std::string refusal(const DataConfig& data, const VocabularyConfig& vocabulary, const std::string& path) {
  try {
    prepare_corpus(data, vocabulary, path, 1);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(PrepareTerms, AreGivenInTheSourcesThatHaveThem) {
  const TemporaryFolder folder;
  const ToyText text = toy_text(500);
  DataConfig data = toy_data(folder, text);
  data.terms = folder.write("terms.tsv", "kalo\tlooka\nsunvar\tvarosun\nmiter\tteromi\n");
  data.terms_share = 1;
  const VocabularyConfig vocabulary = {.size = 90, .shared = true};
  const PreparedCorpus corpus = prepare_corpus(data, vocabulary, folder.path("data"), 2);
  EXPECT_EQ(corpus.counts.kept, 500);
  const Vocabulary& words = *corpus.vocabularies.source;
  const TermMarks marks = *term_marks(words);
  const std::vector<int32_t> given = words.encode("looka");
  size_t with_kalo = 0;
  std::vector<int32_t> source, target;
  for (const PairRecord& record : corpus.shards.at(0).pairs()) {
    corpus.shards[0].read(record, source, target);
    const std::string& line = text.source_lines[record.pair];
    EXPECT_EQ(words.decode(target), text.target_lines[record.pair]);
    const bool has_term =
        line.find("kalo") != line.npos || line.find("sunvar") != line.npos || line.find("miter") != line.npos;
    EXPECT_EQ(std::ranges::count(source, marks.begin) > 0, has_term) << line;
    if (!has_term) {
      EXPECT_EQ(words.decode(source), line);
    }
    with_kalo += std::search(source.begin(), source.end(), given.begin(), given.end()) != source.end();
  }
  EXPECT_GT(with_kalo, 10U);
}

TEST(PrepareTerms, NeedASharedVocabularyWithoutSampling) {
  const TemporaryFolder folder;
  DataConfig data = toy_data(folder, toy_text(50));
  data.terms = folder.write("terms.tsv", "kalo\tlooka\n");
  EXPECT_NE(refusal(data, {.size = 60}, folder.path("a")).find("data.terms needs one vocabulary for both"),
            std::string::npos);
  EXPECT_NE(refusal(data, {.size = 60, .shared = true, .sampling = 0.1}, folder.path("a"))
                .find("vocabulary.sampling"),
            std::string::npos);
  data.terms = "no such file";
  EXPECT_NE(refusal(data, {.size = 60, .shared = true}, folder.path("a")).find("no such file"),
            std::string::npos);
}

}  // namespace
}  // namespace dragoman::internal
