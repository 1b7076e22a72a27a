#include "student/teaching.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/lines.h"
#include "parallel/thread_processes.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

const std::string teacher_folder = DRAGOMAN_SOURCE_DIR "/docs/model";

dragoman::Translator& teacher() {
  static dragoman::Translator translator(teacher_folder, {.device = "cpu", .threads = 1});
  return translator;
}

// Five lines, of which the fourth has no words.
class Teaching : public testing::Test {
 protected:
  TaughtLines teach_to(const std::string& name, const std::string& reference = "") {
    return teach(teacher(), {{"beam", 4}}, 4,
                 {.source = source, .reference = reference, .out = {folder.path(name)}}, /*lines_of_part=*/2);
  }

  const TemporaryFolder folder;
  const std::string source =
      folder.write("source", "I love you.\nWhere is the station?\nGood morning!\n\nShe is reading a book.\n");
};

TEST_F(Teaching, GivesOneLineForEach) {
  const TaughtLines lines = teach_to("out");
  EXPECT_EQ(5, lines.lines);
  EXPECT_EQ(1, lines.left_out);
  const std::string text = read_file(folder.path("out"));
  EXPECT_EQ(5, std::ranges::count(text, '\n'));
  EXPECT_TRUE(text.starts_with(teacher().translate("I love you.", {{"beam", 4}}).text() + "\n")) << text;
}

TEST_F(Teaching, GoesOnAfterTheLastWholePart) {
  teach_to("undisturbed");
  const std::string whole = read_file(folder.path("undisturbed"));
  // The first part is done, with a text by which it is known again.
  folder.write("out.part-000000", "already\nthere\n");
  folder.write("out.part-000001.dragoman-new", "a part that was being written");
  teach_to("out");
  const std::string text = read_file(folder.path("out"));
  EXPECT_TRUE(text.starts_with("already\nthere\n")) << text;
  const auto third_line = [](const std::string& lines) {
    return lines.substr(lines.find('\n', lines.find('\n') + 1) + 1);
  };
  EXPECT_EQ(third_line(whole), third_line(text));
  for (const auto& entry : fs::directory_iterator(folder.path("")))
    EXPECT_EQ(std::string::npos, entry.path().string().find(".part-")) << entry.path();
}

TEST_F(Teaching, IsSharedByProcesses) {
  const TaughtLines alone = teach_to("alone");
  run_together(2, [&](Processes& processes) {
    dragoman::Translator own(teacher_folder, {.device = "cpu", .threads = 1});
    const TaughtLines lines =
        teach(own, {{"beam", 4}}, 4, {.source = source, .reference = "", .out = {folder.path("shared")}},
              /*lines_of_part=*/2, processes);
    EXPECT_EQ(alone.lines, lines.lines);
    EXPECT_EQ(alone.left_out, lines.left_out);
  });
  EXPECT_EQ(read_file(folder.path("alone")), read_file(folder.path("shared")));
}

TEST_F(Teaching, TakesTheCandidateNearestToTheReference) {
  const std::vector<dragoman::Hypothesis> candidates =
      teacher().translate("She is reading a book.", {{"beam", 4}, {"nbest", 4}}).hypotheses;
  ASSERT_EQ(4u, candidates.size());
  const std::string& wanted = candidates[2].text;
  ASSERT_NE(wanted, candidates[0].text);
  const std::string reference = folder.write("reference", "\n\n\n\n" + wanted + "\n");
  teach_to("out", reference);
  EXPECT_TRUE(read_file(folder.path("out")).ends_with("\n" + wanted + "\n"));
}

TEST_F(Teaching, RefusesTooFewReferences) {
  const std::string reference = folder.write("reference", "one\n");
  try {
    teach_to("out", reference);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(reference + " has fewer lines than " + source, error.what());
  }
}

// Every source's translations are of one part, which may be the second.
TEST_F(Teaching, DealsSeveralTranslationsToAsManyFiles) {
  const TaughtText text = {
      .source = source, .reference = "", .out = {folder.path("first"), folder.path("second")}};
  const TaughtLines lines = teach(teacher(), {{"beam", 4}}, 4, text, /*lines_of_part=*/2);
  EXPECT_EQ(5, lines.lines);
  EXPECT_EQ(1, lines.left_out);
  std::string first, second;
  LineReader sources(source);
  for (std::string_view line; sources.next(line);) {
    const dragoman::Translation translation =
        teacher().translate(std::string(line), {{"beam", 4}, {"nbest", 4}});
    const std::vector<std::string> taught =
        line.empty() ? std::vector<std::string>(2) : taught_candidates(translation.hypotheses, nullptr, 2);
    first += taught[0] + "\n";
    second += taught[1] + "\n";
  }
  EXPECT_NE(first, second);
  EXPECT_EQ(first, read_file(folder.path("first")));
  EXPECT_EQ(second, read_file(folder.path("second")));

  folder.write("first.part-000000", "a\nb\nc\nd\n");  // of a run that was stopped
  fs::remove(folder.path("first"));
  teach(teacher(), {{"beam", 4}}, 4, text, /*lines_of_part=*/2);
  EXPECT_TRUE(read_file(folder.path("first")).starts_with("a\nc\n"));
  EXPECT_TRUE(read_file(folder.path("second")).starts_with("b\nd\n"));
  EXPECT_EQ(5, std::ranges::count(read_file(folder.path("second")), '\n'));
}

TEST(TaughtCandidates, AreTheNearestByCharacters) {
  const std::vector<dragoman::Hypothesis> candidates = {
      {.text = "le chien"}, {.text = ""}, {.text = "un chat noir"}, {.text = "le chat"}};
  const std::string reference = "le chat noir", none = "???";
  using Texts = std::vector<std::string>;
  EXPECT_EQ(Texts({"un chat noir"}), taught_candidates(candidates, &reference, 1));
  EXPECT_EQ(Texts({"un chat noir", "le chat"}), taught_candidates(candidates, &reference, 2));
  EXPECT_EQ(Texts({"le chien"}), taught_candidates(candidates, &none, 1))
      << "the better score where none is near";
  EXPECT_EQ(Texts({"le chien", "un chat noir", "le chat", "le chien"}),
            taught_candidates(candidates, nullptr, 4))
      << "each once before one comes again, and the empty one never";
  EXPECT_EQ(Texts({"", ""}), taught_candidates({{.text = ""}}, nullptr, 2));
}

}  // namespace
}  // namespace dragoman::internal
