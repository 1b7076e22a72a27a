// The report of training runs: a self-contained HTML page with the curves of all runs in common charts, statistics of
// the corpus, how the sample translations improved, and the configurations.
//
// It reads metrics.jsonl and config.json of each model folder; the page is web/report.*.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "train/history.h"

namespace dragoman::internal {

// The page of these folders. A folder without a history is an Error; sections without data are omitted.
std::string report_page(const std::vector<std::string>& folders);

// The data of the page's script: one object per run.
nlohmann::ordered_json report_data(const std::vector<std::string>& folders);

// The object of one of these runs, whose history is given. `running`: it trains now.
nlohmann::ordered_json run_data(const std::string& folder, const std::vector<std::string>& folders,
                                const History& history, bool running);

}  // namespace dragoman::internal
