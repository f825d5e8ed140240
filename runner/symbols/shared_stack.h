// The frames of a call stack, whose copies share their memory: many findings of a run have the same
// stack, of fifty frames with texts of their own.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "runner/symbols/frame.h"

namespace leakgate {

// Reads as a vector of frames, innermost first.
class SharedStack {
 public:
  using value_type = Frame;
  using const_iterator = std::vector<Frame>::const_iterator;

  SharedStack() = default;
  SharedStack(std::vector<Frame> frames)
      : frames_(std::make_shared<std::vector<Frame>>(std::move(frames))) {}
  SharedStack(std::initializer_list<Frame> frames) : SharedStack(std::vector<Frame>(frames)) {}

  [[nodiscard]] const std::vector<Frame>& get() const {
    static const std::vector<Frame> none;
    return frames_ ? *frames_ : none;
  }
  operator const std::vector<Frame>&() const { return get(); }

  [[nodiscard]] auto begin() const { return get().begin(); }
  [[nodiscard]] auto end() const { return get().end(); }
  [[nodiscard]] auto rbegin() const { return get().rbegin(); }
  [[nodiscard]] auto rend() const { return get().rend(); }
  [[nodiscard]] std::size_t size() const { return get().size(); }
  [[nodiscard]] bool empty() const { return get().empty(); }
  [[nodiscard]] const Frame& operator[](std::size_t index) const { return get()[index]; }
  [[nodiscard]] const Frame& front() const { return get().front(); }
  [[nodiscard]] const Frame& back() const { return get().back(); }

  // Returns frames that no copy shares.
  [[nodiscard]] std::vector<Frame>& Edit() {
    if (!frames_ || frames_.use_count() != 1) {
      frames_ = std::make_shared<std::vector<Frame>>(get());
    }
    return *frames_;
  }

  friend bool operator==(const SharedStack& a, const SharedStack& b) {
    return a.frames_ == b.frames_ || a.get() == b.get();
  }

 private:
  std::shared_ptr<std::vector<Frame>> frames_;
};

}  // namespace leakgate
