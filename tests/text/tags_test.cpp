#include "text/tags.h"

#include <array>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "text/tagged_text.h"

namespace dragoman::internal {
namespace {

TEST(Tags, AreTheSameOnBothSides) {
  const std::string clean_source = "On Monday, Tom ate 12 pains in Paris.",
                    clean_target = "On a vu Tom manger 12 pains à Paris lundi.";
  std::map<std::string, int> places;
  for (uint64_t key = 0; key < 900; ++key) {
    std::string source = clean_source, target = clean_target;
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_NE(source, clean_source);
    EXPECT_EQ(without_tags(source), clean_source);
    EXPECT_EQ(without_tags(target), clean_target);
    EXPECT_EQ(source.substr(source.find('<'), 3), target.substr(target.find('<'), 3));
    const std::string part = tagged_part(source);
    if (part.empty()) {
      ++places[source.ends_with('>') ? "behind" : "before"];
      EXPECT_EQ(source.ends_with('>'), target.ends_with('>'));
    } else if (part == clean_source) {
      ++places["around"];
      EXPECT_EQ(tagged_part(target), clean_target);
    } else {
      ++places[part];
      EXPECT_EQ(tagged_part(target), part);
    }
  }
  EXPECT_EQ(places.size(), 6U) << "not around On or pains, which may be other words";
  EXPECT_NEAR(places["around"], 300, 60);
  for (const char* sixth : {"before", "behind"}) EXPECT_NEAR(places[sixth], 150, 50);
  for (const char* name : {"Tom", "12", "Paris"}) EXPECT_NEAR(places[name], 100, 40) << name;
}

TEST(Tags, AreTheSameInAllReferences) {
  std::set<std::string> marked;
  for (uint64_t key = 0; key < 100; ++key) {
    std::string source = "Tom lives in Paris.";
    std::array<std::string, 2> references = {"Tom vit à Paris.", "Il vit à Paris."};
    Random random(key);
    add_tags(source, references, random);
    for (const std::string& reference : references) {
      EXPECT_EQ(source.substr(source.find('<'), 3), reference.substr(reference.find('<'), 3));
      EXPECT_EQ(tagged_part(source) == "Paris", tagged_part(reference) == "Paris");
    }
    marked.insert(tagged_part(source));
  }
  EXPECT_TRUE(marked.contains("Paris"));
  EXPECT_FALSE(marked.contains("Tom"));
}

// In quadratic time it would take minutes.
TEST(Tags, GoIntoALongLineAtOnce) {
  std::string line;
  for (int i = 0; i < 200'000; ++i) line += "N" + std::to_string(i) + " ";
  bool has_tagged_name = false;
  for (uint64_t key = 0; key < 6; ++key) {
    std::string source = line, target = line;
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_EQ(source, target);
    EXPECT_NE(source, line);
    has_tagged_name |= tagged_part(source).starts_with("N") && tagged_part(source).size() < 10;
  }
  EXPECT_TRUE(has_tagged_name);
}

TEST(Tags, LeaveOtherMarkupAlone) {
  for (uint64_t key = 0; key < 20; ++key) {
    std::string source = "<b>Tom</b> left.", target = "Tom est parti.";
    Random random(key);
    add_tags(source, {&target, 1}, random);
    EXPECT_EQ(source, "<b>Tom</b> left.");
    EXPECT_EQ(target, "Tom est parti.");
  }
}

TEST(Tags, StayOutOfPlaceholders) {
  for (const std::string text : {"{0} %1$s", "{Name} www.Tom.org"}) {
    for (uint64_t key = 0; key < 60; ++key) {
      std::string source = text, target = text;
      Random random(key);
      add_tags(source, {&target, 1}, random);
      EXPECT_TRUE(source.find(text) != source.npos) << source;
    }
  }
}

}  // namespace
}  // namespace dragoman::internal
