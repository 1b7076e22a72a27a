// What LibreTranslate's routes take and answer, as JSON Schemas.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace dragoman::internal::libretranslate {

nlohmann::ordered_json translate_body();
nlohmann::ordered_json translate_answer();
nlohmann::ordered_json detect_body();
nlohmann::ordered_json detect_answer();
nlohmann::ordered_json languages_answer();
nlohmann::ordered_json settings_answer();
nlohmann::ordered_json suggest_body();
nlohmann::ordered_json suggest_answer();
nlohmann::ordered_json file_body();
nlohmann::ordered_json file_answer();

}  // namespace dragoman::internal::libretranslate
