#include "report/inspection.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"
#include "model/attentions.h"
#include "report/colour_scale.h"
#include "report/host_matrix.h"
#include "report/numbers.h"
#include "report/page.h"
#include "search/score.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

// A text and its tokens. Spans are in code points.
struct Side {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<TextSpan> spans;
};

Side source_side(const SavedModel& model, const Direction& direction, const std::string& text) {
  std::vector<Segment> parts = split_line(model, text, direction);
  if (parts.empty()) throw Error("\"{}\" contains no words to inspect", text);
  if (parts.size() > 1) {
    throw Error("{} is longer than {} subwords: inspect needs a single, shorter sentence", in_quotes(text),
                model.readers[0].max_length);
  }
  return {text, std::move(parts[0].ids), in_code_points(text, parts[0].spans)};
}

Side given_side(const SavedModel& model, const StartTokens& start, const std::string& text) {
  PiecesOfText pieces = model.vocabularies.target->encode_with_spans(text);
  const int64_t tokens = std::ssize(pieces.ids) + std::ssize(start);
  if (tokens > model.max_positions)
    throw Error("the given translation has {} tokens, but the model has only {} positions", tokens,
                model.max_positions);
  return {text, std::move(pieces.ids), in_code_points(text, pieces.spans)};
}

Side translated_side(const SavedModel& model, const Translation& translation) {
  Side side = {.text = translation.text};
  for (const ScoredPiece& piece : translation.pieces) {
    side.ids.push_back(model.vocabularies.target->id(piece.piece));
    side.spans.push_back(piece.span);
  }
  return side;
}

PackedSide packed(const std::vector<int32_t>& ids) {
  PackedSide side;
  side.add(ids.data(), ids.data() + ids.size());
  return side;
}

ordered_json pieces_json(const Vocabulary& vocabulary, const std::vector<int32_t>& ids) {
  ordered_json list = ordered_json::array();
  for (const int32_t id : ids) list.push_back(vocabulary.piece(id));
  return list;
}

// The words of a text, and for each token the index of its word, or −1.
ordered_json words_json(const Side& side) {
  const std::vector<TextSpan> words = word_spans(side.text);
  ordered_json spans = ordered_json::array(), numbers = ordered_json::array();
  for (const TextSpan& word : words) spans.push_back({word.begin, word.end});
  for (const TextSpan& span : side.spans) numbers.push_back(word_at(words, span));
  return {{"spans", spans}, {"of_tokens", numbers}};
}

ordered_json attention_weight(float weight, bool thousandths) {
  if (thousandths) return std::lround(weight * 1000);
  return rounded_weight(weight);
}

// Each [query][head][key].
std::vector<HostMatrix> in_host_memory(const std::vector<Tensor>& layers) {
  std::vector<HostMatrix> all;
  for (const Tensor& layer : layers) all.push_back(on_host(layer));
  return all;
}

// What the model computes for a pair.
struct Computed {
  std::vector<float> log_probabilities;
  AttentionRows alignment;  // of the output's tokens
  std::vector<HostMatrix> encoder, decoder, cross;
};

Computed compute(SavedModel& model, const PackedSide& sources, const PackedSide& targets,
                 const PackedSide& read, const StartTokens& start, int64_t layer) {
  const int32_t end = model.vocabularies.target->special().end;
  const std::vector<uint64_t> pair(1);
  Device& device = model.device;
  Computed computed = {.log_probabilities = score_pairs(model.model, sources, targets, start, end)[0],
                       .alignment = attention_rows(model.model, sources, targets, start, layer)[0]};
  const Attentions found = attentions(model.model, pack_tokens(device, sources.ids, sources.lengths, pair),
                                      pack_tokens(device, read.ids, read.lengths, pair));
  computed.encoder = in_host_memory(found.encoder);
  computed.decoder = in_host_memory(found.decoder);
  computed.cross = in_host_memory(found.cross);
  return computed;
}

