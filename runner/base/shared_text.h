// An immutable text whose copies share their memory, in eight bytes each. A program under test may
// give a million blocks the same reason of 64 KiB.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
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
  operator const std::string&() const { return get(); }
  operator std::string_view() const { return get(); }
  [[nodiscard]] bool empty() const { return shared_ == nullptr; }
  void clear() { *this = {}; }
  SharedText& operator+=(std::string_view more) {
    return *this = SharedText(get() + std::string(more));
  }

  friend bool operator==(const SharedText& a, const SharedText& b) {
    return a.shared_ == b.shared_ || a.get() == b.get();
  }
  friend bool operator==(const SharedText& a, std::string_view b) { return a.get() == b; }
  friend bool operator==(const SharedText& a, const std::string& b) { return a.get() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.get() == b; }
  friend std::string operator+(const SharedText& a, std::string_view b) {
    return a.get() + std::string(b);
  }
  friend std::string operator+(std::string_view a, const SharedText& b) {
    return std::string(a) + b.get();
  }

 private:
  struct Shared {
    std::atomic<std::size_t> owners;
    const std::string text;
  };

  Shared* shared_ = nullptr;  // null: an empty text
};

// Keeps one text for all that read the same, of the first so many.
class TextPool {
 public:
  [[nodiscard]] SharedText Of(std::string text) {
    constexpr std::size_t kMost = 10'000;
    const auto known = texts_.find(text);
    if (known != texts_.end()) return known->second;
    SharedText shared(std::move(text));
    if (texts_.size() < kMost) texts_.emplace(shared.get(), shared);
    return shared;
  }

 private:
  std::unordered_map<std::string_view, SharedText> texts_;  // each key is in its value
};

}  // namespace leakgate
