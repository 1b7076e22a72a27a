// Stands for the other files of this folder where the program was built without a server.
#include "base/error.h"
#include "serve/secrets.h"

namespace dragoman::internal {
namespace {

[[noreturn]] void refuse() {
  throw Error("this program was built without OpenSSL, which API keys need: install it and build again");
}

}  // namespace

std::string random_hex(size_t) { refuse(); }
std::string salted_hash(std::string_view, std::string_view) { refuse(); }
std::string in_hex(std::string_view) { refuse(); }
bool same_secret(std::string_view, std::string_view) { refuse(); }

}  // namespace dragoman::internal
