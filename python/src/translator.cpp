// Translator, its requests and its results.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "job.h"
#include "long_call.h"
#include "matrix.h"

namespace dragoman::python {
namespace {

using Terms = std::vector<std::tuple<size_t, size_t, std::vector<std::string>>>;

Request request_of(std::string text, const Options& options, const std::string& prefix, int64_t timeout,
                   bool tokens, const Terms& terms, const Memory* memory) {
  Request request = {
      .text = std::move(text), .options = options, .prefix = prefix, .tokens = tokens, .memory = memory};
  request.timeout = std::chrono::milliseconds(timeout);
  for (const auto& [begin, end, targets] : terms) request.terms.push_back({{begin, end}, targets});
  return request;
}

// Rows are the hypothesis's tokens, columns the source's.
Matrix attention_of(const Hypothesis& hypothesis, size_t columns) {
  const size_t rows = hypothesis.tokens.size();
  Matrix matrix = {.rows = rows, .columns = columns, .values = std::vector<float>(rows * columns)};
  for (size_t row = 0; row < rows; ++row) {
    const Token& token = hypothesis.tokens[row];
    for (size_t i = 0; i < token.attention.size() && token.attention_begin + i < columns; ++i)
      matrix.values[row * columns + token.attention_begin + i] = token.attention[i];
  }
  return matrix;
}

void bind_answers(nb::module_& module) {
  nb::class_<Span>(module, "Span").def_ro("begin", &Span::begin).def_ro("end", &Span::end);
  nb::class_<Token>(module, "Token")
      .def_ro("text", &Token::text)
      .def_ro("log_probability", &Token::log_probability)
      .def_ro("span", &Token::span)
      .def_ro("source", &Token::source);
  nb::class_<SourceToken>(module, "SourceToken")
      .def_ro("text", &SourceToken::text)
      .def_ro("span", &SourceToken::span);
  nb::class_<WordAlignment>(module, "WordAlignment")
      .def_ro("source", &WordAlignment::source)
      .def_ro("target", &WordAlignment::target)
      .def_ro("source_span", &WordAlignment::source_span)
      .def_ro("target_span", &WordAlignment::target_span);
  nb::class_<WordConfidence>(module, "WordConfidence")
      .def_ro("span", &WordConfidence::span)
      .def_ro("confidence", &WordConfidence::confidence);
  nb::class_<Hypothesis>(module, "Hypothesis")
      .def_ro("text", &Hypothesis::text)
      .def_ro("score", &Hypothesis::score)
      .def_ro("tokens", &Hypothesis::tokens)
      .def_ro("alignment", &Hypothesis::alignment)
      .def("words", &Hypothesis::words)
      .def("confidence", &Hypothesis::confidence)
      .def("attention", &attention_of, nb::arg("columns"));
  nb::class_<Translation>(module, "Translation")
      .def_ro("source", &Translation::source)
      .def_ro("hypotheses", &Translation::hypotheses)
      .def_ro("source_tokens", &Translation::source_tokens)
      .def_ro("invalid", &Translation::invalid)
      .def_ro("cut", &Translation::cut)
      .def_ro("unknown", &Translation::unknown)
      .def_ro("repeats", &Translation::repeats)
      .def_ro("terms_missed", &Translation::terms_missed)
      .def_ro("too_short", &Translation::too_short)
      .def_ro("unlikely", &Translation::unlikely)
      .def_ro("memory", &Translation::memory)
      .def_ro("memory_segments", &Translation::memory_segments);
  nb::class_<Score>(module, "Score")
      .def_ro("total", &Score::total)
      .def_ro("log_probabilities", &Score::log_probabilities)
      .def_ro("alignment", &Score::alignment);
}

void bind_descriptions(nb::module_& module) {
  nb::class_<ModelInfo>(module, "ModelInfo")
      .def_ro("folder", &ModelInfo::folder)
      .def_ro("language_model", &ModelInfo::language_model)
      .def_ro("config", &ModelInfo::config)
      .def_ro("precision", &ModelInfo::precision)
      .def_ro("instruction_set", &ModelInfo::instruction_set)
      .def_ro("parameters", &ModelInfo::parameters)
      .def_ro("source_vocabulary", &ModelInfo::source_vocabulary)
      .def_ro("target_vocabulary", &ModelInfo::target_vocabulary)
      .def_ro("max_tokens", &ModelInfo::max_tokens)
      .def_ro("source_languages", &ModelInfo::source_languages)
      .def_ro("target_languages", &ModelInfo::target_languages)
      .def_ro("threads", &ModelInfo::threads)
      .def_ro("workers", &ModelInfo::workers)
      .def_ro("batch", &ModelInfo::batch);
  nb::class_<OptionInfo>(module, "OptionInfo")
      .def_ro("name", &OptionInfo::name)
      .def_ro("help", &OptionInfo::help)
      .def_ro("type", &OptionInfo::type)
      .def_ro("limits", &OptionInfo::limits)
      .def_prop_ro("default", [](const OptionInfo& info) {
        return std::visit([](const auto& value) { return nb::cast(value); }, info.default_value);
      });
}

std::vector<Score> score(Translator& translator,
                         const std::vector<std::pair<std::string, std::string>>& pairs, int64_t max_length,
                         bool alignment, const std::string& from, const std::string& to) {
  return in_long_call([&](LongCall& call) {
    std::vector<TextPair> texts;
    for (const auto& [source, target] : pairs) texts.push_back({source, target});
    return translator.score(texts, {.max_length = max_length,
                                    .alignment = alignment,
                                    .from = from,
                                    .to = to,
                                    .stop = call.stop_token()});
  });
}

Translator* new_translator(const std::vector<std::string>& folders, const std::string& device, int threads,
                           const std::string& precision, int64_t batch, int64_t batch_tokens, int workers,
                           bool verify, size_t cache_bytes, const std::string& language_model,
                           double language_model_weight) {
  const GilRelease release;
  return new Translator(folders, {.device = device,
                                  .threads = threads,
                                  .precision = precision_of(precision),
                                  .batch = batch,
                                  .batch_tokens = batch_tokens,
                                  .workers = workers,
                                  .language_model = language_model,
                                  .language_model_weight = language_model_weight,
                                  .verify = verify,
                                  .cache_bytes = cache_bytes});
}

std::vector<Translation> translate(Translator& translator, std::vector<std::string> texts,
                                   const nb::dict& options, const std::string& prefix, int64_t timeout,
                                   bool tokens, const std::vector<Terms>& terms, const Memory* memory) {
  const Options read = options_of(options);
  std::vector<Request> requests;
  for (size_t i = 0; i < texts.size(); ++i)
    requests.push_back(request_of(std::move(texts[i]), read, prefix, timeout, tokens,
                                  terms.empty() ? Terms() : terms[i], memory));
  return translate_all(translator, std::move(requests));
}

Job* submit(Translator& translator, std::string text, const nb::dict& options, const std::string& prefix,
            int64_t timeout, bool tokens, const Terms& terms, const Memory* memory, bool follow,
            const nb::object& on_done) {
  return new Job(translator,
                 request_of(std::move(text), options_of(options), prefix, timeout, tokens, terms, memory),
                 follow, on_done);
}

std::string inspect(Translator& translator, const std::string& text, const std::string& target,
                    int64_t alternatives, const std::string& from, const std::string& to) {
  return in_long_call([&](LongCall& call) {
    return translator.inspect(
        text,
        {.target = target, .alternatives = alternatives, .from = from, .to = to, .stop = call.stop_token()});
  });
}

}  // namespace

void bind_translator(nb::module_& module) {
  bind_answers(module);
  bind_descriptions(module);
  nb::class_<Job>(module, "Job")
      .def("wait", &Job::wait, nb::arg("seconds"))
      .def("progress", &Job::progress, nb::arg("seconds"))
      .def("result", &Job::result)
      .def("cancel", &Job::cancel);
  nb::class_<Translator>(module, "Translator")
      .def(nb::new_(&new_translator), nb::arg("folders"), nb::arg("device"), nb::arg("threads"),
           nb::arg("precision"), nb::arg("batch"), nb::arg("batch_tokens"), nb::arg("workers"),
           nb::arg("verify"), nb::arg("cache_bytes"), nb::arg("language_model"),
           nb::arg("language_model_weight"))
      .def("translate", &translate, nb::arg("texts"), nb::arg("options"), nb::arg("prefix"),
           nb::arg("timeout"), nb::arg("tokens"), nb::arg("terms"), nb::arg("memory").none())
      .def("submit", &submit, nb::arg("text"), nb::arg("options"), nb::arg("prefix"), nb::arg("timeout"),
           nb::arg("tokens"), nb::arg("terms"), nb::arg("memory").none(), nb::arg("follow"),
           nb::arg("on_done").none(), nb::keep_alive<0, 1>())
      .def("score", &score, nb::arg("pairs"), nb::arg("max_length"), nb::arg("alignment"),
           nb::arg("source_language"), nb::arg("target_language"))
      .def("inspect", &inspect, nb::arg("text"), nb::arg("target"), nb::arg("alternatives"),
           nb::arg("source_language"), nb::arg("target_language"))
      .def("pending", &Translator::pending)
      .def("info", &Translator::info)
      .def_static("options", &Translator::options);
}

}  // namespace dragoman::python
