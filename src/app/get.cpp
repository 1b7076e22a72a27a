// dragoman get: a published model, downloaded and imported.
#include <algorithm>
#include <cstdlib>
#include <iostream>

#include <fmt/ranges.h>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/shared_options.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quotes.h"
#include "base/signals.h"
#include "convert/importers.h"
#include "convert/settings.h"
#include "dragoman/models.h"
#include "hub/cache.h"
#include "hub/families.h"
#include "model/folder.h"

namespace dragoman::internal {
namespace {

struct GetOptions {
  std::vector<std::string> name;
  std::string out, hub;
  dragoman::Precision precision = dragoman::Precision::as_saved;
  bool list = false, keep = false;
};

void declare(Options& options, GetOptions& o) {
  auto own = options.section("", "Options");
  declare_new_model(own, o.out,
                    "folder of the new model; by default named after the model, in the current folder");
  declare_imported_precision(own, o.precision);
  own.add("list", o.list,
          "list the families of models; with a NAME, the known models whose names begin with it");
  own.add(
      "hub", o.hub,
      "URL of a mirror to use instead of the public hubs; by default the environment variable DRAGOMAN_HUB");
  own.add("keep", o.keep,
          "keep the downloaded files, in $XDG_CACHE_HOME/dragoman or ~/.cache/dragoman, where a download "
          "that was "
          "interrupted goes on");
}

std::string from_environment(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value ? value : "";
  while (text.ends_with('\n') || text.ends_with(' ')) text.pop_back();  // of a file that it was read from
  return text;
}

// Before gigabytes are downloaded for nothing.
void check_importable(const std::string& folder) {
  if (model_type_of(folder).empty()) return;
  const auto knows = [&](const Importer& importer) { return importer.recognises(folder); };
  if (std::ranges::none_of(importers(), knows)) import_model({.source = folder});  // says why not
}

HubOptions hub_options(const GetOptions& o) {
  return {.mirror = o.hub.empty() ? from_environment("DRAGOMAN_HUB") : o.hub,
          .token = from_environment("HF_TOKEN"),
          .before_weights = check_importable};
}

void list_families() {
  std::cout << "dragoman get NAME, where NAME is:\n\n";
  for (const Family& family : families())
    std::cout << fmt::format("  {:<36}{}\n", family.usage, family.description);
  std::cout << "\ndragoman get --list argos (or firefox) lists what there is; --list opus-mt-en lists known "
               "models\n"
               "of the Hugging Face hub whose names begin so.\n";
}

void list_names(const GetOptions& o) {
  const std::string begin = fmt::format("{}", fmt::join(o.name, " "));
  const auto named = [&](const Family& family) { return o.name.front() == family.name; };
  const auto found = std::ranges::find_if(families(), named);
  const Family& family = found == families().end() ? families().front() : *found;
  const DownloadFolder folder(cache_folder() + "/index/" + family.name);
  Hub hub(hub_options(o));
  std::vector<std::string> names = family.names(hub, folder.path());
  if (begin != family.name)
    std::erase_if(names, [&](const std::string& name) { return !name.starts_with(begin); });
  if (names.empty())
    throw Error("no known model's name begins with {}: dragoman get --list shows how models are named",
                in_quotes(begin));
  for (const std::string& name : names) std::cout << name << "\n";
}

// The options that translating with the model takes.
std::string download_and_import(const PublishedModel& model, const GetOptions& o) {
  DownloadFolder folder(cache_folder() + "/" + model.place());
  Hub hub(hub_options(o));
  log_info("downloading {}", model.folder());
  const std::string source = model.family->download(hub, model, folder.path());
  log_info("downloaded {}; importing", megabytes(hub.downloader().bytes()));

  const dragoman::ImportResult imported =
      dragoman::import_model({.source = source, .out = o.out, .precision = o.precision});
  log_info("{} was made for {}", o.out, imported.system);
  for (const std::string& choice : imported.choices) log_info("{}", choice);
  if (o.keep) folder.keep();
  if (!folder.remove_unless_kept()) log_info("the downloaded files are in {}", source);
  return "--model " + o.out + (imported.needs_languages ? " --from LANG --to LANG" : "");
}

}  // namespace

void get(const Arguments& arguments) {
  GetOptions o;
  Options options;
  declare(options, o);
  CommandLine line("get", summary_of("get"));
  line.add_arguments("NAME", o.name,
                     "OWNER/NAME at Hugging Face, opus-mt-en-fr, argos en fr, or firefox en fr; see --list",
                     /*required=*/false);
  line.add_options(options);
  if (!line.read(arguments)) return;
  if (o.list) return o.name.empty() ? list_families() : list_names(o);
  if (o.name.empty()) throw UsageError("get needs the NAME of a model: see dragoman get --list");
  const PublishedModel model = published_model(o.name);
  if (o.out.empty()) o.out = model.folder();
  check_new_model_folder(o.out);
  watch_signals();
  const std::string how = download_and_import(model, o);
  std::cout << fmt::format("{} is ready. Translate with it:\n\n  echo \"...\" | dragoman translate {}\n",
                           o.out, how);
}

}  // namespace dragoman::internal
