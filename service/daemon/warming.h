// Warming: the shapes of --warm are loaded, or tuned and then loaded, before the daemon says that
// it serves. On a thread of its own, which may block; a stop ends it at once.
#pragma once

#include <stop_token>
#include <vector>

#include "service/daemon/warm_list.h"

namespace normd {

class Core;

// A shape whose tuning fails is logged and passed over. False: stopped.
bool warm_up(Core& core, const std::vector<WarmShape>& shapes, const std::stop_token& stop);

}  // namespace normd
