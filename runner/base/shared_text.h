// An immutable text whose copies share their memory. A program under test may give a million
// blocks the same reason of 64 KiB.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace leakgate {

class SharedText {
 public:
  SharedText() = default;
  SharedText(std::string text) : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(std::string_view text) : SharedText(std::string(text)) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}

  [[nodiscard]] const std::string& get() const {
    static const std::string none;
    return text_ ? *text_ : none;
  }
  [[nodiscard]] bool empty() const { return text_ == nullptr || text_->empty(); }

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.get() == b.get(); }

 private:
  std::shared_ptr<const std::string> text_;
};

}  // namespace leakgate
