// dragoman inspect: what a model makes of a sentence, as one HTML page, as JSON, or as figures of its attention.
#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "app/command_line.h"
#include "app/commands.h"
#include "app/output.h"
#include "app/shared_options.h"
#include "app/translating.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/log.h"
#include "base/signals.h"
#include "report/attention_figure.h"
#include "report/folder_name.h"
#include "report/inspection.h"
#include "search/segments.h"
#include "search/translator.h"
#include "text/unicode.h"

namespace dragoman::internal {
namespace {

using nlohmann::ordered_json;

constexpr int64_t inspected_alternatives = 5;

enum class InspectFormat { html, json, svg };

struct InspectOptions {
  std::string model, text, target, out;
  MachineOptions machine;
  SearchOptions search;
  InspectFormat format = InspectFormat::html;
  AttentionKind attention = AttentionKind::cross;
  int64_t layer = 1;

  bool several_figures() const {
    return format == InspectFormat::svg && (attention == AttentionKind::all || layer == 0);
  }
};

void declare(Options& options, InspectOptions& o) {
  auto own = options.section("", "Options");
  declare_model(own, o.model, o.machine);
  own.add("text", o.text, "a sentence, instead of a file");
  own.add("target", o.target, "a given translation of --text to inspect, instead of the model's own");
  own.add("format", o.format,
          "html: an interactive page; json: its data; svg: figures of a layer's heads, for papers",
          {{"html", InspectFormat::html}, {"json", InspectFormat::json}, {"svg", InspectFormat::svg}});
  own.add("attention", o.attention,
          "svg: attention of the encoder, of the decoder, of the decoder to the source (cross), or all three",
          {{"encoder", AttentionKind::encoder},
           {"decoder", AttentionKind::decoder},
           {"cross", AttentionKind::cross},
           {"all", AttentionKind::all}});
  own.add("layer", o.layer, "svg: layer, counted from 1; 0: all of them", at_least(0));
  declare_output_file(
      own, o.out,
      "output file; - is standard output; by default inspect.html, or - for json and svg; the "
      "folder for files like cross-1.svg if there are several figures");
}

// Subwords of the longest source, unless the model was trained on longer ones: attention grows with the square, and a
// page of 512 has a hundred megabytes where the model is a base one.
constexpr int64_t max_source_length = 512;

// Translating splits sentences longer than those in training. One that is drawn stays whole.
void read_whole_sentences(SavedModel& model) {
  for (SourceReader& reader : model.readers)
    reader.max_length = std::max(reader.max_length, std::min(max_source_length, model.max_positions - 1));
}

// As translate searches, but for alternatives, and what each attends to.
SearchOptions search_of_inspection(const std::string& folder, const Options& given) {
  SearchOptions search = checked_search(folder, given, /*alignment=*/true);
  if (!given.is_given("nbest"))
    search.nbest = search.sample ? inspected_alternatives : std::min(inspected_alternatives, search.beam);
  return search;
}

struct Sentence {
  int64_t line;  // of the input
  std::string text;
};

// The given sentence, or the lines of the files without the blank ones.
std::vector<Sentence> sentences(const InspectOptions& o, const std::vector<std::string>& files) {
  if (!o.text.empty()) return {{1, o.text}};
  std::vector<Sentence> lines;
  TranslationInput input(files, "", given_lines({}, files));
  int64_t number = 0;
  for (TranslationInput::Line line; input.next(line);) {
    ++number;
    if (line.text.find_first_not_of(" \t\r") != line.text.npos)
      lines.push_back({number, std::string(line.text)});
  }
  if (lines.empty()) throw Error("inspect: the input contains no sentence");
  return lines;
}

TranslatedLine translated(Translator& translator, const std::string& text, const SearchOptions& options) {
  std::optional<TranslatedLine> translated;
  std::exception_ptr error;
  translator.add({.text = text, .options = options, .on_end = [&](const JobEnd& end, TranslatedLine line) {
                    error = end.error;
                    translated = std::move(line);
                  }});
  while (!translated) {
    if (stop_requested() != 0) throw Stopped(stop_requested(), "stopped before the sentence was translated");
    translator.searches.step();
  }
  if (error) std::rethrow_exception(error);
  return std::move(*translated);
}

ordered_json inspect_all(const InspectOptions& o, const std::vector<Sentence>& lines) {
  const auto model = load_model(o.model, o.machine);
  read_whole_sentences(*model);
  const int64_t layer = alignment_layer(model->model.config, o.search.alignment_layer);
  const Direction direction = model->direction(o.search);
  Translator translator(*model, {.sentences = 1});
  ordered_json all = ordered_json::array();
  for (const auto& [number, text] : lines) {
    if (lines.size() > 1 && split_line(*model, repaired(text), direction).empty()) {
      log_warning("line {} contains no words to inspect, and is left out", number);
      continue;
    }
    const TranslatedLine line = translated(translator, text, o.search);
    all.push_back(
        inspection(*model, direction, line, repaired(o.target), layer, o.format == InspectFormat::html));
  }
  if (all.empty()) throw Error("inspect: the input contains no sentence");
  return {{"model", folder_name(o.model)}, {"sentences", all}};
}

void write(const InspectOptions& o, const ordered_json& data) {
  if (o.format == InspectFormat::html) return write_output(o.out, inspection_page(data));
  if (o.format == InspectFormat::json) return write_output(o.out, json_text(data) + "\n");
  if (o.several_figures()) make_folder(o.out);
  const ordered_json& sentence = data["sentences"][0];
  if (o.attention == AttentionKind::all && sentence["attention"]["decoder"].empty())
    log_info("no figure of the decoder's self-attention: this model has recurrent units instead");
  for (const AttentionFigure& figure : attention_figures(sentence, o.attention, o.layer))
    write_output(o.several_figures() ? o.out + "/" + figure.name + ".svg" : o.out, svg(figure.maps));
}

void check(const InspectOptions& o, const Options& given, const std::vector<std::string>& files) {
  if (o.model.empty() || (!given.is_given("text") && files.empty()))
    throw UsageError("inspect needs --model DIR, and --text SENTENCE or a FILE: see dragoman inspect --help");
  if (given.is_given("text") && !files.empty())
    throw UsageError("inspect takes --text or a FILE: remove one of them");
  if (files.empty() && o.text.empty()) throw UsageError("--text is empty: give a sentence");
  if (!o.target.empty() && o.text.empty())
    throw UsageError("--target is the translation of one sentence: give it with --text");
  if (o.format == InspectFormat::svg && o.text.empty())
    throw UsageError("--format svg draws one sentence: give it with --text");
  if (o.several_figures() && (o.out.empty() || o.out == "-"))
    throw UsageError("--attention all and --layer 0 draw several figures: name a folder for them with --out");
  for (const char* key : {"attention", "layer"}) {
    if (o.format != InspectFormat::svg && given.is_given(key))
      throw UsageError("--{} has no effect without --format svg: the page and JSON show all layers", key);
  }
}

}  // namespace

void inspect(const Arguments& arguments) {
  InspectOptions o;
  o.search.nbest = inspected_alternatives;
  std::vector<std::string> files;
  Options options, search;
  declare(options, o);
  declare_search(search, o.search);
  CommandLine line("inspect", summary_of("inspect"));
  line.add_arguments("FILE", files,
                     "a few sentences, one per line, or a sentence itself; - is standard input",
                     /*required=*/false);
  line.add_options(options);
  add_search(line, search);
  if (!line.read(arguments)) return;
  if (o.text.empty() && !files.empty()) {
    if (const auto given = given_lines({}, files); given.size() == 1) {
      options.set_flag("text", given[0]);
      files.clear();
    }
  }
  check(o, options, files);
  if (o.out.empty()) o.out = o.format == InspectFormat::html ? "inspect.html" : "-";
  o.several_figures() ? check_writable_folder(o.out) : check_output(o.out);
  o.search = search_of_inspection(o.model, search);
  watch_signals();

  write(o, inspect_all(o, sentences(o, files)));
}

}  // namespace dragoman::internal
