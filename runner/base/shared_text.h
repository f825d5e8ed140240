// An immutable text whose copies share their memory, in eight bytes each. A program under test may
// give a million blocks the same reason of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace leakgate {

class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) {
    if (!text.empty()) shared_ = new Shared{{1}, std::move(text)};
  }
  SharedText(std::string_view text) : SharedText(std::string(text)) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}
  SharedText(const SharedText& other) noexcept : shared_(other.shared_) {
    if (shared_ != nullptr) shared_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedText(SharedText&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  SharedText& operator=(SharedText other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~SharedText() {
    if (shared_ == nullptr) return;
    // Acquire pairs with the other owners' releases: nobody reads the text any more.
    if (shared_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared_;
  }

  [[nodiscard]] const std::string& get() const {
    static const std::string none;
    return shared_ != nullptr ? shared_->text : none;
  }
  [[nodiscard]] bool empty() const { return shared_ == nullptr; }

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.get() == b.get(); }

 private:
  struct Shared {
    std::atomic<std::size_t> owners;
    const std::string text;
  };

  Shared* shared_ = nullptr;  // null: an empty text
};

}  // namespace leakgate
