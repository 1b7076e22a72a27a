#include "app/decoding_speed.h"

#include <algorithm>

#include "app/limits.h"
#include "base/random.h"
#include "search/search.h"

namespace dragoman {
namespace {

constexpr int32_t first_word = 3;

std::vector<std::vector<int32_t>> made_up(int64_t sentences, int64_t length, int64_t vocabulary) {
  Random random(1);
  std::vector<std::vector<int32_t>> all(static_cast<size_t>(sentences),
                                        std::vector<int32_t>(static_cast<size_t>(length)));
  const auto words = static_cast<uint64_t>(std::max<int64_t>(1, vocabulary - first_word));
  for (auto& sentence : all) {
    for (int32_t& id : sentence)
      id = std::min(first_word, static_cast<int32_t>(vocabulary - 1)) +
           static_cast<int32_t>(random.below(words));
  }
  return all;
}

void search_once(Transformer& model, const DecodingLoad& load,
                 const std::vector<std::vector<int32_t>>& sentences) {
  const SearchOptions options = {
      .beam = load.beam, .max_length = load.length, .max_length_ratio = 0, .min_length = load.length};
  Search search({&model}, options, {.end = -1, .sentences = load.batch});
  for (size_t next = 0; next < sentences.size() || search.busy();) {
    while (next < sentences.size() && search.room() > 0) {
      search.add(next, {.source = sentences[next]});
      ++next;
    }
    search.step();
  }
}

// Greedy, without the keys and values of the steps before.
void decode_again_and_again(Transformer& model, const DecodingLoad& load,
                            std::span<const std::vector<int32_t>> sentences) {
  Device& device = model.device;
  Pass pass{device};
  const auto tokens_of = [&](std::span<const std::vector<int32_t>> all) {
    PackedSide packed;
    for (const auto& ids : all) packed.add(ids.data(), ids.data() + ids.size());
    return pack_tokens(device, packed.ids, packed.lengths, std::vector<uint64_t>(all.size()));
  };
  const Tokens source = tokens_of(sentences);
  Memory memory = {.encoded = {}, .spans = &source.spans};
  std::vector<std::vector<int32_t>> outputs(sentences.size(), {1});
  std::vector<Element> best(sentences.size());
  for (int64_t step = 1; step <= load.length; ++step) {
    if (step == 1 || load.kept == Kept::none) memory.encoded = encode(pass, model, source);
    const Tokens target = tokens_of(outputs);
    const Tensor decoded = decode(pass, model, target, memory);
    const Tensor last(device.pool, std::ssize(sentences), decoded.columns());
    for (int64_t i = 0; i < last.rows(); ++i) {
      const Tensor row = decoded.row_range((i + 1) * step - 1, 1);
      std::copy_n(row.data(), row.columns(), last.row_range(i, 1).data());
    }
    const Tensor logits = next_word_logits(pass, model, last);
    device.kernels.top(device.context, logits, 1, best.data());
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].push_back(best[i].column);
  }
}

}  // namespace

DecodingSpeed measure_decoding(Transformer& model, const DecodingLoad& load) {
  const auto sentences = made_up(load.sentences, load.length, model.config.source_vocabulary);
  const double start = seconds();
  if (load.kept == Kept::all) {
    search_once(model, load, sentences);
  } else {
    for (size_t begin = 0; begin < sentences.size(); begin += static_cast<size_t>(load.batch)) {
      const size_t count = std::min(sentences.size() - begin, static_cast<size_t>(load.batch));
      decode_again_and_again(model, load, std::span(sentences).subspan(begin, count));
    }
  }
  const double took = seconds() - start;
  return {took, static_cast<double>(load.sentences * load.length) / took};
}

namespace {

struct WeightSizes {
  double encoder, memory,
      step;  // of the encoder; of the decoder: once for each source token, and at every step

  explicit WeightSizes(const ModelConfig& c) {
    const auto d = static_cast<double>(c.d_model), ff = static_cast<double>(c.d_ff);
    encoder = static_cast<double>(c.encoder_layers) * (4 * d * d + 2 * d * ff);
    memory = static_cast<double>(c.decoder_layers) * 2 * d * d;
    step = static_cast<double>(c.decoder_layers) * (6 * d * d + 2 * d * ff) +
           d * static_cast<double>(c.target_vocabulary);
  }
};

}  // namespace

double products_of_sentence(const ModelConfig& config, const DecodingLoad& load) {
  const WeightSizes sizes(config);
  return static_cast<double>(load.length) *
         (sizes.encoder + sizes.memory + static_cast<double>(load.beam) * sizes.step);
}

double bytes_of_batch(const ModelConfig& config, const DecodingLoad& load, Precision precision) {
  const WeightSizes sizes(config);
  const double bytes = precision == Precision::int8 ? 1 : precision == Precision::bf16 ? 2 : 4;
  return bytes * (sizes.encoder + sizes.memory + static_cast<double>(load.length) * sizes.step);
}

}  // namespace dragoman
