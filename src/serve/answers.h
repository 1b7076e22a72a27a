// Answers, and what each API's errors look like.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "serve/route.h"

namespace dragoman::internal {

HttpResponse json_answer(const nlohmann::ordered_json& json, int status = 200);

// In the shape that the clients of the API (Route::tag) expect: {"error": MESSAGE}, {"message": MESSAGE},
// {"responseData": {"translatedText": MESSAGE}, ...}, or {"error": {"message": MESSAGE, "kind": KIND}}.
HttpResponse error_answer(std::string_view tag, int status, const std::string& message,
                          HttpHeaders headers = {});
HttpResponse error_answer(std::string_view tag, const std::exception_ptr& error,
                          std::string_view request = {});

// What a client is told of any exception: a ServeError itself, else by the kind of a dragoman::Error. What is not the
// client's fault may name files of the server: it is logged, with the request's id, and not answered.
ServeError client_error(const std::exception_ptr& error, std::string_view request);

// Runs what makes an answer; if it throws, the call is answered with that error.
void answer(const ServeCall& call, const std::function<HttpResponse()>& make);

}  // namespace dragoman::internal
