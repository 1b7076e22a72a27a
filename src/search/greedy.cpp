#include "search/greedy.h"

#include <numeric>

namespace dragoman {
namespace {

// The sentences that have not ended: what each says next, and where it is kept.
struct Active {
  std::vector<int32_t> sentences;  // indices: also their slots in the cache
  std::vector<int32_t> last;       // the token that each said last
};

Spans spans_of(Pool& pool, const std::vector<Span>& all, const std::vector<int32_t>& chosen) {
  std::vector<Span> spans;
  for (const int32_t i : chosen) spans.push_back(all[static_cast<size_t>(i)]);
  return Spans(pool, spans);
}

// The most probable token after `length` tokens of each active sentence.
std::vector<int32_t> next_tokens(Transformer& model, Memory& memory, Cache& cache, const Active& active,
                                 const std::vector<Span>& source_spans, int32_t length) {
  Device& device = model.device;
  Pass pass{device};
  const size_t count = active.sentences.size();
  const std::vector<int32_t> ones(count, 1), lengths(count, length);
  const std::vector<uint64_t> pairs(count, 0);
  const Tokens tokens = pack_tokens(device, active.last, ones, pairs, static_cast<uint32_t>(length));
  const Spans sources = spans_of(device.pool, source_spans, active.sentences);
  memory.spans = &sources;
  const CacheStep step = cache_step(device, cache, active.sentences, lengths);
  const Tensor scores = next_word_logits(pass, model, decode(pass, model, tokens, memory, &step));
  Array<int32_t> best(device.pool, scores.rows());
  device.kernels.arg_max(device.context, scores, best.data());
  return {best.data(), best.data() + best.size()};
}

}  // namespace

std::vector<std::vector<int32_t>> decode_greedily(Transformer& model, const PackedSide& source,
                                                  const GreedyOptions& options) {
  Device& device = model.device;
  Pass pass{device};
  const std::vector<uint64_t> pairs(source.lengths.size(), 0);
  const Tokens tokens = pack_tokens(device, source.ids, source.lengths, pairs);
  const auto all = tokens.spans.spans.values();
  const std::vector<Span> source_spans(all.begin(), all.end());
  Memory memory = remember(pass, model, encode(pass, model, tokens), tokens.spans);
  Cache cache(device.pool, model.config.decoder_layers, source.sentences(), options.max_length,
              model.config.d_model);

  std::vector<std::vector<int32_t>> outputs(source.lengths.size());
  Active active = {.sentences = std::vector<int32_t>(outputs.size()),
                   .last = std::vector<int32_t>(outputs.size(), options.start)};
  std::iota(active.sentences.begin(), active.sentences.end(), 0);
  for (int32_t length = 0; length < options.max_length && !active.sentences.empty(); ++length) {
    const std::vector<int32_t> next = next_tokens(model, memory, cache, active, source_spans, length);
    Active still;
    for (size_t i = 0; i < next.size(); ++i) {
      if (next[i] == options.end) continue;
      outputs[static_cast<size_t>(active.sentences[i])].push_back(next[i]);
      still.sentences.push_back(active.sentences[i]);
      still.last.push_back(next[i]);
    }
    active = std::move(still);
  }
  return outputs;
}

}  // namespace dragoman
