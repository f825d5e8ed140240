#include "runner/symbols/symbol_cache.h"

#include <fmt/format.h>
#include <link.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <cstring>

#include "runner/symbols/elf/elf_file.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

// A large program has some thousands of call sites, with a hundred bytes each.
constexpr std::uint64_t kMostFileBytes = 8ULL << 20;
constexpr std::uint64_t kMostFolderBytes = 64ULL << 20;

// Returns the build-id of this program, which the linker has put into it; empty if it has not.
std::string OwnBuildId() {
  std::string id;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* found) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          const ElfW(Phdr)& segment = module->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const char* at = reinterpret_cast<const char*>(module->dlpi_addr + segment.p_vaddr);
          const char* const end = at + segment.p_memsz;
          while (static_cast<std::size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* const name = at + sizeof note;
            const std::size_t name_bytes = (note.n_namesz + 3) & ~3U;
            const bool is_id = note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
                               std::memcmp(name, "GNU", sizeof "GNU") == 0;
            if (is_id) {
              *static_cast<std::string*>(found) =
                  HexText(reinterpret_cast<const unsigned char*>(name + name_bytes),
                          static_cast<std::ptrdiff_t>(note.n_descsz));
              return 1;
            }
            at = name + name_bytes + ((note.n_descsz + 3) & ~3U);
          }
        }
        return 1;  // the first module is the program
      },
      &id);
  return id;
}

std::string TextOfTime(const timespec& time) {
  return fmt::format("{}.{:09}", time.tv_sec, time.tv_nsec);
}

// Returns the name of the cache's file for what is known of `identity`.
std::string FileNameOf(const std::string& identity) {
  XXH128_canonical_t hash;
  XXH128_canonicalFromHash(&hash, XXH3_128bits(identity.data(), identity.size()));
  return HexText(hash.digest, sizeof hash.digest);
}

}  // namespace

SymbolCache::SymbolCache(const fs::path& folder) {
  if (!folder.empty()) folder_ = CacheFolder::Make(folder);
}

KeptSymbols* SymbolCache::For(const std::string& path, DebugSource source,
                              const std::string& build_id) {
  if (!folder_ || !path.starts_with('/')) return nullptr;
  static const std::string own_build_id = OwnBuildId();
  struct stat facts {};
  if (own_build_id.empty() || ::stat(path.c_str(), &facts) != 0) return nullptr;
  const std::string identity =
      fmt::format("{} {} {} {} {} {} {} {} {}", own_build_id, path, facts.st_dev, facts.st_ino,
                  facts.st_size, TextOfTime(facts.st_mtim), TextOfTime(facts.st_ctim),
                  source == DebugSource::kOwnFile ? "own" : "any", build_id);
  auto known = files_.find(identity);
  if (known == files_.end()) {
    known =
        files_.try_emplace(identity, folder_.Read(FileNameOf(identity), kMostFileBytes), identity)
            .first;
  }
  return &known->second;
}

void SymbolCache::Save() {
  bool has_written = false;
  for (const auto& [identity, symbols] : files_) {
    if (!symbols.HasNew()) continue;
    const std::string name = FileNameOf(identity);
    const std::string bytes = symbols.Write(folder_.Read(name, kMostFileBytes), kMostFileBytes);
    if (!bytes.empty() && folder_.Write(name, bytes)) has_written = true;
  }
  if (has_written) folder_.Limit({.bytes = kMostFolderBytes});
}

}  // namespace leakgate
