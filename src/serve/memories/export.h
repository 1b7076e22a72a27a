// A memory as TMX, sent while it is read: it may be larger than what a server keeps for a client that reads slowly.
#pragma once

#include "serve/context.h"
#include "serve/memories/store.h"

namespace dragoman::internal {

// Answers the call, from a thread that may wait for the client.
void send_tmx(ServeContext& context, const ServeCall& call, std::shared_ptr<const ServedMemory> memory);

}  // namespace dragoman::internal
