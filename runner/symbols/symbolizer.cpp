#include "runner/symbols/symbolizer.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runner/symbols/module_file.h"

namespace leakgate {
namespace {

std::vector<Frame> FramesIn(ModuleFile* file, const Module& module, std::uint64_t return_address) {
  std::vector<Frame> frames(1);
  if (file != nullptr) frames = file->FramesAt(return_address);
  for (Frame& frame : frames) {
    frame.module = module.path;
    frame.module_offset = return_address - 1;
  }
  return frames;
}

}  // namespace

struct Symbolizer::Caches {
  struct CachedFile {
    std::unique_ptr<ModuleFile> file;  // null if it has not been found
    ModuleFileState state = ModuleFileState::kMissing;
    std::map<std::uint64_t, std::vector<Frame>> frames_at;
  };

  SymbolsAreEnough symbols_are_enough;
  std::optional<SymbolFiles> files;  // nullopt: files are only where they were mapped
  std::map<std::pair<std::string, std::string>, CachedFile> by_path_and_build_id;

  DebugSource DebugSourceOf(const Module& module) const {
    const bool is_enough = symbols_are_enough && symbols_are_enough(module.path);
    return is_enough ? DebugSource::kOwnFile : DebugSource::kAnyFile;
  }

  CachedFile& For(const Module& module) {
    const auto [entry, is_new] =
        by_path_and_build_id.try_emplace(std::pair(module.path, module.build_id));
    if (!is_new) return entry->second;
    ModuleFile::OpenResult opened =
        ModuleFile::Open(module, DebugSourceOf(module), files ? &*files : nullptr);
    entry->second.file = std::move(opened.file);
    entry->second.state = opened.state;
    return entry->second;
  }
};

Symbolizer::Symbolizer(SymbolsAreEnough symbols_are_enough) : caches_(std::make_unique<Caches>()) {
  caches_->symbols_are_enough = std::move(symbols_are_enough);
}
Symbolizer::Symbolizer(SymbolsAreEnough symbols_are_enough,
                       std::vector<std::filesystem::path> directories)
    : Symbolizer(std::move(symbols_are_enough)) {
  caches_->files.emplace(std::move(directories));
}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

std::vector<Frame> Symbolizer::Symbolize(const Module& module, std::uint64_t pc) {
  const std::uint64_t return_address = pc - module.bias;
  Caches::CachedFile& cached = caches_->For(module);
  const auto [entry, is_new] = cached.frames_at.try_emplace(return_address);
  if (is_new) entry->second = FramesIn(cached.file.get(), module, return_address);
  return entry->second;
}

ModuleFileState Symbolizer::StateOf(const Module& module) { return caches_->For(module).state; }

}  // namespace leakgate
