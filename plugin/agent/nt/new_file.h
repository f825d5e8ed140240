// Files that the program's own code asks for (leakgate::TakeSnapshot): there are none on Windows
// yet, and the code that asks is told so.
#pragma once

#include <cstdint>
#include <string_view>

namespace leakgate::agent {

class NewFile {
 public:
  explicit NewFile(const char* /*path*/) {}

  int error() const { return 1; }
  [[nodiscard]] const char* WhyNot() const { return "leakgate takes none on Windows yet"; }
  static constexpr char kRemedy[] = "";

  [[nodiscard]] bool HasRoomFor(std::int64_t) { return false; }
  [[nodiscard]] bool Write(std::string_view) { return false; }
  [[nodiscard]] bool PutInPlace() { return false; }
};

}  // namespace leakgate::agent
