#include "student/corpus.h"

#include <xxhash.h>

#include "base/error.h"
#include "base/line_writer.h"
#include "base/lines.h"
#include "data/corpus.h"
#include "data/survey.h"

namespace dragoman::internal {
namespace {

// Of pairs that are held out, only those that are worth it are kept, too.
nlohmann::ordered_json clean_pairs(const DataConfig& data, const CleaningSettings& settings,
                                   const CleanCorpus& files, Preparation& work) {
  const Survey survey = survey_corpus(data, work);
  LineWriter source(files.source), target(files.target), valid_source(files.valid_source),
      valid_target(files.valid_target);
  CorpusReader reader(corpus_sources(data), data.swap, data.limit);
  const CleaningResult result = clean(
      reader, settings,
      [&](const CleanPair& pair) {
        const bool held_out = survey.is_held_out(pair.index);
        (held_out ? valid_source : source).add(pair.source);
        (held_out ? valid_target : target).add(pair.target);
      },
      work);
  if (data.hold_out > 0 && valid_source.lines() == 0)
    throw Error(
        "cleaning leaves out all pairs that data.hold_out sets aside for validation: set aside more of them");
  for (LineWriter* file : {&source, &target, &valid_source, &valid_target}) file->finish();
  nlohmann::ordered_json left_out = nlohmann::ordered_json::object();
  for (size_t i = 1; i < fault_count; ++i)
    if (result.counts[i] > 0) left_out[name_of(static_cast<Fault>(i))] = result.counts[i];
  return {{"read", result.read},
          {"kept", source.lines()},
          {"held_out", valid_source.lines()},
          {"left_out", std::move(left_out)}};
}

}  // namespace

std::vector<std::string> files_of(const DataConfig& data) {
  std::vector<std::string> files;
  for (const CorpusSource& source : corpus_sources(data)) {
    files.push_back(source.source);
    if (!source.is_tsv()) files.push_back(source.target);
  }
  return files;
}

nlohmann::ordered_json clean_monolingual(const std::vector<std::string>& files, const std::string& out,
                                         const Preparation& work) {
  LineWriter kept(out);
  int64_t read = 0;
  SeenTexts seen;
  for (const std::string& file : files) {
    LineReader lines(file);
    for (std::string_view line; lines.next(line);) {
      if (++read % 4096 == 0) work.stop_if_asked();
      if (is_text(line) && !is_blank(line) && seen.insert(XXH3_128bits(line.data(), line.size())))
        kept.add(line);
    }
  }
  kept.finish();
  return {{"read", read}, {"kept", kept.lines()}};
}

void clean_corpus(const DataConfig& data, const CleaningSettings& settings, const CleanCorpus& files,
                  Stage& stage) {
  Preparation work = {.doing = "cleaning"};
  stage.finish({{"pairs", clean_pairs(data, settings, files, work)}});
}

}  // namespace dragoman::internal
