#include "search/ensemble.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

constexpr int64_t first_capacity = 32;  // tokens; the caches grow with the sentences
constexpr float never = -std::numeric_limits<float>::infinity();

int64_t count(const AllowedWords& allowed) { return static_cast<int64_t>(allowed.words.size()); }

// The end of the rows of one sentence.
int64_t end_of_sentence(std::span<const OpenRow> rows, int64_t begin) {
  const auto is_other = [&](const OpenRow& row) {
    return row.allowed != rows[static_cast<size_t>(begin)].allowed;
  };
  return std::find_if(rows.begin() + begin, rows.end(), is_other) - rows.begin();
}

// The logits of each sentence's own words, by its own part of the generator.
Tensor allowed_logits(const Transformer& model, size_t member, std::span<const OpenRow> rows,
                      const Tensor& decoded) {
  int64_t widest = 0;
  for (const OpenRow& row : rows) widest = std::max(widest, count(*row.allowed));
  Tensor logits(model.device.pool, decoded.rows(), widest);
  for (int64_t begin = 0; begin < decoded.rows();) {
    const int64_t end = end_of_sentence(rows, begin);
    const AllowedWords& allowed = *rows[static_cast<size_t>(begin)].allowed;
    const Tensor own = logits.row_range(begin, end - begin);
    next_word_logits(model, allowed.generators[member], decoded.row_range(begin, end - begin),
                     own.column_range(0, count(allowed)).matrix());
    for (; begin < end; ++begin)
      std::fill(logits.data() + begin * widest + count(allowed), logits.data() + (begin + 1) * widest, never);
  }
  return logits;
}

}  // namespace

Ensemble::Ensemble(Models models, int64_t sentences, int64_t width) {
  for (Transformer* model : models) {
    CHECK(&model->device == &models[0]->device, "the models of an ensemble on several devices");
    const ModelConfig& config = model->config;
    Pool& pool = model->device.pool;
    members_.push_back(
        {.model = model,
         .sources = {pool, config.decoder_layers, sentences, first_capacity, config.d_model},
         .targets = {pool, config.decoder_layers, sentences * width, first_capacity, config.d_model}});
  }
}

AllowedWords Ensemble::allow(std::vector<int32_t> words) const {
  AllowedWords allowed = {.words = std::move(words)};
  for (const Member& member : members_)
    allowed.generators.push_back(generator_part(*member.model, allowed.words));
  return allowed;
}

void Ensemble::encode(const PackedSide& sources, std::span<const int32_t> slots) {
  Pass pass{device()};
  const std::vector<uint64_t> pairs(slots.size());
  const Tokens tokens = pack_tokens(device(), sources.ids, sources.lengths, pairs);
  for (Member& member : members_) {
    const Tensor encoded = dragoman::encode(pass, *member.model, tokens);
    store(device(), remember(pass, *member.model, encoded, tokens.spans), member.sources, slots);
  }
}

// The decoder's output for each row's newest token, which its caches have from here on.
Tensor Ensemble::decode_next(Member& member, std::span<const OpenRow> rows) {
  Device& device = member.model->device;
  std::vector<int32_t> last, slots, lengths;
  std::vector<Span> sources;
  for (const OpenRow& row : rows) {
    last.push_back(row.last);
    slots.push_back(row.slot);
    lengths.push_back(row.length);
    sources.push_back(member.sources.span(row.source_slot, row.source_length));
  }
  Pass pass{device};
  const std::vector<int32_t> ones(last.size(), 1);
  const std::vector<uint64_t> pairs(last.size());
  const Tokens tokens = pack_tokens(device, last, ones, pairs, lengths);
  const Spans spans(device.pool, sources);
  const Memory memory = {.encoded = {}, .spans = &spans, .key_values = member.sources.key_values};
  reserve(device, member.targets, std::ranges::max(lengths) + 1);
  const CacheStep step = cache_step(device, member.targets, slots, lengths);
  return decode(pass, *member.model, tokens, memory, &step);
}

Tensor Ensemble::logits_of(size_t member, std::span<const OpenRow> rows) {
  Transformer& model = *members_[member].model;
  const Tensor decoded = decode_next(members_[member], rows);
  if (!rows[0].allowed->words.empty()) return allowed_logits(model, member, rows, decoded);
  Pass pass{model.device};
  return next_word_logits(pass, model, decoded);
}

Tensor Ensemble::next_log_probabilities(std::span<const OpenRow> rows) {
  const Kernels& kernels = device().kernels;
  Tensor mean;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Tensor own = logits_of(i, rows);
    kernels.log_softmax(device().context, own.matrix());
    if (i == 0) {
      mean = own;
    } else {
      kernels.mix_log_probabilities(device().context, own, 1 / static_cast<float>(i + 1), mean.matrix());
    }
  }
  return mean;
}

void Ensemble::copy(std::span<const SlotCopy> copies) {
  for (Member& member : members_) copy_slots(device(), member.targets, copies);
}

}  // namespace dragoman
