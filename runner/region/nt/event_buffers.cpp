// Recordings are not made on Windows yet: no request for one is granted, so there are no buffers.
#include "runner/region/event_buffers.h"

namespace leakgate {

Expected<void> EventBuffers::Ask(const UniqueFd&, const EventRequest& request) {
  if (request.buffer_bytes == 0) return {};
  return InconclusiveError("recordings are not made on Windows yet");
}

}  // namespace leakgate
