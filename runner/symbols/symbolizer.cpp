#include "runner/symbols/symbolizer.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "runner/symbols/module_file.h"

namespace leakgate {
struct Symbolizer::Caches {
  // The file of one module, which is opened for the first question that cannot be answered without
  // it.
  struct CachedModule {
    KeptSymbols* kept = nullptr;  // of earlier runs; null if nothing is kept
    std::optional<ModuleFile::OpenResult> opened{};
    std::map<std::uint64_t, std::vector<Frame>> frames_at{};
    std::map<std::uint64_t, Frame> symbol_at{};
  };

  SymbolsAreEnough symbols_are_enough;
  FindWrapper find_wrapper;
  SymbolCache* kept = nullptr;         // null: nothing is kept
  std::shared_ptr<SymbolFiles> files;  // null: files are only where they were mapped
  std::map<std::pair<std::string, std::string>, CachedModule> by_path_and_build_id;
  decltype(by_path_and_build_id)::iterator latest = by_path_and_build_id.end();
  std::size_t addresses = 0;  // in all frames_at and symbol_at
  static constexpr std::size_t kMostAddresses = 200'000;
  std::size_t left_to_keep = kMostAddresses;  // for later runs

  // A program may have any number of addresses, and record ones that it makes up.
  void CountAddress(const Module& module) {
    constexpr std::size_t kUsualPath = 128;
    addresses += 1 + module.path.size() / kUsualPath;
    if (addresses <= kMostAddresses) return;
    addresses = 0;
    for (auto& [file, cached] : by_path_and_build_id) {
      cached.frames_at.clear();
      cached.symbol_at.clear();
    }
  }

  DebugSource DebugSourceOf(const Module& module) const {
    const bool is_enough = symbols_are_enough && symbols_are_enough(module.path);
    return is_enough ? DebugSource::kOwnFile : DebugSource::kAnyFile;
  }

  // Most frames of a stack belong to the same module as the one before.
  CachedModule& For(const Module& module) {
    if (latest != by_path_and_build_id.end() && latest->first.first == module.path &&
        latest->first.second == module.build_id) {
      return latest->second;
    }
    const auto [entry, is_new] =
        by_path_and_build_id.try_emplace(std::pair(module.path, module.build_id));
    if (is_new && kept != nullptr) {
      entry->second.kept = kept->For(module.path, DebugSourceOf(module), module.build_id);
    }
    latest = entry;
    return entry->second;
  }

  ModuleFile::OpenResult& Open(const Module& module, CachedModule& cached) {
    if (!cached.opened) {
      cached.opened = ModuleFile::Open(module, DebugSourceOf(module), files.get());
    }
    return *cached.opened;
  }

  std::vector<Frame> FindFrames(const Module& module, std::uint64_t return_address,
                                CachedModule& cached) {
    constexpr auto kFrames = KeptSymbols::Kind::kFrames;
    if (cached.kept != nullptr) {
      std::optional<std::vector<Frame>> known = cached.kept->Find(kFrames, return_address);
      if (known && !known->empty()) return *std::move(known);
    }
    ModuleFile* const file = Open(module, cached).file.get();
    if (file == nullptr) return std::vector<Frame>(1);
    std::vector<Frame> frames = file->FramesAt(return_address);
    if (cached.kept != nullptr && file->IsWhole() && left_to_keep != 0) {
      --left_to_keep;
      cached.kept->Keep(kFrames, return_address, frames);
    }
    return frames;
  }

  Frame FindSymbol(const Module& module, std::uint64_t return_address, CachedModule& cached) {
    constexpr auto kSymbol = KeptSymbols::Kind::kSymbol;
    if (cached.kept != nullptr) {
      const std::optional<std::vector<Frame>> known = cached.kept->Find(kSymbol, return_address);
      if (known && !known->empty()) return known->front();
    }
    ModuleFile* const file = Open(module, cached).file.get();
    if (file == nullptr) return {};
    Frame frame = file->SymbolAt(return_address);
    if (cached.kept != nullptr && file->HasItsOwnSymbols() && left_to_keep != 0) {
      --left_to_keep;
      cached.kept->Keep(kSymbol, return_address, {frame});
    }
    return frame;
  }
};

namespace {

void Complete(const Module& module, std::uint64_t return_address,
              const Symbolizer::FindWrapper& find_wrapper, Frame& frame) {
  frame.module = module.path;
  frame.module_offset = return_address - 1;
  if (find_wrapper) frame.wrapper = find_wrapper(frame);
}

}  // namespace

Symbolizer::Symbolizer(SymbolsAreEnough symbols_are_enough, SymbolCache* kept)
    : caches_(std::make_unique<Caches>()) {
  caches_->symbols_are_enough = std::move(symbols_are_enough);
  caches_->kept = kept;
}
Symbolizer::Symbolizer(SymbolsAreEnough symbols_are_enough,
                       std::vector<std::filesystem::path> directories)
    : Symbolizer(std::move(symbols_are_enough)) {
  caches_->files = NewSymbolFiles(std::move(directories));
}
Symbolizer::~Symbolizer() = default;
Symbolizer::Symbolizer(Symbolizer&&) noexcept = default;
Symbolizer& Symbolizer::operator=(Symbolizer&&) noexcept = default;

void Symbolizer::MarkWrappers(FindWrapper find) { caches_->find_wrapper = std::move(find); }

std::vector<Frame> Symbolizer::Symbolize(const Module& module, std::uint64_t pc) {
  const std::uint64_t return_address = pc - module.bias;
  Caches::CachedModule& cached = caches_->For(module);
  const auto known = cached.frames_at.find(return_address);
  if (known != cached.frames_at.end()) return known->second;
  std::vector<Frame> frames = caches_->FindFrames(module, return_address, cached);
  for (Frame& frame : frames) Complete(module, return_address, caches_->find_wrapper, frame);
  caches_->CountAddress(module);
  return cached.frames_at[return_address] = std::move(frames);
}

Frame Symbolizer::NameBySymbol(const Module& module, std::uint64_t pc) {
  const std::uint64_t return_address = pc - module.bias;
  Caches::CachedModule& cached = caches_->For(module);
  const auto known = cached.symbol_at.find(return_address);
  if (known != cached.symbol_at.end()) return known->second;
  Frame frame = caches_->FindSymbol(module, return_address, cached);
  Complete(module, return_address, caches_->find_wrapper, frame);
  caches_->CountAddress(module);
  return cached.symbol_at[return_address] = std::move(frame);
}

ModuleFileState Symbolizer::StateOf(const Module& module) {
  return caches_->Open(module, caches_->For(module)).state;
}

}  // namespace leakgate
