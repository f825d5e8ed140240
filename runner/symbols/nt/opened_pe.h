// A PE file with its debug information: DWARF in the file itself, or a PDB. Used by one thread at a
// time.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "runner/symbols/nt/dwarf_reader.h"
#include "runner/symbols/nt/pdb_reader.h"
#include "runner/symbols/nt/pe_file.h"
#include "runner/symbols/nt/pe_symbols.h"
#include "runner/symbols/symbol_cache.h"

namespace leakgate {

class OpenedPe {
 public:
  // Returns null if there is no such file.
  [[nodiscard]] static std::unique_ptr<OpenedPe> Open(
      const std::string& path, DebugSource source,
      std::vector<std::filesystem::path> directories = {});

  [[nodiscard]] const PeFile& file() const { return *file_; }
  [[nodiscard]] PeSymbols& symbols() { return symbols_; }
  // Both read the debug information when they are first called; null if there is none.
  [[nodiscard]] DwarfReader* dwarf();
  [[nodiscard]] PdbReader* pdb();

  // Returns whether what describes the file's addresses is in the file itself, was not to be
  // searched for, or is in the PDB of just this build.
  [[nodiscard]] bool IsWhole();

 private:
  OpenedPe(std::unique_ptr<PeFile> file, std::string path, DebugSource source,
           std::vector<std::filesystem::path> directories);

  std::unique_ptr<PeFile> file_;
  std::string path_;
  DebugSource source_;
  std::vector<std::filesystem::path> directories_;
  PeSymbols symbols_;
  bool has_opened_dwarf_ = false;
  std::unique_ptr<DwarfReader> dwarf_;
  bool has_opened_pdb_ = false;
  std::unique_ptr<PdbReader> pdb_;
};

}  // namespace leakgate
