// Glossary files: tab-separated text, and TBX (ISO 30042), the exchange format of terminology systems.
//
// A tab-separated file has one entry per line: the source, its translation, and optionally flags.
//
//   Hund | Hunde | Hundes <tab> dog | dogs
//   GitHub                <tab> =               stays as it is in the text
//   kern                  <tab> Kernel <tab> any-case
//   # a comment; empty lines are ignored
//
// Forms of a source and alternatives of a target are separated by |; \| is a literal |, and \# at the beginning of a
// line a literal #. The flags: any-case (letters of either case match), exact-case (only as written, also where a
// sentence begins). The first line may be a header: source, target, flags.
//
// Of a TBX file a concept is an entry: its terms in the one language translated by its terms in the other, without
// those that are deprecated or superseded, the preferred ones first.
#pragma once

#include <string>
#include <vector>

#include "document/glossary/entry.h"

namespace dragoman::internal {

// Throws an Error that names the file and the line.
std::vector<GlossaryEntry> read_glossary(const std::string& path, const GlossaryLanguages& languages);

}  // namespace dragoman::internal
