// The program itself on a small model: what the tests of commands that translate share.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "search/model_folder.h"

namespace dragoman::internal {

using Lines = std::vector<std::string>;

inline Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class TranslatingCommands : public testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_.path + "/" + name; }
  std::string write(const std::string& name, const std::string& contents) const {
    write_file(file(name), {contents});
    return file(name);
  }

  // Runs the program on this input; returns what it prints.
  std::string run(const std::string& arguments, const std::string& input = "", int exit_code = 0) {
    const std::string command = std::string(DRAGOMAN_PROGRAM) + " " + arguments + " <" + write("in", input) +
                                " >" + file("out") + " 2>" + file("err");
    const int status = std::system(command.c_str());
    errors_ = read_file(file("err"));
    EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, exit_code) << command << "\n" << errors_;
    return read_file(file("out"));
  }
  std::string translate(const std::string& input, const std::string& more = "") {
    return run("translate --model " + folder_.path + " --max-length 20 " + more, input);
  }

  const ModelFolder folder_{"model"};
  std::string errors_;
};

}  // namespace dragoman::internal
