#include "dragoman/glossary.h"

#include "api/guard.h"
#include "base/error.h"
#include "base/lines.h"
#include "document/glossary.h"
#include "text/unicode.h"

namespace dragoman {
namespace {

std::vector<internal::GlossaryEntry> checked(const std::vector<Glossary::Entry>& entries) {
  std::vector<internal::GlossaryEntry> result;
  const auto term = [&](const std::string& text) {
    const int64_t line = std::ssize(result) + 1;
    std::string checked = internal::checked_term(text, "glossary", line);
    if (checked.empty())
      throw internal::Error("glossary:{}: has an empty term: give source and target", line);
    return checked;
  };
  for (const Glossary::Entry& entry : entries)
    result.push_back({.sources = {term(entry.source)}, .targets = {term(entry.target)}});
  return result;
}

}  // namespace

struct Glossary::State {
  explicit State(std::vector<internal::GlossaryEntry> entries) : glossary(std::move(entries)) {}

  const internal::Glossary glossary;
};

Glossary::Glossary(const std::string& path, const Languages& languages)
    : state_(internal::guarded([&] {
        return std::make_unique<State>(internal::read_glossary(path, {languages.from, languages.to}));
      })) {}

Glossary::Glossary(const std::vector<Entry>& entries)
    : state_(internal::guarded([&] { return std::make_unique<State>(checked(entries)); })) {}

Glossary::~Glossary() = default;
Glossary::Glossary(Glossary&&) noexcept = default;
Glossary& Glossary::operator=(Glossary&&) noexcept = default;

size_t Glossary::size() const { return state_->glossary.size(); }

std::vector<Term> Glossary::terms(std::string_view text) const {
  return internal::guarded([&] {
    const std::string as_read = internal::is_text(text) ? std::string(text) : internal::repaired(text);
    std::vector<Term> terms;
    for (internal::GlossaryMatch& match : state_->glossary.find(as_read))
      terms.push_back({{match.source.begin, match.source.end}, std::move(match.targets)});
    return terms;
  });
}

}  // namespace dragoman
