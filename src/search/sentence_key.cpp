#include "search/sentence_key.h"

#include <type_traits>
#include <vector>

namespace dragoman::internal {
namespace {

class Key {
 public:
  template <class Value>
  void add(const Value& value) {
    static_assert(std::is_arithmetic_v<Value> || std::is_enum_v<Value> || std::is_pointer_v<Value>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add(const std::vector<int32_t>& ids) {
    add(ids.size());
    bytes_.append(reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(int32_t));
  }

  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// The binding does not compile once there is another option, which must then be added or left out here.
void add(Key& key, const SearchOptions& options) {
  const auto& [from, to, split_sentences, beam, nbest, beam_ending, length_penalty, penalty_form,
               length_offset, max_length, max_length_ratio, forced_end, min_length, min_length_ratio,
               no_repeat_ngram, repetition_penalty, prefix_bias, shortlist, always_allow, coverage_penalty,
               replace_unknown, alignment, alignment_layer, sample, temperature, top_k, top_p, seed] =
      options;
  const auto add_all = [&](const auto&... values) { (key.add(values), ...); };
  add_all(beam, nbest, beam_ending, length_penalty, penalty_form, length_offset, max_length, max_length_ratio,
          forced_end, min_length, min_length_ratio, no_repeat_ngram, repetition_penalty, prefix_bias,
          coverage_penalty, sample, temperature, top_k, top_p, seed);
}

void add(Key& key, const SearchTerms& terms) {
  key.add(terms.all.size());
  if (terms.all.empty()) return;
  key.add(terms.attention_layer);
  for (const SearchTerm& term : terms.all) {
    key.add(term.begin);
    key.add(term.end);
    key.add(term.forms.size());
    for (const TermForm& form : term.forms) {
      key.add(form.tokens);
      key.add(form.preferred);
    }
  }
}

}  // namespace

std::string sentence_key(const SearchRequest& request) {
  Key key;
  key.add(request.source);
  key.add(request.other_sources.size());
  for (const std::vector<int32_t>& source : request.other_sources) key.add(source);
  key.add(request.start.has_value());
  if (request.start) key.add(request.start->all());
  key.add(request.prefix);
  add(key, request.terms);
  add(key, request.options);
  key.add(request.shortlist);
  key.add(request.attention_layer);
  return key.take();
}

}  // namespace dragoman::internal
