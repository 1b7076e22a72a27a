#include "document/xml/stream.h"

#include <algorithm>
#include <exception>
#include <memory>

#include "base/error.h"
#include "document/xml/safe_parser.h"

namespace dragoman::internal {
namespace {

std::string_view view_of(const xmlChar* text) { return reinterpret_cast<const char*>(text); }

struct StreamState : ParserState {
  explicit StreamState(XmlEvents& e) : events(e) {}

  XmlEvents& events;
  std::exception_ptr failure;  // which must not pass through libxml2
};

template <class F>
void call(void* context, F f) {
  auto& state = static_cast<StreamState&>(state_of(context));
  if (state.failure) return;
  try {
    f(state.events);
  } catch (...) {
    state.failure = std::current_exception();
    xmlStopParser(static_cast<xmlParserCtxtPtr>(context));
  }
}

// libxml2 gives five pointers an attribute: name, prefix, namespace, and the value's begin and end.
void on_start(void* context, const xmlChar* name, const xmlChar*, const xmlChar*, int, const xmlChar**,
              int count, int, const xmlChar** attributes) {
  call(context, [&](XmlEvents& events) {
    std::vector<XmlStreamAttribute> list;
    for (int i = 0; i < count; ++i) {
      const xmlChar* const* const five = attributes + i * 5;
      list.push_back({view_of(five[0]),
                      std::string(view_of(five[3]).substr(0, static_cast<size_t>(five[4] - five[3])))});
    }
    events.start(view_of(name), list);
  });
}

void on_end(void* context, const xmlChar* name, const xmlChar*, const xmlChar*) {
  call(context, [&](XmlEvents& events) { events.end(view_of(name)); });
}

void on_text(void* context, const xmlChar* text, int length) {
  call(context, [&](XmlEvents& events) {
    events.text({reinterpret_cast<const char*>(text), static_cast<size_t>(length)});
  });
}

}  // namespace

std::string value_of(std::string_view name, const std::vector<XmlStreamAttribute>& attributes) {
  const auto found = std::ranges::find(attributes, name, &XmlStreamAttribute::name);
  return found == attributes.end() ? std::string() : found->value;
}

void stream_xml(ByteSource& bytes, const DocumentSettings& settings, XmlEvents& events) {
  xmlSAXHandler handler = safe_handler();
  handler.startElementNs = on_start;
  handler.endElementNs = on_end;
  handler.characters = handler.cdataBlock = handler.ignorableWhitespace = on_text;
  const std::unique_ptr<xmlParserCtxt, FreeParser> context(
      xmlCreatePushParserCtxt(&handler, nullptr, nullptr, 0, nullptr));
  CHECK(context != nullptr, "libxml2 has no memory");
  xmlCtxtUseOptions(context.get(), XML_PARSE_NONET);
  StreamState state(events);
  context->_private = static_cast<ParserState*>(&state);
  std::vector<char> block(size_t{1} << 16);
  bool refused = false;
  while (!refused) {
    const size_t size = bytes.read(block.data(), block.size());
    if (size == 0 && context->nameNr > 0)
      state.refuse(context->input->line, "the file ends inside an element");
    refused = xmlParseChunk(context.get(), block.data(), static_cast<int>(size), size == 0) != 0;
    if (size == 0) break;
  }
  if (state.failure) std::rethrow_exception(state.failure);
  if (!refused && context->wellFormed != 0 && state.refusal.empty()) return;
  if (state.refusal.empty()) state.refusal = "invalid XML";
  throw Error("{}: line {}: {}: repair the file", settings.name, state.line, state.refusal);
}

}  // namespace dragoman::internal
