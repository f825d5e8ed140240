// Keeps a whole process stopped, for a copy of its memory of one moment.
#pragma once

#include <memory>

#include "runner/base/expected.h"

namespace leakgate {

// The process goes on when the object ends. Used by the thread that made it.
class ProcessStop {
 public:
  // Fails, with the reason and a remedy, if the process cannot be stopped.
  [[nodiscard]] static Expected<std::unique_ptr<ProcessStop>> Stop(int pid);
  virtual ~ProcessStop() = default;

  // Returns whether nothing of the process has run since.
  [[nodiscard]] virtual bool HasStoodStill() const = 0;
};

// Returns the error that a thread which had been left asleep has run while the process was stopped,
// so that what was read of it is not of one moment.
[[nodiscard]] Unexpected WokenError(int pid);

}  // namespace leakgate
