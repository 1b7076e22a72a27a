#include "convert/files/yaml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/error.h"
#include "base/lines.h"
#include "base/quotes.h"

namespace dragoman::internal {
namespace {

using nlohmann::json;

constexpr size_t max_yaml_bytes = size_t{64} << 20, max_yaml_depth = 16;

template <class Number>
std::optional<Number> as_number(const std::string& text) {
  Number number;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

json plain_scalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "false") return text == "true";
  if (const auto number = as_number<int64_t>(text)) return *number;
  if (const auto number = as_number<double>(text); number && std::isfinite(*number)) return *number;
  return text;
}

class JsonBuilder : public YAML::EventHandler {
 public:
  explicit JsonBuilder(const std::string& path) : path_(path) {}

  json& result() { return result_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnAlias(const YAML::Mark& at, YAML::anchor_t) override { fail(at, "aliases are not supported"); }
  void OnNull(const YAML::Mark& at, YAML::anchor_t) override { add(at, nullptr); }

  // The tag of a quoted scalar is "!".
  void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    if (!is_text(value)) fail(at, "not valid UTF-8");
    if (is_key_next())
      open_.back().key = value;
    else
      add(at, tag == "?" ? plain_scalar(value) : json(value));
  }

  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(at, json::array());
  }
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(at, json::object());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YAML::Mark at;
    json value;
    std::optional<std::string> key = {};  // of a mapping: what the next value belongs to
  };

  [[noreturn]] void fail(const YAML::Mark& at, const std::string& message) const {
    throw Error("{}:{}: {}", path_, at.line + 1, message);
  }

  bool is_key_next() const { return !open_.empty() && open_.back().value.is_object() && !open_.back().key; }

  void open(const YAML::Mark& at, json empty) {
    if (is_key_next()) fail(at, "a key must be a string");
    if (open_.size() == max_yaml_depth) fail(at, "nested too deeply");
    open_.push_back({at, std::move(empty)});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    add(closed.at, std::move(closed.value));
  }

  void add(const YAML::Mark& at, json value) {
    if (open_.empty()) {
      result_ = std::move(value);
    } else if (open_.back().value.is_array()) {
      open_.back().value.push_back(std::move(value));
    } else if (is_key_next()) {
      fail(at, "a key must be a string");
    } else {
      const std::string key = *std::exchange(open_.back().key, std::nullopt);
      if (!open_.back().value.emplace(key, std::move(value)).second)
        fail(at, "duplicate key " + in_quotes(key));
    }
  }

  const std::string& path_;
  std::vector<Open> open_;
  json result_;
};

}  // namespace

json parse_yaml(const std::string& text, const std::string& path) {
  if (text.size() > max_yaml_bytes)
    throw Error("{} has {} bytes, more than the limit of {}", path, text.size(), max_yaml_bytes);
  JsonBuilder builder(path);
  try {
    std::istringstream stream(text);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const YAML::Exception& error) {
    throw Error("{}:{}: invalid YAML: {}", path, error.mark.line + 1, error.msg);
  }
  return std::move(builder.result());
}

}  // namespace dragoman::internal
