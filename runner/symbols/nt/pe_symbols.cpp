#include "runner/symbols/nt/pe_symbols.h"

#include <algorithm>
#include <utility>

namespace leakgate {
namespace {

// Symbols of C++ say most, and labels of the compiler's and the linker's least.
int RankOf(const std::string& name) {
  if (name.starts_with("_Z") || name.starts_with("?")) return 0;
  return name.starts_with("__") || name.starts_with(".") ? 2 : 1;
}

}  // namespace

void PeSymbols::Read() {
  if (std::exchange(is_read_, true)) return;
  file_.ForEachSymbol([this](const PeFile::Symbol& symbol, bool is_exported) {
    if (!is_exported || !file_.HasSymbolTable()) symbols_.push_back(symbol);
  });
  std::sort(symbols_.begin(), symbols_.end(), [](const PeFile::Symbol& a, const PeFile::Symbol& b) {
    return std::tuple(a.address, RankOf(a.name), a.name) <
           std::tuple(b.address, RankOf(b.name), b.name);
  });
}

std::vector<std::string> PeSymbols::LastAt(std::uint64_t address, std::uint64_t least) const {
  std::vector<std::string> names;
  const auto is_before = [](std::uint64_t wanted, const PeFile::Symbol& symbol) {
    return wanted < symbol.address;
  };
  auto symbol = std::upper_bound(symbols_.begin(), symbols_.end(), address, is_before);
  if (symbol == symbols_.begin() || std::prev(symbol)->address < least) return names;
  const std::uint64_t begin = std::prev(symbol)->address;
  while (symbol != symbols_.begin() && std::prev(symbol)->address == begin) --symbol;
  for (; symbol != symbols_.end() && symbol->address == begin; ++symbol) {
    if (names.empty() || names.back() != symbol->name) names.push_back(symbol->name);
  }
  return names;
}

std::vector<std::string> PeSymbols::NamesAt(std::uint64_t address) {
  const std::optional<PeFile::Function> function = file_.FunctionAt(address);
  if (!function) return {};
  Read();
  // A part of a function may have a name of its own ("f.cold"), and lies apart from the function.
  std::vector<std::string> names = LastAt(address, function->begin);
  if (names.empty()) names = LastAt(function->entry, function->entry);
  return names;
}

std::optional<PeSymbols::Data> PeSymbols::DataAt(std::uint64_t address) {
  Read();
  const auto is_before = [](std::uint64_t wanted, const PeFile::Symbol& symbol) {
    return wanted < symbol.address;
  };
  const auto next = std::upper_bound(symbols_.begin(), symbols_.end(), address, is_before);
  const std::vector<std::string> names = LastAt(address, 0);
  if (names.empty()) return std::nullopt;
  const auto section = std::find_if(file_.sections().rbegin(), file_.sections().rend(),
                                    [&](const PeFile::Section& it) { return address >= it.begin; });
  const std::uint64_t begin = std::prev(next)->address;
  if (section == file_.sections().rend() || begin < section->begin) return std::nullopt;
  const std::uint64_t end = next != symbols_.end() ? next->address : begin + 8;
  return Data{names.front(), {begin, std::max(end, begin + 8)}};
}

}  // namespace leakgate
