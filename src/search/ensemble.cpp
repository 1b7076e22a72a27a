#include "search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "model/attentions.h"
#include "model/caches.h"
#include "search/attention.h"
#include "search/beam/beam.h"

namespace dragoman::internal {
namespace {

// How far known states count, by measurement (docs/memories.md).
constexpr float known_temperature = 0.01F, known_reach = 0.35F, known_most = 0.95F;

int64_t count(const AllowedWords& allowed) { return static_cast<int64_t>(allowed.words.size()); }

// The end of the rows of one sentence.
int64_t end_of_sentence(std::span<const OpenRow> rows, int64_t begin) {
  const auto is_other = [&](const OpenRow& row) {
    return row.allowed != rows[static_cast<size_t>(begin)].allowed;
  };
  return std::find_if(rows.begin() + begin, rows.end(), is_other) - rows.begin();
}

int64_t most_words(std::span<const OpenRow> rows) {
  int64_t most = 0;
  for (const OpenRow& row : rows) most = std::max(most, count(*row.allowed));
  return most;
}

// The logits of each row's allowed words, from those of all words.
Tensor picked_logits(Device& device, std::span<const OpenRow> rows, const Tensor& all_words) {
  std::vector<ColumnList> lists;
  for (const OpenRow& row : rows) lists.push_back({row.allowed->words_there.data(), count(*row.allowed)});
  const Array<ColumnList> lists_there(device.pool, lists);
  Tensor logits(device.pool, all_words.rows(), most_words(rows));
  device.kernels.pick_columns(device.context, all_words, lists_there.data(), logits.matrix());
  return logits;
}

// The logits of each sentence's allowed words, by its own part of the generator.
Tensor allowed_logits(const Transformer& model, size_t member, std::span<const OpenRow> rows,
                      const Tensor& decoded) {
  const int64_t widest = most_words(rows);
  Tensor logits(model.device.pool, decoded.rows(), widest);
  for (int64_t begin = 0; begin < decoded.rows();) {
    const int64_t end = end_of_sentence(rows, begin);
    const AllowedWords& allowed = *rows[static_cast<size_t>(begin)].allowed;
    const Tensor own = logits.row_range(begin, end - begin);
    next_word_logits(model, allowed.generators[member], decoded.row_range(begin, end - begin),
                     own.column_range(0, count(allowed)).matrix());
    model.device.memory.fill(own.column_range(count(allowed), widest - count(allowed)).matrix(),
                             no_probability);
    begin = end;
  }
  return logits;
}

// For each row of an encoder's or decoder's output 0, or NaN where the row is not finite. It ends with a norm, of which
// all elements are finite or none. It is looked at here, since not everything that follows must keep a NaN.
Tensor zero_if_finite(Device& device, const Tensor& output) {
  const Tensor zeros(device.pool, output.rows(), 1);
  device.memory.fill(zeros.matrix(), 0);
  device.kernels.multiply_elements(device.context, output.column_range(0, 1), zeros, zeros.matrix());
  return zeros;
}

// Scores of rows of `decoded` that are not finite get a NaN, which the softmax spreads over the row. A device does it
// by itself: nobody waits for it.
void spoil_rows(Device& device, const Tensor& decoded, const Tensor& scores) {
  if (scores)
    device.kernels.add(device.context, 1, zero_if_finite(device, decoded),
                       scores.column_range(0, 1).matrix());
}

// Mixes a further model's log-probabilities into `mean`. A row that is not finite in one of the models is NaN there in
// all columns, and so it is in their mean.
void add_to_mean(Device& device, const Tensor& own, int64_t models, const Tensor& mean) {
  device.kernels.mix_log_probabilities(device.context, own, 1 / static_cast<float>(models), mean.matrix());
}

// What a step must collect for the layers that its rows ask for: nothing, one attention, or all of them.
std::optional<AttentionProbe> probe_for(const ModelConfig& config, std::span<const OpenRow> rows) {
  int64_t only = 0;
  for (const OpenRow& row : rows) {
    if (row.attention_layer > 0 && row.attention_layer != only) only = only == 0 ? row.attention_layer : -1;
    if (only < 0) return AttentionProbe{};
  }
  if (only == 0) return std::nullopt;
  return AttentionProbe{.only = cross_attention_number(config, only)};
}

}  // namespace

Ensemble::Member Ensemble::member_of(Transformer& model) {
  return {.model = &model, .sources = source_cache(model), .targets = target_cache(model)};
}

Ensemble::Ensemble(const Models& models, const Fusion& fusion) {
  known_states_.key_values.emplace_back(models[0]->device.pool, 0, models[0]->config.d_model);
  for (Transformer* model : models) {
    CHECK(&model->device == &models[0]->device, "the models of an ensemble on several devices");
    members_.push_back(member_of(*model));
  }
  const auto weight = static_cast<float>(fusion.weight);
  if (fusion.language_model == nullptr || weight == 0) return;
  members_.push_back(member_of(*fusion.language_model));
  fusion_weight_ = weight;
}

bool Ensemble::reads_newest_rows_only() const {
  return std::ranges::all_of(members_, [](const Member& member) { return has_ssru(member.model->config); });
}

AllowedWords Ensemble::allow(std::vector<int32_t> words) const {
  AllowedWords allowed = {.words = std::move(words)};
  if (PackedRows::possible(device())) {
    for (const Member& member : members_)
      allowed.generators.push_back(partial_generator(*member.model, allowed.words));
  } else {
    allowed.words_there = Array<int32_t>(device().pool, allowed.words);
  }
  return allowed;
}

Tensor Ensemble::encode(size_t index, const PackedSide& sources, std::span<const int32_t> rows) {
  Member& member = members_[index];
  Pass pass{device()};
  const std::vector<uint64_t> pairs(sources.lengths.size());  // only dropout asks, and nothing drops here
  const Tokens tokens = pack_tokens(device(), sources.ids, sources.lengths, pairs);
  const Tensor encoded = dragoman::internal::encode(pass, *member.model, tokens);
  cache_cross_attention(pass, *member.model, encoded, member.sources, rows);
  return zero_if_finite(device(), encoded);
}

void Ensemble::keep_states(const PackedSide& sources, const PackedSide& read, std::span<const int32_t> rows) {
  Pass pass{device()};
  const std::vector<uint64_t> pairs(sources.lengths.size());  // only dropout asks, and nothing drops here
  const Tokens source = pack_tokens(device(), sources.ids, sources.lengths, pairs),
               target = pack_tokens(device(), read.ids, read.lengths, pairs);
  Transformer& model = *members_[0].model;
  const Tensor states = decode(pass, model, target, memory_of(pass, model, source));
  reserve(device(), known_states_, std::ranges::max(rows) + 1);
  const Array<int32_t> to(device().pool, rows);
  device().kernels.scatter_rows(device().context, states, to.data(), known_states_.key_values[0].matrix());
}

// The decoder's output for each row's newest token, whose keys and values, or states, it puts into the cache.
Tensor Ensemble::decode_next(size_t index, std::span<const OpenRow> rows, AttentionProbe* probe) {
  Member& member = members_[index];
  Device& device = member.model->device;
  std::vector<int32_t> last, positions;
  std::vector<std::span<const int32_t>> own, sources;
  for (const OpenRow& row : rows) {
    last.push_back(row.last);
    positions.push_back(row.position);
    own.push_back(row.rows);
    sources.push_back(is_language_model(index) ? std::span<const int32_t>() : row.source_rows[index]);
  }
  Pass pass{.device = device, .probe = probe};
  const std::vector<int32_t> ones(last.size(), 1);
  const std::vector<uint64_t> pairs(last.size());  // only dropout asks, and nothing drops here
  const Tokens tokens = pack_tokens(device, last, ones, pairs, positions);
  const KeyRows seen = key_rows(device, sources);
  const EncodedSource memory = {
      .spans = &seen.spans, .rows = &seen.rows, .key_values = member.sources.key_values};
  const CacheStep step = cache_step(device, member.targets, own);
  return decode(pass, *member.model, tokens, memory, &step);
}

void Ensemble::keep_attention(std::span<const OpenRow> rows, AttentionProbe probe, NextScores& scores) const {
  const ModelConfig& config = members_[0].model->config;
  for (int64_t layer = 1; layer <= config.decoder_layers; ++layer) {
    const int64_t number = cross_attention_number(config, layer);
    if (probe.only >= 0 && probe.only != number) continue;
    Tensor& weights = probe.weights[probe.only >= 0 ? 0 : static_cast<size_t>(number)];
    scores.attended_.push_back(
        {layer, decoder_heads(config), alignment_heads(config, layer), std::move(weights)});
  }
  for (const OpenRow& row : rows) scores.wanted_.push_back({row.attention_layer, row.source_rows[0].size()});
}

// The logits of one model.
Ensemble::Scored Ensemble::next_logits(size_t index, std::span<const OpenRow> rows) {
  Transformer& model = *members_[index].model;
  auto probe = index == 0 ? probe_for(model.config, rows) : std::nullopt;
  const Tensor decoded = decode_next(index, rows, probe ? &*probe : nullptr);
  const auto has_all_words = [](const OpenRow& row) { return row.allowed->words.empty(); };
  CHECK(std::ranges::is_partitioned(rows, has_all_words), "rows with allowed words come last");
  const int64_t count = std::ranges::count_if(rows, has_all_words), others = decoded.rows() - count;
  const Tensor of_all = decoded.row_range(0, count), of_some = decoded.row_range(count, others);
  const std::span<const OpenRow> some = rows.subspan(static_cast<size_t>(count));
  Tensor all_words, allowed;
  Pass pass{model.device};
  if (others == 0 || !PackedRows::possible(model.device)) {
    const Tensor logits = next_word_logits(pass, model, decoded);
    if (count > 0) all_words = logits.row_range(0, count);
    if (others > 0) allowed = picked_logits(model.device, some, logits.row_range(count, others));
  } else {
    if (count > 0) all_words = next_word_logits(pass, model, of_all);
    allowed = allowed_logits(model, index, some, of_some);
  }
  spoil_rows(model.device, of_all, all_words);
  spoil_rows(model.device, of_some, allowed);
  NextScores scores(model.device, all_words, allowed);
  if (probe) keep_attention(rows, std::move(*probe), scores);
  return {std::move(scores), decoded};
}

// Rows of one sentence have one list.
void Ensemble::mix_known(std::span<const OpenRow> rows, const Tensor& states, NextScores& scores) {
  std::vector<Span> spans;
  std::vector<int32_t> known, words;
  int64_t longest = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const KnownStates* own = rows[r].known;
    if (own == nullptr) {
      spans.push_back({});
    } else if (r > 0 && rows[r - 1].known == own) {
      spans.push_back(spans.back());
    } else {
      spans.push_back({static_cast<int32_t>(known.size()), static_cast<int32_t>(own->rows.size())});
      known.insert(known.end(), own->rows.begin(), own->rows.end());
      words.insert(words.end(), own->words.begin(), own->words.end());
      longest = std::max(longest, std::ssize(own->rows));
    }
  }
  if (longest == 0) return;
  scores.normalise();
  const Array<Span> spans_there(device().pool, spans);
  const Array<int32_t> rows_there(device().pool, known), words_there(device().pool, words);
  const auto mix = [&](const Tensor& of, int64_t first) {
    if (!of) return;
    const Tensor weights(device().pool, of.rows(), longest);
    device().kernels.mix_nearest(device().context,
                                 {.spans = spans_there.data() + first,
                                  .rows = rows_there.data(),
                                  .words = words_there.data(),
                                  .temperature = known_temperature,
                                  .reach = known_reach,
                                  .most = known_most},
                                 states.row_range(first, of.rows()), known_states_.key_values[0],
                                 weights.matrix(), of.matrix());
  };
  mix(scores.all_words_, 0);
  mix(scores.allowed_, scores.all_words_ ? scores.all_words_.rows() : 0);
}

