// A student of a few updates, whose teacher is the model of docs/model: what the tests of whole students share.
#pragma once

#include <string>

#include "base/files.h"
#include "model/folder.h"
#include "student/student.h"
#include "temporary_folder.h"
#include "testing.h"

namespace dragoman::internal {

class Students : public testing::Test {
 protected:
  // Options of a small one, as a recipe would have them.
  StudentRecipe recipe(const std::string& further = "") {
    StudentRecipe recipe;
    Options options;
    declare(options, recipe);
    options.read_recipe(
        "[student]\nteacher = [\"" DRAGOMAN_SOURCE_DIR
        "/docs/model\"]\nsize = \"own\"\nbeam = 2\ncandidates = 2\ntranslations = 1\nint8_steps = 0\n"
        "[data]\nfrom = \"en\"\nto = \"fr\"\ntsv = [\"" +
            corpus +
            "\"]\nhold_out = 3\n"
            "[vocabulary]\nsize = 60\nshared = true\n"
            "[model]\nencoder_layers = 1\ndecoder_layers = 1\nd_model = 16\nheads = 2\nd_ff = 32\n"
            "tied = \"all\"\ndecoder_self_attention = \"ssru\"\n"
            "[training]\nmax_steps = 4\nbatch_tokens = 64\nthreads = 1\ndevice = \"cpu\"\n",
        "recipe");
    if (!further.empty()) options.read_recipe(further, "further");
    validate(recipe);
    return recipe;
  }

  std::string make(const std::string& name, const StudentRecipe& recipe) {
    make_student(recipe, folder.path(name));
    return folder.path(name);
  }

  static std::string weights_of(const std::string& student) {
    return read_file(weights_path(student + "/int8"));
  }

  const TemporaryFolder folder;
  const std::string corpus =
      folder.write("corpus.tsv",
                   "I love you.\tJe t'aime.\nGood morning!\tBonjour !\n\tvide\n"
                   "Where is the station?\tOù est la gare ?\nThank you.\tMerci.\n"
                   "She reads.\tElle lit.\nHe reads a book.\tIl lit un livre.\n"
                   "I am cold.\tJ'ai froid.\nCome here.\tViens ici.\nTom is tired.\tTom est fatigué.\n");
};

}  // namespace dragoman::internal
