// Metrics, glossaries and documents.
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "long_call.h"

namespace dragoman::python {
namespace {

using Texts = std::vector<std::string>;
using TextLists = std::vector<Texts>;
using Metric = CorpusScore (*)(std::span<const std::string>, SeveralReferences, const MetricSettings&);

template <Metric metric>
CorpusScore corpus_score(Texts hypotheses, TextLists references, const MetricSettings& settings) {
  const auto score = std::make_shared<CorpusScore>();
  const auto work = [hypotheses = std::move(hypotheses), references = std::move(references), settings,
                     score] { *score = metric(hypotheses, references, settings); };
  LongCall().run(work, LongCall::Interrupted::is_left);
  return *score;
}

PairedComparison compared(Texts baseline, Texts system, TextLists references, const PairedSettings& paired,
                          const MetricSettings& settings) {
  const auto result = std::make_shared<PairedComparison>();
  const auto work = [baseline = std::move(baseline), system = std::move(system),
                     references = std::move(references), paired, settings, result] {
    *result = compare_systems(baseline, system, SeveralReferences(references), paired, settings);
  };
  LongCall().run(work, LongCall::Interrupted::is_left);
  return *result;
}

void bind_metrics(nb::module_& module) {
  nb::class_<CorpusScore>(module, "CorpusScore")
      .def_ro("score", &CorpusScore::score)
      .def_ro("name", &CorpusScore::name)
      .def_ro("signature", &CorpusScore::signature)
      .def_ro("details", &CorpusScore::details);
  nb::class_<MetricSettings>(module, "MetricSettings")
      .def(nb::init<>())
      .def_rw("tokenizer", &MetricSettings::tokenizer)
      .def_rw("tokenizer_model", &MetricSettings::tokenizer_model)
      .def_rw("lowercase", &MetricSettings::lowercase)
      .def_rw("word_order", &MetricSettings::word_order)
      .def_rw("ter_normalized", &MetricSettings::ter_normalized)
      .def_rw("ter_no_punctuation", &MetricSettings::ter_no_punctuation)
      .def_rw("ter_asian_support", &MetricSettings::ter_asian_support)
      .def_rw("ter_case_sensitive", &MetricSettings::ter_case_sensitive);
  const auto add = [&](const char* name, auto* function) {
    module.def(name, function, nb::arg("hypotheses"), nb::arg("references"), nb::arg("settings"));
  };
  add("bleu", &corpus_score<bleu>);
  add("chrf", &corpus_score<chrf>);
  add("ter", &corpus_score<ter>);
  module.def("bleu_tokenizers", &bleu_tokenizers);

  nb::class_<SystemScore>(module, "SystemScore")
      .def_ro("score", &SystemScore::score)
      .def_ro("mean", &SystemScore::mean)
      .def_ro("half_width", &SystemScore::half_width);
  nb::class_<PairedSettings>(module, "PairedSettings")
      .def(nb::init<>())
      .def_rw("metric", &PairedSettings::metric)
      .def_rw("test", &PairedSettings::test)
      .def_rw("samples", &PairedSettings::samples)
      .def_rw("seed", &PairedSettings::seed);
  nb::class_<PairedComparison>(module, "PairedComparison")
      .def_ro("baseline", &PairedComparison::baseline)
      .def_ro("system", &PairedComparison::system)
      .def_ro("p_value", &PairedComparison::p_value);
  module.def("compare_systems", &compared, nb::arg("baseline"), nb::arg("system"), nb::arg("references"),
             nb::arg("paired"), nb::arg("settings"));
}

Glossary* open_glossary(const std::string& path, const std::string& from, const std::string& to) {
  const GilRelease release;
  return new Glossary(path, {from, to});
}

Glossary* glossary_of_entries(const std::vector<std::pair<std::string, std::string>>& entries) {
  const GilRelease release;
  std::vector<Glossary::Entry> read;
  for (const auto& [source, target] : entries) read.push_back({source, target});
  return new Glossary(read);
}

std::vector<std::tuple<size_t, size_t, Texts>> terms_of(const Glossary& glossary, const std::string& text) {
  std::vector<std::tuple<size_t, size_t, Texts>> terms;
  for (const Term& term : glossary.terms(text))
    terms.emplace_back(term.source.begin, term.source.end, term.targets);
  return terms;
}

Memory* open_memory(const std::string& path, bool add) {
  const GilRelease release;
  return new Memory(path, add ? Memory::Access::add : Memory::Access::read);
}

std::vector<MemorySegment> look_up(const Memory& memory, const std::string& text, int64_t at_most,
                                   double at_least, bool match_case, bool match_numbers) {
  const GilRelease release;
  return memory.look_up(text, {at_most, at_least, match_case, match_numbers});
}

void add_segments(Memory& memory, const std::vector<std::pair<std::string, std::string>>& segments,
                  const std::string& origin) {
  std::vector<TextPair> pairs;
  for (const auto& [source, target] : segments) pairs.push_back({source, target});
  const GilRelease release;
  memory.add(pairs, origin);
}

void bind_memories(nb::module_& module) {
  nb::class_<MemorySegment>(module, "MemorySegment")
      .def_ro("source", &MemorySegment::source)
      .def_ro("target", &MemorySegment::target)
      .def_ro("similarity", &MemorySegment::similarity)
      .def_ro("exact", &MemorySegment::exact);
  nb::class_<Memory>(module, "Memory")
      .def(nb::new_(&open_memory), nb::arg("path"), nb::arg("add"))
      .def("languages", [](const Memory& memory) { return std::pair(memory.from(), memory.to()); })
      .def("look_up", &look_up, nb::arg("text"), nb::arg("at_most"), nb::arg("at_least"),
           nb::arg("match_case"), nb::arg("match_numbers"))
      .def("add", &add_segments, nb::arg("segments"), nb::arg("origin"));
}

nb::bytes bytes_of(const TranslatedDocument& document) {
  return nb::bytes(document.bytes.data(), document.bytes.size());
}

TranslatedDocument translate(Translator& translator, const nb::bytes& bytes, const std::string& name,
                             const std::string& format, const std::string& columns, const nb::dict& options,
                             int64_t timeout, const Glossary* glossary, const Memory* memory,
                             bool mark_unconfirmed) {
  DocumentRequest request = {.bytes = {static_cast<const char*>(bytes.data()), bytes.size()},
                             .name = name,
                             .format = format,
                             .options = options_of(options),
                             .glossary = glossary,
                             .memory = memory,
                             .timeout = std::chrono::milliseconds(timeout),
                             .columns = columns,
                             .mark_unconfirmed = mark_unconfirmed};
  return in_long_call([&](LongCall& call) {
    request.stop = call.stop_token();
    return translate_document(translator, request);
  });
}

}  // namespace

void bind_texts(nb::module_& module) {
  bind_metrics(module);
  bind_memories(module);
  nb::class_<Glossary>(module, "Glossary")
      .def(nb::new_(&open_glossary), nb::arg("path"), nb::arg("source_language"), nb::arg("target_language"))
      .def_static("of_entries", &glossary_of_entries, nb::arg("entries"))
      .def("__len__", &Glossary::size)
      .def("terms", &terms_of, nb::arg("text"), nb::call_guard<GilRelease>());

  nb::class_<TranslatedDocument>(module, "TranslatedDocument")
      .def_prop_ro("bytes", &bytes_of)
      .def_ro("segments", &TranslatedDocument::segments)
      .def_ro("cut", &TranslatedDocument::cut)
      .def_ro("unknown", &TranslatedDocument::unknown)
      .def_ro("repeats", &TranslatedDocument::repeats)
      .def_ro("terms_missed", &TranslatedDocument::terms_missed)
      .def_ro("repaired", &TranslatedDocument::repaired);
  nb::class_<DocumentFormat>(module, "DocumentFormat")
      .def_ro("name", &DocumentFormat::name)
      .def_ro("description", &DocumentFormat::description)
      .def_ro("endings", &DocumentFormat::endings)
      .def_ro("written_as", &DocumentFormat::written_as);
  module.def("translate_document", &translate, nb::arg("translator"), nb::arg("bytes"), nb::arg("name"),
             nb::arg("format"), nb::arg("columns"), nb::arg("options"), nb::arg("timeout"),
             nb::arg("glossary").none(), nb::arg("memory").none(), nb::arg("mark_unconfirmed"));
  module.def("document_formats", &document_formats);
}

}  // namespace dragoman::python
