// libxml2 as it is used here: it opens no other file, replaces no entity, and its first error is kept.
#pragma once

#include <string>

#include <libxml/parser.h>

namespace dragoman::internal {

// What a parser's context points to (_private), so that the handlers find it.
struct ParserState {
  int line = 0;
  std::string refusal;  // the first reason why the file is rejected

  void refuse(int where, std::string why) {
    if (refusal.empty()) line = where, refusal = std::move(why);
  }
};

inline ParserState& state_of(void* context) {
  return *static_cast<ParserState*>(static_cast<xmlParserCtxtPtr>(context)->_private);
}

// The handlers that keep the declared entities, and errors: no tree is built.
xmlSAXHandler safe_handler();

struct FreeParser {
  void operator()(xmlParserCtxtPtr context) const {
    if (context->myDoc != nullptr) xmlFreeDoc(context->myDoc);
    xmlFreeParserCtxt(context);
  }
};

}  // namespace dragoman::internal
