#include "model/safetensors_json.h"

#include <set>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

using Json = nlohmann::json;

constexpr int max_dimensions = 8;

// Sees all that the parser meets, before any of it is kept.
class HeaderValidator final : public nlohmann::json_sax<Json> {
 public:
  explicit HeaderValidator(const std::string& path) : path_(path) {}

  bool start_object(size_t /*size*/) override {
    if (depth_ == 2) throw Error("{}: the header has a nested object", path_);
    if (++depth_ == 2) inner_keys_.clear();
    return true;
  }
  bool end_object() override {
    --depth_;
    return true;
  }

  bool start_array(size_t /*size*/) override {
    if (depth_ != 2 || in_array_) throw Error("{}: the header has an array in the wrong place", path_);
    in_array_ = true;
    array_size_ = 0;
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }

  bool key(std::string& name) override {
    const bool is_new = (depth_ == 1 ? keys_ : inner_keys_).insert(name).second;
    if (!is_new) throw Error("{}: the header has {} twice", path_, in_quotes(name));
    return true;
  }

  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(int64_t /*value*/) override { return value(); }
  bool number_unsigned(uint64_t /*value*/) override { return value(); }
  bool number_float(double /*value*/, const std::string& /*text*/) override { return value(); }
  bool string(std::string& /*value*/) override { return value(); }
  bool binary(Json::binary_t& /*value*/) override { return value(); }

  bool parse_error(size_t byte, const std::string& /*token*/, const Json::exception& error) override {
    if (dynamic_cast<const Json::parse_error*>(&error))
      throw Error("{}: the header is not valid JSON at byte {}", path_, byte);
    throw Error("{}: the header has a number that is too large", path_);
  }

 private:
  bool value() {
    if (in_array_ && ++array_size_ > max_dimensions)
      throw Error("{}: the header has an array of more than {} numbers", path_, max_dimensions);
    return true;
  }

  const std::string& path_;
  std::set<std::string> keys_, inner_keys_;
  int depth_ = 0, array_size_ = 0;
  bool in_array_ = false;
};

}  // namespace

Json parse_safetensors_json(const std::string& path, std::string_view text) {
  if (!text.starts_with('{')) throw Error("{}: the header does not begin with {{", path);
  // There the parser would stop without an error.
  if (text.find('\0') != text.npos) throw Error("{}: the header has a zero byte", path);
  // A parser's callback would do with one pass, but takes quadratic time.
  HeaderValidator validator(path);
  Json::sax_parse(text.begin(), text.end(), &validator);
  return Json::parse(text.begin(), text.end());
}

}  // namespace dragoman::internal
