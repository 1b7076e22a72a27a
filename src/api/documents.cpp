// Documents: their segments through the translator, each text once, and the marks put into the translations.
#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

#include "api/guard.h"
#include "api/service.h"
#include "document/formats.h"
#include "document/numbers.h"
#include "document/placeholders.h"
#include "document/projection.h"
#include "document/repair.h"
#include "dragoman/document.h"
#include "memory/similarity.h"
#include "memory/words.h"
#include "search/translation.h"
#include "text/language_codes.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

using internal::Document;
using internal::DocumentSegment;
using internal::TextLink;
using internal::TextSpan;
using internal::TranslationOrigin;

constexpr size_t segments_ahead = 1000;  // that the translator knows of
constexpr std::chrono::milliseconds between_reports{200};
constexpr size_t max_matches = 3;  // that a file shows of a text

const std::string* text_option(const Options& options, std::string_view name) {
  const OptionValue* const found = find_option(options, name);
  return found == nullptr ? nullptr : std::get_if<std::string>(found);
}

size_t code_point_at(size_t byte, const std::vector<size_t>& positions) {
  return static_cast<size_t>(std::ranges::lower_bound(positions, byte) - positions.begin());
}

// Which bytes of the source each subword of the output came from.
std::vector<TextLink> links_of(const Translation& translation, const Hypothesis& output) {
  const std::vector<size_t> source = internal::code_point_offsets(translation.source);
  const std::vector<size_t> target = internal::code_point_offsets(output.text);
  const auto in_bytes = [](Span span, const std::vector<size_t>& positions) {
    return TextSpan{positions.at(span.begin), positions.at(span.end)};
  };
  std::vector<TextLink> links;
  for (const Token& token : output.tokens) {
    if (token.source >= translation.source_tokens.size()) continue;
    const Span from = translation.source_tokens[token.source].span;
    if (from.begin < from.end && token.span.begin < token.span.end)
      links.push_back({in_bytes(from, source), in_bytes(token.span, target)});
  }
  return links;
}

// With the segments of a memory that the search had in view. These may be similar to a sentence of the text only.
TranslationOrigin origin_of(std::string_view source, const Translation& translation) {
  using Kind = TranslationOrigin::Kind;
  if (translation.memory) return {.kind = Kind::confirmed};
  TranslationOrigin origin = {.kind = translation.memory_segments.empty() ? Kind::machine : Kind::similar};
  const std::vector<uint64_t> words = internal::memory_words(source);
  for (const MemorySegment& segment : translation.memory_segments) {
    const double similarity = internal::similarity(words, internal::memory_words(segment.source), 0);
    origin.matches.push_back(
        {segment.source, segment.target, segment.exact ? similarity : std::min(similarity, 0.99)});
  }
  std::ranges::stable_sort(origin.matches, std::ranges::greater(), &TranslationOrigin::Match::similarity);
  if (origin.matches.size() > max_matches) origin.matches.resize(max_matches);
  return origin;
}

// The different texts of a document, and what becomes of them.
class Texts {
 public:
  struct Text {
    bool linked = false;  // marks or placeholders must find their places
    internal::TranslatedText translation = {};
    std::vector<internal::TranslatedText> alternatives = {};
    bool cut = false, unknown = false, repeats = false, terms_missed = false, memory = false,
         repaired = false;
    TranslationOrigin origin = {};
    std::vector<TextSpan> numbers = {};  // that the first translation changed, in the second one's terms
  };

  // What a translation depends on.
  struct Source {
    std::string text;
    std::vector<size_t> fixed = {};  // where in it words begin and end that come out as they are
    bool linked = false;  // has marks or placeholders; only asked where a memory may have the text as it is

    auto operator<=>(const Source&) const = default;
  };

  Texts(Translator& translator, const DocumentRequest& request)
      : translator_(translator), request_(request), options_(request.options) {
    if (find_option(options_, "replace-unknown") == nullptr) options_.emplace_back("replace-unknown", true);
    constexpr size_t most = 1 << 20;  // more than any beam has
    if (request.alternatives > 0)
      options_.emplace_back("nbest", static_cast<int64_t>(std::min(request.alternatives, most)) + 1);
  }

  void add(const DocumentSegment& segment) {
    if (internal::is_only_placeholders(segment.text)) return;
    texts_[source_of(segment)].linked |= is_linked(segment);
  }