NextScores Ensemble::next(std::span<const OpenRow> rows) {
  auto [mean, states] = next_logits(0, rows);
  const size_t models = members_.size() - (fusion_weight_ != 0 ? 1 : 0);
  for (size_t i = 1; i < members_.size(); ++i) {
    NextScores own = next_logits(i, rows).scores;
    mean.normalise();
    own.normalise();
    if (i == models) mix_known(rows, states, mean);
    i < models ? mean.mix(own, static_cast<int64_t>(i + 1)) : mean.add(own, fusion_weight_);
  }
  if (models == members_.size()) mix_known(rows, states, mean);
  return std::move(mean);
}

NextScores::NextScores(Device& device, Tensor all_words, Tensor allowed)
    : device_(device), all_words_(std::move(all_words)), allowed_(std::move(allowed)) {}

Tensor NextScores::range(size_t begin, size_t rows) const {
  const int64_t first = static_cast<int64_t>(begin), count = static_cast<int64_t>(rows);
  const int64_t without = all_words_ ? all_words_.rows() : 0;
  return first < without ? all_words_.row_range(first, count) : allowed_.row_range(first - without, count);
}

void NextScores::normalise() {
  if (normalised_) return;
  for (const Tensor* scores : {&all_words_, &allowed_})
    if (*scores) device_.kernels.log_softmax(device_.context, scores->matrix());
  normalised_ = true;
}

