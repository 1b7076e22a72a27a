// Self-contained HTML pages, as `dragoman inspect` and `dragoman report` write them.
//
//   write("cat.html", dragoman::inspection_page({translator.inspect("The cat sleeps.")}));
#pragma once

#include <string>
#include <vector>

#include "dragoman/error.h"
#include "dragoman/export.h"

namespace dragoman {

// Of objects that Translator::inspect() returned. The page names the model.
DRAGOMAN_API std::string inspection_page(const std::vector<std::string>& inspections,
                                         const std::string& model = {});

// Of training runs: the curves of all folders in common charts, and their samples.
DRAGOMAN_API std::string training_page(const std::vector<std::string>& folders);

}  // namespace dragoman
