#include "serve/translations/document.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"
#include "document/formats.h"
#include "dragoman/document.h"
#include "serve/memories/store.h"
#include "serve/translations/combined_stop.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

// Alternatives are asked for of the document as a whole.
dragoman::Options document_options(const TextWork& work, const RouteStep& step, bool last) {
  dragoman::Options options = step_options(work, step, last);
  std::erase_if(options, [](const auto& option) { return option.first == "nbest"; });
  return options;
}

dragoman::TranslatedDocument translated(const std::string& bytes, const std::string& format,
                                        const TextWork& work, const RouteStep& step, bool last,
                                        const dragoman::Memory* memory, const std::stop_token& stop) {
  const DocumentRequest request = {.bytes = bytes,
                                   .name = work.name,
                                   .format = format,
                                   .options = document_options(work, step, last),
                                   .glossary = work.glossary.get(),
                                   .memory = memory,
                                   .alternatives = last ? static_cast<size_t>(work.alternatives) : 0,
                                   .stop = stop,
                                   .timeout = time_left(work.deadline),
                                   .client = work.client};
  return dragoman::translate_document(*step.model.translator, request);
}

// Without the ends of lines between its texts.
size_t characters_of(const TextWork& work) {
  const std::string text = text_of_document(work);
  return code_point_count(text) - static_cast<size_t>(std::ranges::count(text, '\n'));
}

// The exception that is being handled; where the document cannot be read it is the client's error.
std::exception_ptr error_of(const TextWork& work) {
  const std::exception_ptr failure = std::current_exception();
  try {
    std::rethrow_exception(failure);
  } catch (const dragoman::Error& error) {
    if (error.kind() != ErrorKind::failure) return failure;
  } catch (...) {
    return failure;
  }
  try {
    text_of_document(work);
  } catch (const dragoman::Error&) {
    return std::current_exception();
  }
  return failure;
}

}  // namespace

std::string text_of_document(const TextWork& work) {
  try {
    return document_text({.bytes = work.text, .name = work.name, .format = work.format});
  } catch (const dragoman::Error& error) {
    if (error.kind() != ErrorKind::failure) throw;
    throw UsageError(error.what());
  }
}

void check_document(const TextWork& work, const LanguageRoute& route) {
  if (!work.prefix.empty()) throw UsageError("documents cannot have a prefix: leave it out");
  check_glossary(work, route);
  if (route.size() > 1 && document_format(work.format, "").keeps_source)
    throw UsageError(
        "no model translates directly from {} to {}, and files of the format {} cannot be translated through "
        "{}, since they keep their source beside the translation",
        route.front().from, route.back().to, work.format, route.front().to);
  for (const RouteStep& step : route) step_options(work, step, /*last=*/true);
}

void translate_document(const TextWork& work, const LanguageRoute& route, TextResult result,
                        const std::stop_token& end, const OnText& on_done) {
  std::promise<TextResult> promise;
  try {
    const CombinedStop stop(work.stop, end);
    time_left(work.deadline);
    if (work.on_read) work.on_read(characters_of(work));
    result.text = work.text;
    // Texts between two models are not what people confirm.
    const ServedMemories usable =
        route.size() == 1 ? of_pair(work.memories, result.from, result.to) : ServedMemories();
    const dragoman::Memory* const memory = usable.empty() ? nullptr : &usable.front()->in_translating;
    std::string format = work.format;
    for (const RouteStep& step : route) {
      const bool last = &step == &route.back();
      auto document = translated(result.text, format, work, step, last, memory, stop.token());
      result.text = std::move(document.bytes);
      result.alternatives = std::move(document.alternatives);
      if (const auto as = document_format(format, "").written_as; !as.empty()) format = as;
    }
    promise.set_value(std::move(result));
  } catch (...) {
    promise.set_exception(error_of(work));
  }
  on_done(promise.get_future());
}

}  // namespace dragoman::internal
