#include "runner/symbols/symbol_files.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

#include "runner/base/regular_file.h"
#include "runner/symbols/elf_file.h"
#include "runner/symbols/separate_files.h"

namespace leakgate {
namespace {

namespace fs = std::filesystem;

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

// A module of which elfutils knows nothing but the build-id: it asks the servers for its files,
// because it finds them nowhere else.
class ServedModule {
 public:
  explicit ServedModule(const std::string& build_id) {
    if (!AsksServers() || build_id.empty() || !MayLookUpBuildId(build_id)) return;
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

  // Returns the path in the local cache of the file that `find` fetches; empty if there is none.
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
  static constexpr Dwfl_Callbacks kCallbacks = {.find_elf = dwfl_build_id_find_elf,
                                                .find_debuginfo = dwfl_standard_find_debuginfo,
                                                .section_address = dwfl_offline_section_address,
                                                .debuginfo_path = nullptr};
  static constexpr char kName[] = "wanted";
  static constexpr GElf_Addr kBegin = 0x1000;

  // elfutils does not always tell the path of the file that it has opened.
  static std::string PathOf(const UniqueFd& fd) {
    std::error_code unknown;
    return fs::read_symlink(fmt::format("/proc/self/fd/{}", fd.get()), unknown).string();
  }

  DwflHandle dwfl_;
  Dwfl_Module* module_ = nullptr;
};

}  // namespace

void SymbolFiles::AddFile(const fs::path& path) {
  const auto fd = OpenRegularFile(path);
  if (!fd) return;
  const ElfHandle elf = OpenElf(*fd);
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF) return;
  const std::string build_id = CutToRecordedLength(BuildIdOf(elf.get()));
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

FoundSymbolFiles DownloadSymbolFiles(const std::string& build_id) {
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
