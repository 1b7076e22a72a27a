// Segments that clients add to a memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "serve/context.h"
#include "serve/memories/store.h"

namespace dragoman::internal {

// Whether this client may add: with --memory-writers those, else all that may use the server.
bool may_add(const ServeContext& context, const ServeCall& call);

// Throws a ServeError of status 403 where it may not.
void check_may_add(const ServeContext& context, const ServeCall& call);

// Adds sources with their translations; an empty translation removes what was there. They are on the disk when it
// returns. Throws a ServeError where the client may not add, where there is too much, or where a text is empty.
void add_segments(ServeContext& context, const ServeCall& call, const ServedMemory& memory,
                  std::vector<std::pair<std::string, std::string>> texts);

// The memory to which clients add that name none: the first of these languages. Throws a ServeError of status 404 where
// there is none.
std::shared_ptr<const ServedMemory> memory_to_add(const ServeContext& context, const std::string& from,
                                                  const std::string& to);

}  // namespace dragoman::internal
