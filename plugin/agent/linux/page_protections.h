// Writes to pages that are read-only: those where a module keeps the addresses that it calls. The
// dynamic linker protects them once the addresses are set. They are made writable for an instant.
//
// The protections of all mappings are read once, into memory of this object's own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leakgate::agent {

class PageProtections {
 public:
  PageProtections() = default;
  ~PageProtections();
  PageProtections(const PageProtections&) = delete;
  PageProtections& operator=(const PageProtections&) = delete;

  // Stores `value` at `slot`, which is aligned, in one store. Returns false if the page cannot be
  // made writable, or is not mapped. The page gets its protection back when a slot on another page
  // is stored, or when this is destroyed.
  [[nodiscard]] bool Store(std::uint64_t* slot, std::uint64_t value);

 private:
  struct Range {
    std::uint64_t begin;
    std::uint64_t end;
    long protection;
  };

  [[nodiscard]] bool Read();
  [[nodiscard]] bool Open(std::uint64_t page, long protection);
  void Close();
  const Range* Find(std::uint64_t address) const;

  Range* ranges_ = nullptr;
  std::uint32_t count_ = 0;
  std::uint64_t open_page_ = 0;  // the page that was made writable; 0: none
  long open_protection_ = 0;     // its protection before
};

// Writes to code that nobody executes meanwhile, on pages that may be read and executed. Returns
// false if the system does not let it be written.
[[nodiscard]] bool WriteCode(std::uint64_t address, const unsigned char* code, std::size_t bytes);

}  // namespace leakgate::agent