void NextScores::mix(const NextScores& own, int64_t models) {
  if (all_words_) add_to_mean(device_, own.all_words_, models, all_words_);
  if (allowed_) add_to_mean(device_, own.allowed_, models, allowed_);
}

// A word that the model excludes has −∞, and keeps it whatever the language model says.
void NextScores::add(const NextScores& own, float weight) {
  const auto add = [&](const Tensor& from, const Tensor& to) {
    if (to) device_.kernels.add(device_.context, weight, from, to.matrix());
  };
  add(own.all_words_, all_words_);
  add(own.allowed_, allowed_);
}

Tensor NextScores::log_probabilities(size_t begin, size_t rows) {
  const Tensor scores = range(begin, rows);
  if (!normalised_) device_.kernels.log_softmax(device_.context, scores.matrix());
  return scores;
}

void NextScores::top(size_t begin, size_t rows, int64_t count, Element* largest) const {
  const Kernels& kernels = device_.kernels;
  const auto top_of = normalised_ ? kernels.top : kernels.top_log_probabilities;
  top_of(device_.context, range(begin, rows), count, largest);
}

std::vector<float> NextScores::attention(size_t row) {
  const auto [layer, keys] = wanted_.at(row);
  const auto found = std::ranges::find(attended_, layer, &Attended::layer);
  CHECK(found != attended_.end(), "the attention of layer {}", layer);
  if (!found->values) found->values.emplace(found->weights.values());
  const int64_t columns = found->weights.columns();
  return mean_over_heads(found->values->data() + static_cast<int64_t>(row) * columns, found->aligning,
                         columns / found->heads, static_cast<int64_t>(keys));
}

bool has_finite(std::span<const float> row) {
  return std::ranges::any_of(row, [](float x) { return std::isfinite(x); });
}

}  // namespace dragoman::internal
