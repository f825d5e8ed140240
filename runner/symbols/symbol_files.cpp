#include "runner/symbols/symbol_files.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <gelf.h>

#include <cstdlib>
#include <memory>
#include <system_error>

#include "runner/base/descriptors.h"
#include "runner/base/regular_file.h"
#include "runner/symbols/separate_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

struct EndElf {
  void operator()(Elf* elf) const { elf_end(elf); }
};

std::string BuildIdOf(Elf* elf) {
  const void* bytes = nullptr;
  const ssize_t count = dwelf_elf_gnu_build_id(elf, &bytes);
  return count <= 0 ? "" : HexText(static_cast<const unsigned char*>(bytes), count);
}

std::vector<unsigned char> BytesOf(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(
        static_cast<unsigned char>(std::strtoul(hex.substr(i, 2).c_str(), nullptr, 16)));
  }
  return bytes;
}

bool AsksServers() {
  const char* const servers = std::getenv("DEBUGINFOD_URLS");
  return servers != nullptr && *servers != '\0';
}

// elfutils asks the servers for what it finds nowhere else: of a module of which it is told
// nothing but the build-id.
class ServedModule {
 public:
  explicit ServedModule(const std::string& build_id) {
    if (!AsksServers() || build_id.empty() || !MayLookUp(build_id)) return;
    dwfl_.reset(dwfl_begin(&kCallbacks));
    if (!dwfl_) return;
    dwfl_report_begin(dwfl_.get());
    Dwfl_Module* const module = dwfl_report_module(dwfl_.get(), kName, kBegin, 2 * kBegin);
    dwfl_report_end(dwfl_.get(), nullptr, nullptr);
    const std::vector<unsigned char> bytes = BytesOf(build_id);
    const bool is_told = module != nullptr &&
                         dwfl_module_report_build_id(module, bytes.data(), bytes.size(), 0) == 0;
    if (is_told) module_ = module;
  }

  // The path in the local cache of what `find` fetches; empty: nothing.
  using FindFile = int(Dwfl_Module*, void**, const char*, GElf_Addr, char**, Elf**);
  [[nodiscard]] std::string Find(FindFile* find) const {
    if (module_ == nullptr || !AsksServers()) return "";
    void* userdata = nullptr;
    char* path = nullptr;
    Elf* elf = nullptr;
    const ServerLookup lookup;
    const UniqueFd fd(find(module_, &userdata, kName, kBegin, &path, &elf));
    lookup.End(fd ? ServerLookup::Outcome::kFound : ServerLookup::Outcome::kNotFound);
    const std::string found = fd && path != nullptr ? path : "";
    std::free(path);
    if (elf != nullptr) elf_end(elf);
    return found.empty() && fd ? PathOf(fd) : found;
  }

 private:
  struct End {
    void operator()(Dwfl* dwfl) const { dwfl_end(dwfl); }
  };
  static constexpr Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                                .find_debuginfo = dwfl_standard_find_debuginfo,
                                                .section_address = dwfl_offline_section_address,
                                                .debuginfo_path = nullptr};
  static constexpr char kName[] = "wanted";
  static constexpr GElf_Addr kBegin = 0x1000;

  // elfutils does not always tell.
  static std::string PathOf(const UniqueFd& fd) {
    std::error_code unknown;
    return fs::read_symlink(fmt::format("/proc/self/fd/{}", fd.get()), unknown).string();
  }

  std::unique_ptr<Dwfl, End> dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace

bool HasCode(Elf* elf) {
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return false;
    const bool is_code = (header.sh_flags & SHF_EXECINSTR) != 0;
    if (is_code && header.sh_type != SHT_NOBITS) return true;
  }
  return false;
}

void SymbolFiles::AddFile(const fs::path& path) {
  const auto fd = OpenRegularFile(path);
  if (!fd) return;
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, EndElf> elf(elf_begin(fd->get(), ELF_C_READ_MMAP, nullptr));
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return;
  const std::string build_id = CutAsRecorded(BuildIdOf(elf.get()));
  if (build_id.empty()) return;
  FoundSymbolFiles& found = by_build_id_[build_id];
  std::string& place = HasCode(elf.get()) ? found.binary : found.debug;
  if (place.empty()) place = path.string();
}

void SymbolFiles::ReadDirectories() {
  for (const fs::path& directory : directories_) {
    std::error_code error;
    const auto options = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator entry(directory, options, error), end;
         !error && entry != end; entry.increment(error)) {
      std::error_code ignored;
      if (entry->is_regular_file(ignored)) AddFile(entry->path());
    }
  }
}

FoundSymbolFiles SymbolFiles::Find(const std::string& build_id) {
  if (!are_read_) ReadDirectories();
  are_read_ = true;
  const auto found = by_build_id_.find(build_id);
  return found == by_build_id_.end() ? FoundSymbolFiles{} : found->second;
}

FoundSymbolFiles Download(const std::string& build_id) {
  FoundSymbolFiles served;
  const ServedModule module(build_id);
  served.binary = module.Find(dwfl_build_id_find_elf);
  if (served.binary.empty()) {
    served.debug = module.Find([](Dwfl_Module* wanted, void** userdata, const char* name,
                                  GElf_Addr base, char** found, Elf**) {
      return dwfl_standard_find_debuginfo(wanted, userdata, name, base, nullptr, nullptr, 0, found);
    });
  }
  return served;
}

}  // namespace leakgate
