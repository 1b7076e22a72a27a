// Several texts of one request, translated at once.
#pragma once

#include <functional>
#include <vector>

#include "serve/route.h"
#include "serve/translations.h"

namespace dragoman::internal {

// Answers the call with what `make` makes of all results, in the order of the works, or with the error of the first
// text that fails: then the others are cancelled, as they are when the client goes away.
void translate_all(Translations& translations, const ServeCall& call, std::vector<TextWork> works,
                   std::function<HttpResponse(std::vector<TextResult>)> make);

}  // namespace dragoman::internal
