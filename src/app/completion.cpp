// dragoman completion: scripts for shells. They ask the program itself: `dragoman train --help=completion` prints a
// line for each option, from the declarations that read it.
#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/quotes.h"
#include "base/shared_files.h"

namespace dragoman::internal {

void completion(const Arguments& arguments) {
  std::string shell;
  CommandLine line("completion", summary_of("completion"));
  line.add_argument("SHELL", shell, "bash, zsh or fish");
  if (!line.read(arguments)) return;
  const std::vector<std::string> shells = {"bash", "zsh", "fish"};
  if (std::ranges::count(shells, shell) == 0)
    throw UsageError("completion: {} is not bash, zsh or fish{}", in_quotes(shell),
                     suggestion(shell, shells));
  std::cout << shared_file("completion." + shell);
}

}  // namespace dragoman::internal