// [layer][head][query][key]
ordered_json attention_json(const std::vector<HostMatrix>& layers, int64_t heads, bool thousandths) {
  ordered_json all = ordered_json::array();
  for (const HostMatrix& layer : layers) {
    const auto keys = static_cast<size_t>(layer.columns / heads);
    ordered_json of_layer = ordered_json::array();
    for (int64_t h = 0; h < heads; ++h) {
      ordered_json rows = ordered_json::array();
      for (int64_t r = 0; r < layer.rows; ++r) {
        const std::span<const float> weights = layer.row(r).subspan(static_cast<size_t>(h) * keys, keys);
        ordered_json row = ordered_json::array();
        for (const float weight : weights) row.push_back(attention_weight(weight, thousandths));
        rows.push_back(std::move(row));
      }
      of_layer.push_back(std::move(rows));
    }
    all.push_back(std::move(of_layer));
  }
  return all;
}

ordered_json nbest_json(const TranslatedLine& line) {
  ordered_json list = ordered_json::array();
  for (const Translation& translation : line.translations)
    list.push_back({{"text", translation.text}, {"score", translation.score}});
  return list;
}

ordered_json alignment_json(const Side& source, const Side& target, const AttentionRows& rows) {
  std::vector<PieceAttention> attention;
  for (size_t i = 0; i < target.ids.size(); ++i) attention.push_back({0, rows[i]});
  ordered_json pairs = ordered_json::array();
  for (const WordPair& pair : align_words(source.text, source.spans, target.text, target.spans, attention))
    pairs.push_back({pair.source, pair.target});
  return pairs;
}

// The forced tokens as part of the output, certain and without text.
void show_forced(const StartTokens& start, Side& output, std::vector<float>& log_probabilities) {
  output.ids.insert(output.ids.begin(), start.all().begin() + 1, start.all().end());
  output.spans.insert(output.spans.begin(), start.forced_length(), {0, 0});
  log_probabilities.insert(log_probabilities.begin(), start.forced_length(), 0.0F);
}

}  // namespace

ordered_json inspection(SavedModel& model, const Direction& direction, const TranslatedLine& line,
                        const std::string& target, int64_t layer, bool thousandths,
                        const std::function<void(const std::function<void()>&)>& run) {
  const StartTokens& start = direction.start;
  const Side source = source_side(model, direction, line.source);
  Side output =
      target.empty() ? translated_side(model, line.translations[0]) : given_side(model, start, target);
  const int32_t end = model.vocabularies.target->special().end;
  if (end < 0 && !output.ids.empty()) {  // the decoder is given the first symbol
    output.ids.erase(output.ids.begin());
    output.spans.erase(output.spans.begin());
  }
  const PackedSide sources = packed(source.ids), targets = packed(output.ids);
  PackedSide read = shifted(targets, start);
  if (end < 0) {
    read.ids.pop_back();
    --read.lengths[0];
  }
  Computed computed;
  run([&] { computed = compute(model, sources, targets, read, start, layer); });
  const ordered_json alignment = alignment_json(source, output, computed.alignment);
  show_forced(start, output, computed.log_probabilities);
  std::vector<int32_t> output_ids = output.ids;
  if (end >= 0) output_ids.push_back(end);
  const int64_t encoder_heads = model.model.config.heads, heads = decoder_heads(model.model.config);
  const Vocabulary &words = *model.vocabularies.source, &target_words = *model.vocabularies.target;
  return {{"source", line.source},
          {"target", output.text},
          {"target_given", !target.empty()},
          {"source_tokens", pieces_json(words, source.ids)},
          {"read_tokens", pieces_json(target_words, read.ids)},
          {"said_tokens", pieces_json(target_words, output_ids)},
          {"log_probabilities", computed.log_probabilities},
          {"nbest", nbest_json(line)},
          {"source_words", words_json(source)},
          {"target_words", words_json(output)},
          {"alignment_layer", layer},
          {"alignment", alignment},
          {"attention",
           {{"encoder", attention_json(computed.encoder, encoder_heads, thousandths)},
            {"decoder", attention_json(computed.decoder, heads, thousandths)},
            {"cross", attention_json(computed.cross, heads, thousandths)}}}};
}

// The page's colours are those of the figures.
std::string inspection_page(ordered_json data) {
  data["colours"] = scale_colours(32);
  return page_with_data("inspect.html",
                        {"palette.css", "dark.css", "base.css", "report.css", "inspect.css", "page.js",
                         "numbers.js", "inspect.js"},
                        data);
}

}  // namespace dragoman::internal
