#include "app/decoding_speed.h"

#include <algorithm>
#include <latch>
#include <numeric>

#include "base/lines.h"
#include "base/random.h"
#include "kernels/machine_peaks.h"
#include "model/caches.h"
#include "search/segments.h"
#include "search/simple_jobs.h"
#include "search/translator.h"

namespace dragoman::internal {
namespace {

constexpr int32_t first_word = 3;

std::vector<std::vector<int32_t>> random_sentences(int64_t sentences, int64_t length, int64_t vocabulary) {
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

// The cross-attention's, of each layer.
std::vector<Tensor> keys_and_values(Pass& pass, const Transformer& model, const Tensor& encoded) {
  Cache cache = source_cache(model);
  std::vector<int32_t> rows(static_cast<size_t>(encoded.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  cache_cross_attention(pass, model, encoded, cache, rows);
  return cache.key_values;
}

}  // namespace

DecodingWork random_work(const ModelConfig& config, const DecodingLoad& load) {
  return {.sources = random_sentences(load.sentences, load.length, config.source_vocabulary),
          .options = {.beam = load.beam,
                      .max_length = load.length,
                      .max_length_ratio = 0,
                      .min_length = load.length},
          .settings = {.end = -1, .sentences = load.batch}};
}

DecodingWork work_of_text(const SavedModel& model, const std::string& path, const DecodingLoad& load) {
  DecodingWork work = {
      .sources = {}, .options = model.search, .settings = search_settings(model, {.sentences = load.batch})};
  work.options.beam = load.beam;
  work.options.nbest = 1;
  const Direction direction = model.direction(work.options);
  work.settings.start = direction.start;
  LineReader reader(path);
  for (std::string_view line; reader.next(line);) {
    for (Segment& segment : split_line(model, line, direction))
      work.sources.push_back(std::move(segment.ids));
  }
  return work;
}

DecodingRounds::DecodingRounds(Transformer& model, const DecodingLoad& load, DecodingWork work)
    : model_(model),
      load_(load),
      work_(std::move(work)),
      scheduler_(work_.settings.sentences, /*reserved=*/0, /*cache_bytes=*/0),
      searches_(scheduler_, {&model}, work_.settings, load.searches),
      outputs_(work_.sources.size()) {
  searches_.start();
}

RoundSize DecodingRounds::size() const {
  RoundSize size = {.sentences = std::ssize(outputs_)};
  for (const auto& source : work_.sources) size.sources += std::ssize(source);
  for (const auto& output : outputs_) size.outputs += std::ssize(output);
  size.steps = size.outputs + (work_.settings.end < 0 ? 0 : size.sentences);
  return size;
}

double DecodingRounds::seconds() {
  const double start = dragoman::internal::seconds();
  if (load_.kept == DecodingCache::all) {
    search();
  } else {
    for (size_t begin = 0; begin < work_.sources.size(); begin += static_cast<size_t>(load_.batch)) {
      const size_t count = std::min(work_.sources.size() - begin, static_cast<size_t>(load_.batch));
      decode_without_cache(begin, count);
    }
  }
  return dragoman::internal::seconds() - start;
}

void DecodingRounds::search() {
  std::latch unfinished(std::ssize(outputs_));
  for (size_t i = 0; i < outputs_.size(); ++i) {
    SearchRequest request = {.source = work_.sources[i], .options = work_.options};
    request.options.seed = static_cast<int64_t>(i);  // so that equal sentences are not translated once
    const auto on_end = [this, i, &unfinished](const JobEnd&, const FoundSentence& found) {
      if (!found.hypotheses.empty()) outputs_[i] = found.hypotheses[0].hypothesis.tokens;
      unfinished.count_down();
    };
    scheduler_.add(std::make_unique<RequestJob>(std::move(request), on_end), {});
  }
  unfinished.wait();
}

// Greedy, without the keys and values of the target tokens before.
void DecodingRounds::decode_without_cache(size_t begin, size_t count) {
  Device& device = model_.device;
  Pass pass{device};
  const auto tokens_of = [&](std::span<const std::vector<int32_t>> all) {
    PackedSide packed;
    for (const auto& ids : all) packed.add(ids.data(), ids.data() + ids.size());
    return pack_tokens(device, packed.ids, packed.lengths, std::vector<uint64_t>(all.size()));
  };
  const Tokens source = tokens_of(std::span(work_.sources).subspan(begin, count));
  EncodedSource memory = {.encoded = {}, .spans = &source.spans};
  std::vector<std::vector<int32_t>> outputs(count, {1});
  const Array<Element> top(device.pool, static_cast<int64_t>(count));
  for (int64_t step = 1; step <= load_.length; ++step) {
    if (step == 1 || load_.kept == DecodingCache::none) memory.encoded = encode(pass, model_, source);
    if (step == 1 && load_.kept == DecodingCache::cross)
      memory.key_values = keys_and_values(pass, model_, memory.encoded);
    const Tokens target = tokens_of(outputs);
    const Tensor decoded = decode(pass, model_, target, memory);
    const Tensor last(device.pool, static_cast<int64_t>(count), decoded.columns());
    std::vector<int32_t> last_rows;
    for (int64_t i = 1; i <= last.rows(); ++i) last_rows.push_back(static_cast<int32_t>(i * step - 1));
    const Array<int32_t> from(device.pool, last_rows);
    device.kernels.gather_rows(device.context, decoded, from.data(), last.matrix());
    const Tensor logits = next_word_logits(pass, model_, last);
    device.kernels.top(device.context, logits, 1, top.data());
    const std::vector<Element> best = top.download();
    for (size_t i = 0; i < count; ++i) outputs[i].push_back(best[i].column);
  }
  for (size_t i = 0; i < count; ++i) outputs_[begin + i].assign(outputs[i].begin() + 1, outputs[i].end());
}

namespace {

struct WeightSizes {
  double encoder, memory,
      step;  // of the encoder; of the decoder: once for each source token, and at every step

  explicit WeightSizes(const ModelConfig& c) {
    const auto d = static_cast<double>(c.d_model), decoder_layers = static_cast<double>(c.decoder_layers);
    const double feed_forward = static_cast<double>(feed_forward_matrices(c)) * d;  // for each of d_ff
    const double encoder_square = d * static_cast<double>(attention_width(c, c.heads)),
                 square = d * static_cast<double>(attention_width(c, decoder_heads(c)));
    encoder = static_cast<double>(c.encoder_layers) *
              (4 * encoder_square + feed_forward * static_cast<double>(c.d_ff));
    memory = decoder_layers * 2 * square;
    step = decoder_layers * ((has_ssru(c) ? 2 * d * d : 4 * square) + 2 * square +
                             feed_forward * static_cast<double>(decoder_d_ff(c))) +
           d * static_cast<double>(c.target_vocabulary);
  }
};

double bytes_of(Precision precision) {
  return precision == Precision::int8 ? 1 : precision == Precision::bf16 ? 2 : 4;
}

}  // namespace

double products_of_round(const ModelConfig& config, const RoundSize& size, int64_t beam) {
  const WeightSizes weights(config);
  return static_cast<double>(size.sources) * (weights.encoder + weights.memory) +
         static_cast<double>(size.steps * beam) * weights.step;
}

double bytes_of_round(const ModelConfig& config, const RoundSize& size, int64_t batch, Precision precision) {
  const WeightSizes weights(config);
  const auto together = static_cast<double>(std::min(batch, size.sentences));
  return (static_cast<double>(size.sentences) * bytes_of(precision) * (weights.encoder + weights.memory) +
          static_cast<double>(size.steps) * bytes_of_step(config, precision)) /
         together;
}

double bytes_of_step(const ModelConfig& config, Precision precision) {
  return bytes_of(precision) * WeightSizes(config).step;
}

}  // namespace dragoman::internal
