#include "search/ensemble.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"

namespace dragoman {
namespace {

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
    model.device.memory.fill(own.column_range(count(allowed), widest - count(allowed)).matrix(), never);
    begin = end;
  }
  return logits;
}

// Whether each row has a finite number: mostly its first one.
bool have_numbers(const Tensor& rows) {
  const HostView<const float> values = rows.values();
  const auto columns = static_cast<size_t>(rows.columns());
  for (size_t begin = 0; begin < values.size(); begin += columns) {
    const auto row = values.span().subspan(begin, columns);
    if (std::ranges::none_of(row, [](float x) { return std::isfinite(x); })) return false;
  }
  return true;
}

}  // namespace

Ensemble::Ensemble(const Models& models) {
  for (Transformer* model : models) {
    CHECK(&model->device == &models[0]->device, "the models of an ensemble on several devices");
    const ModelConfig& config = model->config;
    const Cache empty = make_cache(model->device.pool, config.decoder_layers, config.d_model);
    members_.push_back({.model = model, .sources = empty, .targets = empty});
  }
}

AllowedWords Ensemble::allow(std::vector<int32_t> words) const {
  AllowedWords allowed = {.words = std::move(words)};
  for (const Member& member : members_)
    allowed.generators.push_back(partial_generator(*member.model, allowed.words));
  return allowed;
}

void Ensemble::encode(size_t index, const PackedSide& sources, std::span<const int32_t> rows) {
  Member& member = members_[index];
  Pass pass{device()};
  const std::vector<uint64_t> pairs(sources.lengths.size());  // only dropout asks, and nothing drops here
  const Tokens tokens = pack_tokens(device(), sources.ids, sources.lengths, pairs);
  const Tensor encoded = dragoman::encode(pass, *member.model, tokens);
  remember(pass, *member.model, encoded, member.sources, rows);
}

// The decoder's output for each row's newest token, which its caches have from here on.
Tensor Ensemble::decode_next(size_t index, std::span<const OpenRow> rows) {
  Member& member = members_[index];
  Device& device = member.model->device;
  std::vector<int32_t> last, positions;
  std::vector<std::span<const int32_t>> own, sources;
  for (const OpenRow& row : rows) {
    last.push_back(row.last);
    positions.push_back(static_cast<int32_t>(row.rows.size()) - 1);
    own.push_back(row.rows);
    sources.push_back(row.source_rows[index]);
  }
  Pass pass{device};
  const std::vector<int32_t> ones(last.size(), 1);
  const std::vector<uint64_t> pairs(last.size());  // only dropout asks, and nothing drops here
  const Tokens tokens = pack_tokens(device, last, ones, pairs, positions);
  const KeyRows seen = key_rows(device, sources);
  const Memory memory = {.spans = &seen.spans, .rows = &seen.rows, .key_values = member.sources.key_values};
  const CacheStep step = cache_step(device, member.targets, own);
  return decode(pass, *member.model, tokens, memory, &step);
}

Tensor Ensemble::logits_of(size_t index, std::span<const OpenRow> rows) {
  Transformer& model = *members_[index].model;
  const Tensor decoded = decode_next(index, rows);
  if (!rows[0].allowed->words.empty()) return allowed_logits(model, index, rows, decoded);
  Pass pass{model.device};
  return next_word_logits(pass, model, decoded);
}

Tensor Ensemble::next_log_probabilities(std::span<const OpenRow> rows) {
  const Kernels& kernels = device().kernels;
  Tensor mean;
  for (size_t i = 0; i < members_.size(); ++i) {
    const Tensor own = logits_of(i, rows);
    kernels.log_softmax(device().context, own.matrix());
    finite_ = finite_ && have_numbers(own);
    if (i == 0) {
      mean = own;
    } else {
      kernels.mix_log_probabilities(device().context, own, 1 / static_cast<float>(i + 1), mean.matrix());
    }
  }
  return mean;
}

std::vector<Element> Ensemble::top_next(std::span<const OpenRow> rows, int64_t count) {
  const Kernels& kernels = device().kernels;
  const Array<Element> top(device().pool, std::ssize(rows) * count);
  if (members_.size() > 1) {
    kernels.top(device().context, next_log_probabilities(rows), count, top.data());
    return top.download();
  }
  kernels.top_log_probabilities(device().context, logits_of(0, rows), count, top.data());
  std::vector<Element> likeliest = top.download();
  for (size_t first = 0; first < likeliest.size(); first += static_cast<size_t>(count))
    finite_ = finite_ && likeliest[first].column >= 0;
  return likeliest;
}

}  // namespace dragoman
