// A step of a search: what it asks of the device, and what comes back.
#include <algorithm>
#include <tuple>
#include <utility>

#include "search/beam/rules.h"
#include "search/beam/sampling.h"
#include "search/search.h"

namespace dragoman::internal {
namespace {

enum class Choice {
  top,       // the most probable, whatever the other words are
  by_rules,  // the most probable, after rules that look at all words: the host waits for these, and for the best
  with_terms,  // the same, and terms that the output has
  drawn,       // by the host, from all words
};

}  // namespace

// Sentences whose rows go through a step together, one after the other.
struct Search::Group {
  bool shortlisted;
  Choice choice;
  size_t count;  // words chosen for each row
  std::vector<Sentence*> sentences = {};
  size_t first_row = 0, rows = 0;
  size_t first_choice = 0;  // of all rows' choices, which follow one another

  size_t choices() const { return rows * count; }
  auto kind() const { return std::tuple(shortlisted, choice, count); }
};

Search::Group Search::group_of(const Sentence& sentence) {
  const SearchOptions& options = sentence.request.options;
  const bool shortlisted = sentence.request.shortlist != nullptr;
  if (options.sample) return {shortlisted, Choice::drawn, 1};
  const size_t count = static_cast<size_t>(candidate_count(options)) + left_out(sentence.beam);
  if (!sentence.beam.terms.all.empty())
    return {shortlisted, Choice::with_terms, count + 1};  // the end mark, too
  const bool ruled = std::ranges::any_of(
      sentence.beam.open, [&](const Hypothesis& h) { return has_rules(sentence.beam, h, options); });
  return {shortlisted, ruled ? Choice::by_rules : Choice::top, count};
}

// Each group has kernel calls of its own: in a uniform batch there is one. Those with a shortlist come last.
std::vector<Search::Group> Search::groups() {
  std::vector<Group> groups;
  for (Sentence& sentence : active_) {
    Group group = group_of(sentence);
    auto place = std::ranges::lower_bound(groups, group.kind(), {}, &Group::kind);
    if (place == groups.end() || place->kind() != group.kind())
      place = groups.insert(place, std::move(group));
    place->sentences.push_back(&sentence);
  }
  return groups;
}

// Each open hypothesis of every sentence, with a row of its own for its newest token.
std::vector<OpenRow> Search::open_rows(std::span<Group> groups) {
  std::vector<OpenRow> rows;
  size_t choices = 0;
  for (Group& group : groups) {
    group.first_row = rows.size();
    group.first_choice = choices;
    for (Sentence* sentence : group.sentences) {
      const StartTokens& start = start_of(sentence->request);
      const size_t read = sentence->tokens_read;
      for (Hypothesis& h : sentence->beam.open) {
        h.rows.push_back(rows_.take());
        const bool for_terms = wants_attention(sentence->beam, h);
        rows.push_back({.last = read < start.size() ? start[read] : h.tokens.back(),
                        .position = static_cast<int32_t>(read),
                        .rows = h.rows,
                        .source_rows = sentence->source_rows,
                        .allowed = &sentence->allowed,
                        .attention_layer = for_terms ? sentence->beam.terms.attention_layer
                                                     : sentence->request.attention_layer,
                        .known = sentence->known.rows.empty() ? nullptr : &sentence->known});
      }
    }
    group.rows = rows.size() - group.first_row;
    choices += group.choices();
  }
  return rows;
}

void Search::ask_for_best(const Group& group, NextScores& scores, Element* best) {
  const auto count = static_cast<int64_t>(group.count);
  if (group.choice == Choice::top) return scores.top(group.first_row, group.rows, count, best);
  const Tensor log_probabilities = scores.log_probabilities(group.first_row, group.rows);
  apply_rules_and_draw(group, scores, log_probabilities);
  Device& device = ensemble_.device();
  device.kernels.top(device.context, log_probabilities, count, best);
}

// What may follow each open hypothesis, group after group. The host waits once for the best of all groups.
std::vector<Element> Search::choose(std::span<const Group> groups, NextScores& scores) {
  const Group& last = groups.back();
  const Array<Element> best(ensemble_.device().pool,
                            static_cast<int64_t>(last.first_choice + last.choices()));
  std::vector<Element> next;
  const auto draws = [](const Group& group) { return group.choice == Choice::drawn; };
  for (const Group& group : groups)
    if (!draws(group)) ask_for_best(group, scores, best.data() + group.first_choice);
  if (!std::ranges::all_of(groups, draws)) next = best.download();
  next.resize(static_cast<size_t>(best.size()));
  for (const Group& group : groups) {
    if (!draws(group)) continue;
    const Tensor log_probabilities = scores.log_probabilities(group.first_row, group.rows);
    std::ranges::copy(apply_rules_and_draw(group, scores, log_probabilities),
                      next.begin() + static_cast<std::ptrdiff_t>(group.first_choice));
  }
  return next;
}

// Of the rows that read the last start token, or a token of the output: what comes next attends to that.
void Search::keep_attention(const Group& group, NextScores& scores) {
  size_t row = group.first_row;
  for (Sentence* sentence : group.sentences) {
    const SearchRequest& request = sentence->request;
    const bool wanted = request.attention_layer > 0 && sentence->tokens_read + 1 >= start_of(request).size();
    for (Hypothesis& h : sentence->beam.open) {
      if (wanted) h.attention.push_back(std::make_shared<const std::vector<float>>(scores.attention(row)));
      ++row;
    }
  }
}

void Search::consider_terms(Sentence& sentence, const Hypothesis& hypothesis, NextScores& scores, size_t row,
                            const NextWords& next) {
  std::vector<float> attention;
  if (wants_attention(sentence.beam, hypothesis)) attention = scores.attention(row);
  sentence.choices.push_back(
      term_choices(sentence.beam, hypothesis, sentence.request.source, attention, next));
}

// One for each row where they are drawn, else none.
std::vector<Element> Search::apply_rules_and_draw(const Group& group, NextScores& scores,
                                                  const Tensor& log_probabilities) {
  HostView<float> values = log_probabilities.writable_values();
  float* row = values.data();
  size_t number = group.first_row;
  std::vector<Element> drawn;
  for (Sentence* sentence : group.sentences) {
    const SearchOptions& options = sentence->request.options;
    const std::span<const int32_t> words = sentence->allowed.words;
    const size_t columns = words.empty() ? static_cast<size_t>(log_probabilities.columns()) : words.size();
    uint64_t sample = 0;
    sentence->choices.clear();
    for (const Hypothesis& h : sentence->beam.open) {
      const NextWords next = {{row, columns}, words};
      row += log_probabilities.columns();
      sentence->failed |= !has_finite(next.log_probabilities);
      if (!sentence->beam.terms.all.empty()) consider_terms(*sentence, h, scores, number, next);
      ++number;
      apply_rules(sentence->beam, h, options, next);
      if (group.choice != Choice::drawn) continue;
      drawn.push_back(
          draw(next.log_probabilities, options, draw_key(options, sentence->key, sample++, h.tokens.size())));
    }
  }
  if (group.choice == Choice::drawn) values.discard();
  return drawn;
}

// A sentence fails if the model computes no finite number for what may follow.
void Search::advance(const Group& group, std::span<const Element> next) {
  next = next.subspan(group.first_choice);
  for (Sentence* sentence : group.sentences) {
    const size_t count = sentence->beam.open.size() * group.count;
    for (size_t i = 0; group.choice == Choice::top && i < count; i += group.count)
      sentence->failed |= next[i].column < 0;
    if (!sentence->failed) advance(*sentence, next.first(count));
    next = next.subspan(count);
  }
}

std::vector<SearchResult> Search::step() {
  const size_t first_new = encoded_;
  const std::vector<Tensor> zeros = encode_new_sources();
  if (!active_.empty()) {
    std::vector<Group> all = groups();
    NextScores scores = ensemble_.next(open_rows(all));
    const std::vector<Element> next = choose(all, scores);
    fail_where_not_finite(first_new, zeros);
    for (const Group& group : all) {
      keep_attention(group, scores);
      advance(group, next);
    }
  }
  return take_ended();
}

}  // namespace dragoman::internal
