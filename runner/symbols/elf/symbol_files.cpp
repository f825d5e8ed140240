#include "runner/symbols/elf/symbol_files.h"

#include <elfutils/libdwfl.h>
#include <fmt/format.h>
#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runner/base/regular_file.h"
#include "runner/symbols/debug_servers.h"
#include "runner/symbols/elf/elf_file.h"
#include "runner/symbols/plain_sections.h"

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

  // elfutils does not always report the path of the file that it has opened.
  static std::string PathOf(const UniqueFd& fd) {
    std::error_code unknown;
    return fs::read_symlink(fmt::format("/proc/self/fd/{}", fd.get()), unknown).string();
  }

  DwflHandle dwfl_;
  Dwfl_Module* module_ = nullptr;
};

constexpr char kServers[] = "DEBUGINFOD_URLS";
constexpr char kTimeout[] = "DEBUGINFOD_TIMEOUT";
constexpr int kKeepTheUsers = 0;

std::optional<SilentServers> g_given_up;

// Returns how long a server may be silent; 0 means that there is no limit.
std::chrono::seconds PatienceWithServers() {
  const char* const text = std::getenv(kTimeout);
  return std::chrono::seconds(text == nullptr ? 0 : std::atoi(text));
}

namespace fs = std::filesystem;

constexpr char kSystemDirectory[] = "/usr/lib/debug";

// Returns a path such as "/usr/lib/debug/.build-id/ab/cdef0123.debug".
fs::path SystemPath(const std::string& build_id, const char* suffix) {
  if (build_id.size() < 3) return {};
  return fs::path(kSystemDirectory) / ".build-id" / build_id.substr(0, 2) /
         (build_id.substr(2) + suffix);
}

// Adds the places where elfutils looks for the debug file of `file`: beside the file, in .debug
// there, and below the system's directory.
void AddPlaces(const fs::path& file, const char* link, std::vector<fs::path>& places) {
  const fs::path directory = file.parent_path();
  std::vector<fs::path> names = {link != nullptr ? link : file.filename().string() + ".debug"};
  places.push_back(directory / names.front());
  if (link == nullptr) names.push_back(file.filename());
  for (const fs::path& name : names) {
    places.push_back(directory / ".debug" / name);
    fs::path below = directory.relative_path();
    while (true) {
      places.push_back(kSystemDirectory / below / name);
      if (below.empty()) break;
      below = below.lexically_relative(*below.begin());
      if (below == ".") below.clear();
    }
  }
}

std::vector<fs::path> PlacesFor(const std::string& build_id, const char* file, const char* link) {
  std::vector<fs::path> places;
  if (!build_id.empty()) places.push_back(SystemPath(build_id, ".debug"));
  if (file == nullptr) return places;
  AddPlaces(file, link, places);
  std::error_code unknown;
  const fs::path real = fs::canonical(file, unknown);
  if (!unknown && real != file) AddPlaces(real, link, places);
  return places;
}

// Returns whether the file has the checksum that .gnu_debuglink contains. A larger file is not
// read: it certainly has a build-id.
bool HasChecksum(const UniqueFd& file, GElf_Word wanted) {
  constexpr std::size_t kMostBytes = std::size_t{8} << 30;
  const ElfHandle elf = OpenElf(file);
  std::size_t count = 0;
  const char* const bytes = elf ? elf_rawfile(elf.get(), &count) : nullptr;
  if (bytes == nullptr || count > kMostBytes) return false;
  return ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes), count) == wanted;
}

bool IsSameFile(const fs::path& place, const char* file) {
  std::error_code unknown;
  return file != nullptr && fs::equivalent(place, file, unknown);
}

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

void LimitPatienceWithServers() {
  ::setenv(kTimeout, "10", kKeepTheUsers);
  ::setenv("DEBUGINFOD_RETRY_LIMIT", "0", kKeepTheUsers);
}

void ServerLookup::End(Outcome outcome) const {
  const char* const servers = std::getenv(kServers);
  const std::chrono::seconds patience = PatienceWithServers();
  if (outcome == Outcome::kFound || servers == nullptr || patience.count() == 0) return;
  if (std::chrono::steady_clock::now() - begin_ < patience) return;
  g_given_up = SilentServers{servers, patience};
  ::unsetenv(kServers);
}

const std::optional<SilentServers>& ServersGivenUp() { return g_given_up; }

int FindSeparateFile(Dwfl_Module* module, void** userdata, const char* name, GElf_Addr base,
                     const char* file, const char* link, GElf_Word checksum, char** found) {
  // This is how elfutils asks for the parts that dwz has shared, which libdw finds by itself.
  if (link != nullptr && checksum == 0) return -1;
  const std::string build_id = BuildIdOf(module);
  for (const fs::path& place : PlacesFor(build_id, file, link)) {
    auto opened = OpenRegularFile(place);
    if (!opened || IsSameFile(place, file)) continue;
    const bool fits = build_id.empty() ? link == nullptr || HasChecksum(*opened, checksum)
                                       : BuildIdOf(OpenElf(*opened).get()) == build_id;
    if (!fits) continue;
    *found = ::strdup(place.c_str());
    return WithPlainSections(*std::move(opened)).Release();
  }
  if (!MayLookUpBuildId(build_id)) return -1;
  // Given no names, elfutils asks servers only, if there are any.
  const ServerLookup lookup;
  const int fd =
      dwfl_standard_find_debuginfo(module, userdata, name, base, nullptr, nullptr, 0, found);
  lookup.End(fd < 0 ? ServerLookup::Outcome::kNotFound : ServerLookup::Outcome::kFound);
  return fd;
}

bool MayLookUpBuildId(const std::string& build_id) {
  return IsRegularOrMissing(SystemPath(build_id, "")) &&
         IsRegularOrMissing(SystemPath(build_id, ".debug"));
}

}  // namespace leakgate
