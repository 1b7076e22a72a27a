#include "base/error.h"
#include "document/glossary.h"
#include "fuzz/memory_file.h"
#include "fuzz/readers.h"
#include "fuzz/reading.h"

namespace dragoman::internal {

// Looks for the entries in the file itself, which contains all of them.
std::string read_glossary_file(std::string_view bytes) {
  const MemoryFile file(bytes);
  return refusal([&] {
    const Glossary glossary(read_glossary(file.path(), {}));
    const size_t most = 10'000;
    for (const GlossaryMatch& match : glossary.find(bytes.substr(0, most)))
      CHECK(match.source.begin < match.source.end && !match.targets.empty(), "an empty match");
  });
}

std::vector<std::string> glossary_seeds() {
  return {
      "source\ttarget\tflags\nHund | Hunde\tdog|dogs\tany-case\n# no\nNew York\t=\n\\#1\ta\\|b\n猫\tcat\n",
      R"(<?xml version="1.0"?><martif type="TBX"><text><body><termEntry id="1"><langSet xml:lang="en"><tig>)"
      R"(<term>cat</term></tig></langSet><langSet xml:lang="de-AT"><ntig><termGrp><term>Katze &amp; Co</term>)"
      R"(<termNote type="administrativeStatus">preferredTerm-admn-sts</termNote></termGrp></ntig></langSet>)"
      R"(</termEntry></body></text></martif>)",
      R"(<tbx style="dca" xmlns="urn:iso:std:iso:30042:ed-2"><text><body><conceptEntry><langSec xml:lang="en">)"
      R"(<termSec><term><![CDATA[dog]]></term></termSec></langSec><langSec xml:lang="fr"><termSec><term>chien)"
      R"(</term></termSec></langSec></conceptEntry></body></text></tbx>)"};
}

}  // namespace dragoman::internal
