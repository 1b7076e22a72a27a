// Terms in the beam of a model that copies its source word by word, and attends to the word that it copies: the output
// must be the source, with the targets in place of their terms.
#include "search/beam/term_beam.h"

#include <algorithm>
#include <cmath>

#include "search/model_folder.h"
#include "search/random_requests.h"

namespace dragoman::internal {
namespace {

using Ids = std::vector<int32_t>;

class CopyingModel {
 public:
  CopyingModel(const Vocabulary& vocabulary, Ids source, SearchTerms terms)
      : source_(std::move(source)), words_(static_cast<size_t>(vocabulary.size())) {
    beam_.end = vocabulary.special().end;
    beam_.max_length = 40;
    beam_.source_length = std::ssize(source_);
    beam_.terms = std::move(terms);
    beam_.term_costs.resize(beam_.terms.all.size());
    beam_.open[0].terms.states.resize(beam_.terms.all.size());
  }

  Hypothesis best(const SearchOptions& options) {
    while (!beam_.open.empty()) step(options);
    return beam_.finished.at(0);
  }

 private:
  // Which word is the next to be copied after these.
  size_t place_after(const Ids& output) const {
    size_t place = 0;
    for (size_t i = 0; i < output.size(); ++i) {
      if (place < source_.size() && output[i] == source_[place]) ++place;
      for (const SearchTerm& term : beam_.terms.all) {
        const Ids& form = term.forms[0].tokens;
        if (term.begin == place &&
            std::ranges::equal(std::span(output).subspan(i).first(std::min(form.size(), output.size() - i)),
                               form))
          place = term.end;
      }
    }
    return place;
  }

  void step(const SearchOptions& options) {
    std::vector<TermChoices> choices;
    std::vector<Element> next;
    const auto count = static_cast<size_t>(candidate_count(options)) + 1;
    for (const Hypothesis& h : beam_.open) {
      const size_t place = place_after(h.tokens);
      std::vector<float> row(words_, std::log(0.1F / static_cast<float>(words_)));
      row[static_cast<size_t>(place < source_.size() ? source_[place] : beam_.end)] = std::log(0.9F);
      std::vector<float> attention(source_.size(), 0.01F);
      if (place < source_.size()) attention[place] = 0.9F;
      if (!wants_attention(beam_, h)) attention.clear();
      choices.push_back(term_choices(beam_, h, source_, attention, {row}));
      std::vector<Element> elements;
      for (size_t id = 0; id < words_; ++id) elements.push_back({static_cast<int32_t>(id), row[id]});
      std::ranges::stable_sort(elements, std::greater{}, &Element::value);
      next.insert(next.end(), elements.begin(), elements.begin() + static_cast<std::ptrdiff_t>(count));
    }
    const bool single = options.beam == 1;
    std::vector<Candidate> candidates = expand_with_terms(beam_, next, choices, {}, single);
    single ? prune(candidates, 1) : prune_with_terms(beam_, candidates, options);
    finish(beam_, candidates, options);
  }

  const Ids source_;
  const size_t words_;
  Beam beam_;
};

class TermBeam : public testing::Test {
 protected:
  // Distinct words.
  Ids shuffled_words() {
    Ids ids;
    for (int32_t id = 3; id < vocabulary_.size(); ++id) ids.push_back(id);
    for (size_t i = ids.size(); i > 1; --i) std::swap(ids[i - 1], ids[random_.below(i)]);
    return ids;
  }

  const ModelFolder folder_{"term_beam", 40, true, {.kind = PieceKind::words, .size = 30, .shared = true}};
  const Vocabulary vocabulary_ = Vocabulary::read(folder_.path + "/shared.spm");
  const WordEdges edges_{vocabulary_};
  Random random_{11};
};

TEST_F(TermBeam, TargetsTakeThePlaceOfTheirTerms) {
  int misplaced = 0;  // a narrow beam may lose the best of several terms
  for (int round = 0; round < 300; ++round) {
    Ids ids = shuffled_words();
    const size_t length = 3 + random_.below(6);
    const Ids source(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(length));
    SearchTerms terms = {.edges = &edges_, .attention_layer = 1};
    Ids wanted;
    size_t used = length;
    for (size_t i = 0; i < length;) {
      const size_t end = std::min(i + 1 + random_.below(2), length), size = 1 + random_.below(3);
      if (random_.below(3) > 0 || used + size > ids.size()) {
        wanted.push_back(source[i++]);
        continue;
      }
      const Ids target(ids.begin() + static_cast<std::ptrdiff_t>(used),
                       ids.begin() + static_cast<std::ptrdiff_t>(used + size));
      terms.all.push_back({i, end, {{target}}});
      wanted.insert(wanted.end(), target.begin(), target.end());
      used += size;
      i = end;
    }
    for (const int64_t beam : {1, 2, 4, 5}) {
      for (const BeamEnding ending : {BeamEnding::shared, BeamEnding::separate}) {
        CopyingModel model(vocabulary_, source, terms);
        const Hypothesis best = model.best({.beam = beam, .beam_ending = ending});
        misplaced += best.tokens != wanted;
        EXPECT_EQ(best.terms.missed(), 0U);
      }
    }
  }
  EXPECT_LE(misplaced, 300 * 8 / 100);
}

// The model has written the beginning of a word, attends to the term, and would go on with one of two tokens.
TEST(TermBeamOfSubwords, NoTermBeginsInsideAWord) {
  const ModelFolder folder("term_beam_subwords");
  const Vocabulary vocabulary = Vocabulary::read(folder.path + "/shared.spm");
  const WordEdges edges(vocabulary);
  int32_t word = -1, rest = -1;
  for (int32_t id = 3; id < vocabulary.size(); ++id) {
    const bool begins = vocabulary.piece(id).starts_with("▁");
    if (begins && vocabulary.piece(id).size() > 3) word = id;
    if (!begins && word >= 0 && edges.joins(word, id)) rest = id;
  }
  ASSERT_TRUE(word >= 0 && rest >= 0);
  for (const bool single : {true, false}) {
    for (const float goes_on : {0.8F, 0.3F}) {
      Beam beam;
      beam.end = vocabulary.special().end;
      beam.max_length = 40;
      beam.terms = {.all = {{0, 1, {{{word}}}}}, .edges = &edges};
      beam.open[0].tokens = {word};
      beam.open[0].terms.states.resize(1);
      TermChoices choices;
      choices.attention = {0.9};
      choices.starts = {{0, 0, word, std::log(0.01F)}};
      std::vector<Element> next = {{rest, std::log(goes_on)}, {word, std::log(0.9F - goes_on)}};
      std::ranges::stable_sort(next, std::greater{}, &Element::value);
      const auto candidates = expand_with_terms(beam, next, std::span(&choices, 1), {}, single);
      const bool begins =
          std::ranges::any_of(candidates, [](const Candidate& c) { return c.term.begins == 0; });
      EXPECT_EQ(begins, goes_on < 0.5F) << single;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
