#include "document/messages/po_plurals.h"

#include <array>
#include <charconv>

#include "base/ascii.h"

namespace dragoman::internal {
namespace {

constexpr int max_plural_depth = 100;  // ten forms need ten
constexpr size_t max_plural_forms = 10;

// By precedence climbing.
class PluralExpression {
 public:
  PluralExpression(std::string_view text, uint64_t n) : text_(text), n_(n) {}

  std::optional<uint64_t> value() && {
    const uint64_t value = conditional();
    skip();
    return valid_ && text_.empty() ? std::optional(value) : std::nullopt;
  }

 private:
  struct Operator {
    std::string_view sign;
    int precedence;
    uint64_t (*apply)(uint64_t a, uint64_t b);
  };

  // Of two that begin alike the longer one is first.
  static constexpr std::array<Operator, 13> operators = {
      {{"||", 1, [](uint64_t a, uint64_t b) -> uint64_t { return a != 0 || b != 0; }},
       {"&&", 2, [](uint64_t a, uint64_t b) -> uint64_t { return a != 0 && b != 0; }},
       {"==", 3, [](uint64_t a, uint64_t b) -> uint64_t { return a == b; }},
       {"!=", 3, [](uint64_t a, uint64_t b) -> uint64_t { return a != b; }},
       {"<=", 4, [](uint64_t a, uint64_t b) -> uint64_t { return a <= b; }},
       {">=", 4, [](uint64_t a, uint64_t b) -> uint64_t { return a >= b; }},
       {"<", 4, [](uint64_t a, uint64_t b) -> uint64_t { return a < b; }},
       {">", 4, [](uint64_t a, uint64_t b) -> uint64_t { return a > b; }},
       {"+", 5, [](uint64_t a, uint64_t b) { return a + b; }},
       {"-", 5, [](uint64_t a, uint64_t b) { return a - b; }},
       {"*", 6, [](uint64_t a, uint64_t b) { return a * b; }},
       {"/", 6, [](uint64_t a, uint64_t b) { return b != 0 ? a / b : 0; }},
       {"%", 6, [](uint64_t a, uint64_t b) { return b != 0 ? a % b : 0; }}}};

  void skip() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }

  bool take(std::string_view sign) {
    skip();
    if (!text_.starts_with(sign)) return false;
    text_.remove_prefix(sign.size());
    return true;
  }

  uint64_t conditional() {
    if (++depth_ > max_plural_depth) valid_ = false;
    if (!valid_) return 0;
    uint64_t value = binary(1);
    if (take("?")) {
      const uint64_t yes = conditional();
      valid_ &= take(":");
      const uint64_t no = conditional();
      value = value != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

  uint64_t binary(int precedence) {
    if (precedence > 6) return unary();
    uint64_t value = binary(precedence + 1);
    for (const Operator* found = next_operator(precedence); found != nullptr && valid_;
         found = next_operator(precedence))
      value = found->apply(value, binary(precedence + 1));
    return value;
  }

  const Operator* next_operator(int precedence) {
    skip();
    for (const Operator& each : operators) {
      if (!text_.starts_with(each.sign)) continue;
      if (each.precedence != precedence) return nullptr;
      text_.remove_prefix(each.sign.size());
      return &each;
    }
    return nullptr;
  }

  uint64_t unary() {
    bool negated = false, is_negation = false;
    while (take("!")) {
      negated = !negated;
      is_negation = true;
    }
    const uint64_t value = primary();
    return is_negation ? uint64_t{(value == 0) == negated} : value;
  }

  uint64_t primary() {
    if (take("n")) return n_;
    if (take("(")) {
      const uint64_t value = conditional();
      valid_ &= take(")");
      return value;
    }
    uint64_t number = 0;
    const auto [rest, error] = std::from_chars(text_.data(), text_.data() + text_.size(), number);
    if (error != std::errc()) valid_ = false;
    text_.remove_prefix(static_cast<size_t>(rest - text_.data()));
    return number;
  }

  std::string_view text_;  // that is left
  uint64_t n_;
  bool valid_ = true;
  int depth_ = 0;
};

}  // namespace

std::optional<uint64_t> plural_value(std::string_view expression, uint64_t n) {
  return PluralExpression(expression, n).value();
}

std::string_view value_in_header(std::string_view header, std::string_view key, std::string_view enders) {
  const size_t begin = header.find(key);
  if (begin == header.npos) return {};
  const std::string_view rest = header.substr(begin + key.size());
  return rest.substr(0, rest.find_first_of(enders));
}

PluralForms plural_forms(std::string_view header) {
  constexpr uint64_t numbers = 1000;  // that forms are counted over
  constexpr int few = 4;              // as gettext has it
  const std::string_view count = value_in_header(header, "nplurals=", " ;\\");
  PluralForms forms;
  const auto [rest, error] = std::from_chars(count.data(), count.data() + count.size(), forms.count);
  if (error != std::errc() || forms.count > max_plural_forms) return {};
  const std::string_view expression = value_in_header(header, "plural=", ";\\");
  constexpr size_t longest = 1000;  // bytes
  if (expression.size() > longest) return {.count = forms.count};
  std::vector<int> uses(forms.count);
  for (uint64_t n = 0; n <= numbers; ++n) {
    const std::optional<uint64_t> form = plural_value(expression, n);
    if (!form || *form >= forms.count) return {.count = forms.count};
    ++uses[*form];
    if (n == 1) forms.of_one = *form;
  }
  for (const int each : uses) forms.often.push_back(each > few);
  return forms;
}

}  // namespace dragoman::internal
