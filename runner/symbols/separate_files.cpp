#include "runner/symbols/separate_files.h"

#include <zlib.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "runner/base/regular_file.h"
#include "runner/symbols/elf_file.h"

namespace leakgate {
namespace {

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

// Returns "/usr/lib/debug/.build-id/ab/cdef0123.debug", say.
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

// Returns whether the file has the checksum that .gnu_debuglink tells. A larger file is not read:
// it certainly has a build-id.
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
  // So elfutils asks for the parts that dwz has shared, which libdw finds by itself.
  if (link != nullptr && checksum == 0) return -1;
  const std::string build_id = BuildIdOf(module);
  for (const fs::path& place : PlacesFor(build_id, file, link)) {
    auto opened = OpenRegularFile(place);
    if (!opened || IsSameFile(place, file)) continue;
    const bool fits = build_id.empty() ? link == nullptr || HasChecksum(*opened, checksum)
                                       : BuildIdOf(OpenElf(*opened).get()) == build_id;
    if (!fits) continue;
    *found = ::strdup(place.c_str());
    return opened->Release();
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
