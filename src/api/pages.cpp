#include "dragoman/pages.h"

#include "api/guard.h"
#include "base/json.h"
#include "report/inspection.h"
#include "report/training_report.h"

namespace dragoman {

using nlohmann::ordered_json;

std::string inspection_page(const std::vector<std::string>& inspections, const std::string& model) {
  return internal::guarded([&] {
    ordered_json sentences = ordered_json::array();
    for (const std::string& one : inspections) {
      try {
        sentences.push_back(internal::parse_json<ordered_json>(one));
      } catch (const ordered_json::exception&) {
        throw internal::UsageError("an inspection is not JSON: give what Translator::inspect() returned");
      }
    }
    if (sentences.empty()) throw internal::UsageError("a page needs at least one inspection");
    return internal::inspection_page({{"model", model}, {"sentences", std::move(sentences)}});
  });
}

std::string training_page(const std::vector<std::string>& folders) {
  return internal::guarded([&] {
    if (folders.empty()) throw internal::UsageError("a page needs at least one training run");
    return internal::report_page(folders);
  });
}

}  // namespace dragoman
