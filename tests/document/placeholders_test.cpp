#include "document/placeholders.h"

#include <gtest/gtest.h>

namespace dragoman::internal {
namespace {

using Strings = std::vector<std::string>;

Strings found(std::string_view text) {
  Strings placeholders;
  for (const TextSpan span : find_placeholders(text))
    placeholders.emplace_back(text.substr(span.begin, span.end - span.begin));
  return placeholders;
}

TEST(Placeholders, OfPrintfAndItsRelatives) {
  EXPECT_EQ(found("%s has %1$d of %2$s, %-5.2f%% and %lu"),
            (Strings{"%s", "%1$d", "%2$s", "%-5.2f", "%%", "%lu"}));
  EXPECT_EQ(found("Hello %(name)s, %(count)d messages; %@ %1 and %L2"),
            (Strings{"%(name)s", "%(count)d", "%@", "%1", "%L2"}));
  EXPECT_EQ(found("I am 100% sure, 50 % of it, 20%discount, 5%."), Strings{});
}

TEST(Placeholders, InBraces) {
  EXPECT_EQ(found("{0} {name} {user.first-name} {x:.2f} {n, number} {{ user.name | upper }} {{{raw}}} {}"),
            (Strings{"{0}", "{name}", "{user.first-name}", "{x:.2f}", "{n, number}",
                     "{{ user.name | upper }}", "{{{raw}}}", "{}"}));
  EXPECT_EQ(found("${name} %{count} #{id} $NAME$ $t(key.other)"),
            (Strings{"${name}", "%{count}", "#{id}", "$NAME$", "$t(key.other)"}));
  EXPECT_EQ(found("a set {one of these words} and { open, $5 and $10"), Strings{});
}

TEST(Placeholders, Addresses) {
  EXPECT_EQ(found("See https://example.org/a_(b)?q=1#c, (http://x.org). Or www.x.org!"),
            (Strings{"https://example.org/a_(b)?q=1#c", "http://x.org", "www.x.org"}));
  EXPECT_EQ(found("Write to jane.doe+list@mail.example.org."), (Strings{"jane.doe+list@mail.example.org"}));
  EXPECT_EQ(found("an @mention and a@b"), Strings{});
}

TEST(Placeholders, ATextOfNothingElse) {
  EXPECT_TRUE(is_only_placeholders("{name}: %d, https://example.org (42)"));
  EXPECT_FALSE(is_only_placeholders("{name} is"));
  EXPECT_FALSE(is_only_placeholders("be {name}"));
}

}  // namespace
}  // namespace dragoman::internal
