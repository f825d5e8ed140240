// A PE file on disk, as it lies in memory: its sections, symbols and imports. Addresses are
// relative to the begin of the image. The file is not trusted: what is out of bounds counts as
// missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runner/base/descriptors.h"

namespace leakgate {

// Returns bytes as lower-case hexadecimal digits.
[[nodiscard]] std::string HexText(std::span<const std::uint8_t> bytes);

class PeFile {
 public:
  using Bytes = std::span<const std::uint8_t>;

  struct Section {
    std::string name;
    std::uint32_t begin = 0;
    Bytes bytes;  // those that are in the file
    bool is_code = false;
  };

  // Returns null if the file cannot be read, or is no PE file for 64 bits.
  [[nodiscard]] static std::unique_ptr<PeFile> Open(const std::string& path);

  // Returns `size` bytes of the image; nothing if the file does not have all of them.
  [[nodiscard]] Bytes At(std::uint64_t address, std::size_t size) const;
  // Does the same for bytes of code alone.
  [[nodiscard]] Bytes CodeAt(std::uint64_t address, std::size_t size) const;
  // Returns the text at `address`, up to a zero; empty if there is none.
  [[nodiscard]] std::string TextAt(std::uint64_t address) const;
  // Returns the contents of the section of this name; nothing if there is none.
  [[nodiscard]] Bytes Contents(std::string_view section) const;
  [[nodiscard]] const std::vector<Section>& sections() const { return sections_; }

  // The address that the file would have in memory. Its DWARF counts from it.
  [[nodiscard]] std::uint64_t image_base() const { return image_base_; }
  [[nodiscard]] std::uint32_t image_bytes() const { return image_bytes_; }
  // As Module has it; see common/pe_identity.h.
  [[nodiscard]] const std::string& build_id() const { return build_id_; }
  // Returns whether the linker has named a PDB for the file.
  [[nodiscard]] bool HasPdb() const { return has_pdb_; }

  // Returns whether the file has other bytes than its linker, or who has signed it, has written.
  // False if they have left no checksum. Reads the whole file.
  [[nodiscard]] bool IsDamaged() const;

  // The range of a function, or of a part of one, from the table for exceptions.
  struct Function {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t entry = 0;  // where the function begins, if this is a part of it
  };
  [[nodiscard]] std::optional<Function> FunctionAt(std::uint64_t address) const;

  // A symbol of the table that mingw's linker writes, or an exported one.
  struct Symbol {
    std::uint64_t address = 0;
    std::string name;
  };
  // Calls `use(symbol, is_exported)` for each of them.
  template <typename Use>
  void ForEachSymbol(const Use& use) const {
    for (const Symbol& symbol : ReadSymbols()) use(symbol, false);
    for (const Symbol& symbol : ReadExports()) use(symbol, true);
  }
  [[nodiscard]] bool HasSymbolTable() const { return symbol_count_ != 0; }

  // Returns the names of imported functions by the addresses of their slots.
  [[nodiscard]] std::unordered_map<std::uint64_t, std::string> ReadImports() const;

 private:
  PeFile() = default;
  [[nodiscard]] bool ReadHeaders();
  void ReadSections(std::uint32_t header);
  [[nodiscard]] Bytes InFile(std::uint64_t offset, std::size_t size) const;
  [[nodiscard]] std::string LongName(std::uint32_t offset) const;
  [[nodiscard]] std::string SymbolName(const std::uint8_t* name) const;
  [[nodiscard]] std::vector<Symbol> ReadSymbols() const;
  [[nodiscard]] std::vector<Symbol> ReadExports() const;

  Mapping mapping_;
  Bytes file_;
  std::vector<Section> sections_;
  std::uint64_t image_base_ = 0;
  std::uint32_t image_bytes_ = 0;
  std::string build_id_;
  bool has_pdb_ = false;
  std::uint32_t header_ = 0;   // where it is in the file
  std::uint32_t symbols_ = 0;  // where the symbols are in the file
  std::uint32_t symbol_count_ = 0;
};

}  // namespace leakgate
