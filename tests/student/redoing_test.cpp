// Students that are made a second time: what is done again and what is not, and that names and stops change nothing.
#include <atomic>
#include <filesystem>
#include <map>

#include "base/error.h"
#include "parallel/thread_processes.h"
#include "student/small_students.h"
#include "student/stages.h"
#include "train/run_lock.h"

namespace dragoman::internal {
namespace {

namespace fs = std::filesystem;

TEST_F(Students, DoNothingTwice) {
  const std::string student = make("student", recipe());
  std::map<std::string, fs::file_time_type> written;
  for (const auto& entry : fs::recursive_directory_iterator(student))
    if (entry.is_regular_file()) written[entry.path()] = entry.last_write_time();
  make("student", recipe());
  for (const auto& entry : fs::recursive_directory_iterator(student)) {
    if (!entry.is_regular_file()) continue;
    EXPECT_EQ(written[entry.path()], entry.last_write_time()) << entry.path();
  }
}

TEST_F(Students, RepeatOnlyWhatDependsOnAChange) {
  const std::string student = make("student", recipe());
  const auto time_of = [&](const char* file) { return fs::last_write_time(student + file); };
  const auto taught = time_of("/taught/parallel"), trained = time_of("/student/model.safetensors");
  make("student", recipe("[training]\nseed = 2\n"));
  EXPECT_EQ(taught, time_of("/taught/parallel"));
  EXPECT_NE(trained, time_of("/student/model.safetensors"));
  make("student", recipe("[student]\ncandidates = 1\n"));
  EXPECT_NE(taught, time_of("/taught/parallel"));
}

TEST_F(Students, TrainOnWhenTheyMayTakeLonger) {
  const std::string longer = make("longer", recipe("[training]\nmax_steps = 7\n"));
  const std::string student = make("student", recipe());
  EXPECT_NE(weights_of(longer), weights_of(student));
  const auto prepared = fs::last_write_time(student + "/student/data/prepared.json");
  make("student", recipe("[training]\nmax_steps = 7\n"));
  EXPECT_EQ(prepared, fs::last_write_time(student + "/student/data/prepared.json"));
  EXPECT_EQ(weights_of(longer), weights_of(student));
}

// Days of training are not lost by a slash at the end, or by a folder that is moved.
TEST_F(Students, MayBeMoved) {
  const std::string longer = make("longer", recipe("[training]\nmax_steps = 7\n"));
  const std::string student = make("student", recipe()), moved = folder.path("moved");
  const auto trained = fs::last_write_time(student + "/student/model.safetensors");
  make("student/", recipe());
  EXPECT_EQ(trained, fs::last_write_time(student + "/student/model.safetensors"));
  fs::rename(student, moved);
  make("moved", recipe());
  EXPECT_EQ(trained, fs::last_write_time(moved + "/student/model.safetensors"));
  make("moved", recipe("[training]\nmax_steps = 7\n"));
  EXPECT_EQ(weights_of(longer), weights_of(moved)) << "a run goes on under its new name";
}

TEST_F(Students, KnowValidationFilesByTheirContents) {
  const auto validated_on = [&](const std::string& name, const std::string& text) {
    return recipe("[data]\nhold_out = 0\nvalid_source = [\"" + folder.write(name, text) +
                  "\"]\nvalid_target = [\"" + folder.write("valid.fr", "Viens ici.\nMerci.\n") + "\"]\n");
  };
  const std::string student = make("student", validated_on("valid.en", "Come here.\nThank you.\n"));
  const auto trained = [&] { return fs::last_write_time(student + "/student/model.safetensors"); };
  const auto before = trained();
  make("student", validated_on("other.en", "Come here.\nThank you.\n"));
  EXPECT_EQ(before, trained());
  make("student", validated_on("other.en", "Come here!\nThank you!\n"));
  EXPECT_NE(before, trained());
}

TEST_F(Students, KeepTranslationsWhenTextIsAdded) {
  const std::string student = make("student", recipe());
  const auto taught = fs::last_write_time(student + "/taught/parallel"),
             trained = fs::last_write_time(student + "/student/model.safetensors");
  const std::string text = folder.write("text", "Come here.\nI read.\n");
  make("student", recipe("[student]\nmonolingual = [\"" + text + "\"]\n"));
  EXPECT_EQ(taught, fs::last_write_time(student + "/taught/parallel"));
  EXPECT_NE(trained, fs::last_write_time(student + "/student/model.safetensors"));
}

TEST_F(Students, KeepTranslationsBackUnderAnotherTag) {
  const std::string back = "[student]\nmonolingual_target = [\"" +
                           folder.write("text", "Come here.\nGood morning!\n") +
                           "\"]\nbackward = [\"" DRAGOMAN_SOURCE_DIR "/docs/model\"]\n";
  const std::string student = make("student", recipe(back));
  const auto translated = fs::last_write_time(student + "/backward/translated");
  make("student", recipe(back + "backward_tag = \"<back>\"\n"));
  EXPECT_EQ(translated, fs::last_write_time(student + "/backward/translated"));
  EXPECT_TRUE(read_file(student + "/tagged/source").starts_with("<back> "));
}

TEST_F(Students, DependOnTermsAndVocabulariesByTheirContents) {
  Recipe training;
  training.data.source = training.data.target = {folder.write("text", "Come here.\n")};
  training.data.terms = folder.write("terms", "here\tici\n");
  for (const char* name : {"words", "same"}) fs::create_directory(folder.path(name));
  training.vocabulary.from = folder.path("words");
  folder.write("words/shared.spm", "pieces");
  const auto inputs = student_inputs(training);
  folder.write("same/shared.spm", "pieces");
  training.vocabulary.from = folder.path("same/");
  EXPECT_EQ(inputs, student_inputs(training));
  folder.write("same/shared.spm", "others");
  EXPECT_NE(inputs, student_inputs(training));
  training.vocabulary.from = folder.path("words");
  folder.write("terms", "here\tlà\n");
  EXPECT_NE(inputs, student_inputs(training));
}

// The first limits do not make a student of a run that others have taken further.
TEST_F(Students, AreNotDoneOnceTheirRunHasGoneOn) {
  const std::string student = make("student", recipe()),
                    shortlist = student + "/student/shortlist.safetensors";
  fs::remove(shortlist);
  fs::create_directories(shortlist + "/in the way");
  EXPECT_THROW(make("student", recipe("[training]\nmax_steps = 7\n")), Error);
  fs::remove_all(shortlist);
  make("student", recipe());
  EXPECT_TRUE(fs::exists(shortlist));
}

TEST_F(Students, AreMadeByOneCommandAtATime) {
  const RunLock other(folder.path("student"));
  EXPECT_THROW(make("student", recipe()), Error);
}

// A process that reads another recipe, or other files, must not remove what the first one has made.
TEST_F(Students, AreNotTouchedByProcessesThatDisagree) {
  const std::string student = make("student", recipe());
  const auto taught = fs::last_write_time(student + "/taught/parallel");
  const StudentRecipe ours = recipe(), theirs = recipe("[student]\ncandidates = 1\n");
  std::atomic<int> refusals = 0;
  run_together(2, [&](Processes& processes) {
    try {
      make_student(processes.first() ? ours : theirs, student, processes);
    } catch (const Error& error) {
      ++refusals;
      EXPECT_EQ(processes.first(), std::string(error.what()).find("taught") != std::string::npos);
    }
  });
  EXPECT_EQ(2, refusals);
  EXPECT_EQ(taught, fs::last_write_time(student + "/taught/parallel"));
}

}  // namespace
}  // namespace dragoman::internal
