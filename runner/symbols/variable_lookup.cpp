#include <map>
#include <utility>
#include <vector>

#include "runner/symbols/variable_file.h"
#include "runner/symbols/variables.h"

namespace leakgate {
namespace {

std::vector<Frame> FramesOf(const std::optional<Variable>& variable) {
  if (!variable) return {};
  Frame frame;
  frame.function = variable->name;
  frame.file = variable->position.file;
  frame.line = variable->position.line;
  return {frame};
}

std::optional<Variable> VariableOf(const std::vector<Frame>& frames) {
  if (frames.empty()) return std::nullopt;
  return Variable{frames.front().function, {frames.front().file, frames.front().line}};
}

}  // namespace

struct Variables::Caches {
  struct CachedFile {
    DebugSource source;
    KeptSymbols* kept = nullptr;           // of earlier runs; null if nothing is kept
    std::unique_ptr<VariableFile> file{};  // null until it is needed
  };

  Symbolizer::SymbolsAreEnough symbols_are_enough;
  SymbolCache* kept = nullptr;
  std::map<std::string, CachedFile> by_path;

  CachedFile& For(const std::string& path) {
    const auto known = by_path.find(path);
    if (known != by_path.end()) return known->second;
    const bool is_enough = symbols_are_enough && symbols_are_enough(path);
    const DebugSource source = is_enough ? DebugSource::kOwnFile : DebugSource::kAnyFile;
    KeptSymbols* const of_file = kept != nullptr ? kept->For(path, source, "") : nullptr;
    return by_path.emplace(path, CachedFile{source, of_file}).first->second;
  }

  using Find = std::optional<Variable> (VariableFile::*)(std::uint64_t at);
  std::optional<Variable> FindIn(const std::string& path, KeptSymbols::Kind kind, Find find,
                                 std::uint64_t at) {
    CachedFile& cached = For(path);
    if (cached.kept != nullptr) {
      const std::optional<std::vector<Frame>> known = cached.kept->Find(kind, at);
      if (known) return VariableOf(*known);
    }
    if (!cached.file) cached.file = VariableFile::Open(path, cached.source);
    const std::optional<Variable> variable = ((*cached.file).*find)(at);
    if (cached.kept != nullptr && cached.file->TellsAll()) {
      cached.kept->Keep(kind, at, FramesOf(variable));
    }
    return variable;
  }
};

Variables::Variables(Symbolizer::SymbolsAreEnough symbols_are_enough, SymbolCache* kept)
    : caches_(std::make_unique<Caches>()) {
  caches_->symbols_are_enough = std::move(symbols_are_enough);
  caches_->kept = kept;
}
Variables::~Variables() = default;
Variables::Variables(Variables&&) noexcept = default;
Variables& Variables::operator=(Variables&&) noexcept = default;

std::optional<Variable> Variables::At(const std::string& path, std::uint64_t address) {
  return caches_->FindIn(path, KeptSymbols::Kind::kGlobal, &VariableFile::At, address);
}

VariableExtent Variables::ExtentAt(const std::string& path, std::uint64_t address) {
  Caches::CachedFile& cached = caches_->For(path);
  if (!cached.file) cached.file = VariableFile::Open(path, cached.source);
  return cached.file->ExtentAt(address);
}

std::optional<Variable> Variables::ThreadLocalAt(const std::string& path, std::uint64_t offset) {
  return caches_->FindIn(path, KeptSymbols::Kind::kThreadLocal, &VariableFile::ThreadLocalAt,
                         offset);
}

}  // namespace leakgate
