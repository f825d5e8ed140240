#include "runner/symbols/linker_names.h"

#include <map>

#include "runner/symbols/nt/pe_file.h"
#include "runner/symbols/nt/pe_symbols.h"

namespace leakgate {

struct LinkerNames::Files {
  struct File {
    std::unique_ptr<PeFile> file;  // null if it cannot be read
    std::unique_ptr<PeSymbols> symbols;
  };
  std::map<std::string, File> by_path;
};

LinkerNames::LinkerNames() : files_(std::make_unique<Files>()) {}
LinkerNames::~LinkerNames() = default;
LinkerNames::LinkerNames(LinkerNames&&) noexcept = default;
LinkerNames& LinkerNames::operator=(LinkerNames&&) noexcept = default;

std::vector<std::string> LinkerNames::At(const std::string& path, std::uint64_t address) {
  if (path.empty()) return {};
  const auto [known, is_new] = files_->by_path.try_emplace(path);
  Files::File& file = known->second;
  if (is_new) file.file = PeFile::Open(path);
  if (is_new && file.file != nullptr) file.symbols = std::make_unique<PeSymbols>(*file.file);
  return file.symbols == nullptr ? std::vector<std::string>() : file.symbols->NamesAt(address);
}

}  // namespace leakgate
