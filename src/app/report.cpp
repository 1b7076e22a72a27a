// dragoman report: one HTML page about one or several training runs.
#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "report/training_report.h"

namespace dragoman::internal {

void report(const Arguments& arguments) {
  std::vector<std::string> folders;
  std::string out = "report.html";
  Options options;
  auto own = options.section("", "Options");
  declare_output_file(own, out);
  CommandLine line("report", summary_of("report"));
  line.add_arguments("DIR", folders, "model folder of a training run; several are compared");
  line.add_options(options);
  if (!line.read(arguments)) return;
  check_output(out);
  write_output(out, report_page(folders));
}

}  // namespace dragoman::internal
