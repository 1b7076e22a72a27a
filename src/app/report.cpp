// dragoman report: one HTML page about one or several training runs.
#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "report/training_report.h"

namespace dragoman {

void report(const Arguments& arguments) {
  std::vector<std::string> folders;
  std::string out = "report.html";
  Options options;
  options.section("", "Where to").add("out", out, "the page; - is standard output");
  CommandLine line("report", "curves, samples and configurations of training runs, as one HTML page");
  line.add_arguments("DIR", folders, "a folder that training wrote; several are laid over one another");
  line.add_options(options);
  if (!line.parse(arguments)) return;
  line.set_flags();
  check_output(out);
  write_output(out, report_page(folders));
}

}  // namespace dragoman