  void translate() {
    const std::stop_callback cancel(request_.stop, [this] { stop_.request_stop(); });
    struct Waiting {
      const Source* source;
      Text* text;
      std::future<Translation> done;
    };
    std::deque<Waiting> waiting;
    // Where one row of a batch asks for its attention, that of all is computed: texts that do stay together.
    std::vector<std::pair<const Source, Text>*> order;
    for (auto& text : texts_) order.push_back(&text);
    std::stable_partition(order.begin(), order.end(), [](const auto* text) { return text->second.linked; });
    try {
      for (auto next = order.begin(); next != order.end() || !waiting.empty();) {
        for (; next != order.end() && waiting.size() < segments_ahead; ++next)
          waiting.push_back({&(*next)->first, &(*next)->second, submit((*next)->first, (*next)->second)});
        while (waiting.front().done.wait_for(between_reports) != std::future_status::ready) report();
        time_left();
        const auto [source, text] = std::pair(waiting.front().source, waiting.front().text);
        const Translation translation = waiting.front().done.get();
        waiting.pop_front();
        if (receive(source->text, translation, *text))
          waiting.push_back({source, text, submit(*source, *text)});
      }
    } catch (...) {
      stop_.request_stop();
      throw;
    }
  }

  // Null: the text stays as it is.
  const Text* find(const DocumentSegment& segment) const {
    const auto found = texts_.find(source_of(segment));
    return found == texts_.end() ? nullptr : &found->second;
  }

  size_t most_alternatives() const {
    size_t most = 0;
    for (const auto& [source, text] : texts_) most = std::max(most, text.alternatives.size());
    return most;
  }

  void report() const {
    if (request_.on_progress) internal::call_back([&] { request_.on_progress(done_, texts_.size()); });
  }

 private:
  static bool is_linked(const DocumentSegment& segment) {
    return !segment.marks.empty() || !internal::find_placeholders(segment.text).empty();
  }

  Source source_of(const DocumentSegment& segment) const {
    Source source = {.text = segment.text, .linked = request_.memory != nullptr && is_linked(segment)};
    for (const internal::DocumentMark& mark : segment.marks) {
      if (mark.kind != internal::DocumentMark::Kind::fixed) continue;
      source.fixed.push_back(mark.place.begin);
      source.fixed.push_back(mark.place.end);
    }
    return source;
  }

  std::future<Translation> submit(const Source& source, const Text& text) {
    Options options = options_;
    if (text.linked) options.emplace_back("alignment", true);
    return translator_.submit({.text = source.text,
                               .options = std::move(options),
                               .timeout = time_left(),
                               .stop = stop_.get_token(),
                               .tokens = text.linked,
                               .terms = terms_of(source, text),
                               .memory = request_.memory,
                               .take_exact = !text.linked,
                               .client = client_});
  }

  // For a request's timeout. Throws the Error of one that expired.
  std::chrono::milliseconds time_left() const {
    if (!deadline_) return {};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline_ - Clock::now());
    if (left.count() <= 0)
      throw Error("the document was not translated within its timeout", ErrorKind::expired);
    return left;
  }

  // Fixed words, placeholders and numbers that would change come out as they are; then the glossary's.
  std::vector<Term> terms_of(const Source& source, const Text& text) const {
    std::vector<Term> terms;
    const std::vector<size_t> positions = internal::code_point_offsets(source.text);
    const auto keep = [&](TextSpan span) {
      terms.push_back({.source = {code_point_at(span.begin, positions), code_point_at(span.end, positions)},
                       .targets = {source.text.substr(span.begin, span.end - span.begin)}});
    };
    for (size_t i = 0; i < source.fixed.size(); i += 2) keep({source.fixed[i], source.fixed[i + 1]});
    std::ranges::for_each(internal::find_placeholders(source.text), keep);
    std::ranges::for_each(text.numbers, keep);
    std::ranges::move(glossary_terms(source.text), std::back_inserter(terms));
    return terms;
  }

  std::vector<Term> glossary_terms(std::string_view source) const {
    return request_.glossary != nullptr ? request_.glossary->terms(source) : std::vector<Term>{};
  }

  // Placeholders may be among those that the model could not write; they are put back.
  bool lacks_glossary_term(std::string_view source, const std::string& translation) const {
    return std::ranges::any_of(glossary_terms(source), [&](const Term& term) {
      return internal::is_missed(term.targets, translation);
    });
  }

  // Whether the text must be translated once more, with its numbers as terms.
  bool receive(std::string_view source, const Translation& translation, Text& text) {
    std::vector<TextSpan> numbers;
    if (!translation.memory) numbers = internal::changed_numbers(source, translation.text());
    const bool again = !text.numbers.empty();
    if (!again || numbers.size() < text.numbers.size()) take(source, translation, text);
    if (!again && !numbers.empty()) {
      text.numbers = std::move(numbers);
      return true;
    }
    ++done_;
    return false;
  }

  void take(std::string_view source, const Translation& translation, Text& text) const {
    const auto linked = [&](const Hypothesis& output) {
      return internal::TranslatedText{output.text,
                                      text.linked ? links_of(translation, output) : std::vector<TextLink>{}};
    };
    text.translation = linked(translation.hypotheses.front());
    text.alternatives.clear();
    for (const Hypothesis& output : std::span(translation.hypotheses).subspan(1)) {
      if (!internal::changed_numbers(source, output.text).empty() || lacks_glossary_term(source, output.text))
        continue;
      internal::repair_placeholders(source, text.alternatives.emplace_back(linked(output)));
    }
    text.cut = translation.cut;
    text.unknown = translation.unknown;
    text.repeats = translation.repeats;
    text.memory = translation.memory;
    text.origin = origin_of(source, translation);
    text.terms_missed = translation.terms_missed && lacks_glossary_term(source, translation.text());
    text.repaired = !text.memory && internal::repair_placeholders(source, text.translation) > 0;
  }

  using Clock = std::chrono::steady_clock;

  Translator& translator_;
  const DocumentRequest& request_;
  const internal::Deadline deadline_ = internal::deadline_after(request_.timeout);
  Options options_;
  std::map<Source, Text> texts_;
  std::stop_source stop_;
  const uint64_t client_ = request_.client != 0 ? request_.client : Translator::new_client();
  size_t done_ = 0;
};

