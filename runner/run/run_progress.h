// How far a run has come: the session says where to look, and whoever shows it looks.
//
// Told on the main thread; asked on a thread of the shower's own.
#pragma once

#include <functional>
#include <mutex>
#include <optional>

#include "runner/report/progress_text.h"

namespace leakgate {

class RunProgress {
 public:
  using Source = std::function<Progress()>;

  // What to show now; nullopt: nothing is under way.
  [[nodiscard]] std::optional<Progress> Now() const {
    const std::lock_guard lock(mutex_);
    return source_ ? std::optional(source_()) : std::nullopt;
  }

  // From now on `source` is asked; on return no earlier one is, nor ever again.
  void Follow(Source source) {
    const std::lock_guard lock(mutex_);
    source_ = std::move(source);
  }
  void Tell(Progress progress) {
    Follow([progress = std::move(progress)] { return progress; });
  }

  // The terminal is about to be somebody else's, as when the shell gets it back; and it is the
  // runner's again. On return of `pause` nothing is shown. Set by whoever shows it, before the
  // run; may be empty.
  std::function<void()> pause;
  std::function<void()> resume;

 private:
  mutable std::mutex mutex_;
  Source source_;
};

// Ends what is shown of a run: with it, nothing is.
class ProgressEnd {
 public:
  explicit ProgressEnd(RunProgress* progress) : progress_(progress) {}
  ~ProgressEnd() {
    if (progress_ == nullptr) return;
    progress_->Follow(nullptr);
    if (progress_->pause) progress_->pause();
  }
  ProgressEnd(const ProgressEnd&) = delete;
  ProgressEnd& operator=(const ProgressEnd&) = delete;

 private:
  RunProgress* const progress_;
};

}  // namespace leakgate
