// The report of training runs: one HTML page that needs nothing beside itself, with the curves of all runs over one
// another, the corpus's statistics, the samples as they improved and the configurations.
//
// It reads metrics.jsonl and config.json of each model's folder; the page itself stands in web/report.*.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace dragoman {

// The page of these folders. A folder without a history is an Error; parts that a history lacks, the page lacks too.
std::string report_page(const std::vector<std::string>& folders);

// What the page's script is given: one object a run.
nlohmann::ordered_json report_data(const std::vector<std::string>& folders);

}  // namespace dragoman
