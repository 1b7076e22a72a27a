#include "base/error.h"

namespace dragoman {

Error::Error(const std::string& message, ErrorKind kind) : std::runtime_error(message), kind_(kind) {}
Error::~Error() = default;

}  // namespace dragoman

namespace dragoman::internal {

void check_failed(const char* file, int line, const char* condition, const std::string& message) {
  throw BrokenInvariant(fmt::format("{}:{}: CHECK({}) failed{}{}", file, line, condition,
                                    message.empty() ? "" : ": ", message));
}

}  // namespace dragoman::internal