// "fr" where the model's name of the language is "fra_Latn", which documents do not have. What people write, such as
// "zh-Hans", stays as it is.
std::string language_in_documents(const std::string& name) {
  const std::string code = name.find_first_of("-_") == 3 ? internal::language_code(name) : "";
  return code.empty() ? name : code;
}

Document read(const DocumentRequest& request) {
  const internal::DocumentFormat& format =
      internal::document_format(request.format, request.name, request.bytes);
  const auto language = [&](std::string_view option) {
    const std::string* value = text_option(request.options, option);
    return value != nullptr ? language_in_documents(*value) : std::string();
  };
  return format.read(request.bytes, {.name = request.name,
                                     .from = language("from"),
                                     .to = language("to"),
                                     .columns = request.columns,
                                     .mark_unconfirmed = request.mark_unconfirmed});
}

// The file with the best translation of each text, 0, or another; the best where a text has no such.
std::string written(const Document& document, const Texts& texts, size_t alternative, bool with_origins) {
  std::vector<std::string> rendered;
  std::vector<TranslationOrigin> origins;
  for (const DocumentSegment& segment : document.segments) {
    const Texts::Text* text = texts.find(segment);
    if (text == nullptr) {
      rendered.push_back(internal::render(segment, segment.text, {}));
      origins.push_back({.kind = TranslationOrigin::Kind::copied});
      continue;
    }
    const bool best = alternative == 0 || alternative > text->alternatives.size();
    const internal::TranslatedText& translation =
        best ? text->translation : text->alternatives[alternative - 1];
    rendered.push_back(internal::render(segment, translation.text, translation.links));
    origins.push_back(text->origin);
  }
  return with_origins && document.write_with_origins ? document.write_with_origins(rendered, origins)
                                                     : document.write(rendered);
}

TranslatedDocument translated(Translator& translator, const DocumentRequest& request) {
  const Document document = read(request);
  Texts texts(translator, request);
  for (const DocumentSegment& segment : document.segments) texts.add(segment);
  texts.translate();

  const bool with_origins = request.memory != nullptr || request.mark_unconfirmed;
  TranslatedDocument result{.bytes = written(document, texts, 0, with_origins),
                            .segments = document.segments.size()};
  for (size_t i = 1; i <= texts.most_alternatives(); ++i) {
    std::string bytes = written(document, texts, i, with_origins);
    if (bytes != result.bytes && std::ranges::find(result.alternatives, bytes) == result.alternatives.end())
      result.alternatives.push_back(std::move(bytes));
  }
  for (const DocumentSegment& segment : document.segments) {
    const Texts::Text* text = texts.find(segment);
    if (text == nullptr) continue;
    result.cut += text->cut;
    result.unknown += text->unknown;
    result.repeats += text->repeats;
    result.terms_missed += text->terms_missed;
    result.memory += text->memory;
    result.similar += text->origin.kind == TranslationOrigin::Kind::similar;
    result.repaired += text->repaired;
  }
  texts.report();
  return result;
}

}  // namespace

TranslatedDocument translate_document(Translator& translator, const DocumentRequest& request) {
  return internal::guarded([&] {
    if (const ModelInfo model = translator.info(); model.language_model)
      throw internal::UsageError("{} is a language model, which translates no documents", model.folder);
    return translated(translator, request);
  });
}

std::string document_text(const DocumentRequest& request) {
  return internal::guarded([&] {
    std::string text;
    for (const DocumentSegment& segment : read(request).segments) text += segment.text + "\n";
    return text;
  });
}

std::vector<DocumentFormat> document_formats() {
  std::vector<DocumentFormat> formats;
  for (const internal::DocumentFormat& format : internal::document_formats()) {
    if (!format.is_built) continue;
    formats.push_back({.name = std::string(format.name),
                       .description = std::string(format.description),
                       .endings = {format.endings.begin(), format.endings.end()},
                       .written_as = std::string(format.written_as)});
  }
  return formats;
}

}  // namespace dragoman
