#include "runner/symbols/separate_files.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "runner/base/regular_file.h"

namespace leakgate {
namespace {

constexpr char kServers[] = "DEBUGINFOD_URLS";
constexpr char kTimeout[] = "DEBUGINFOD_TIMEOUT";
constexpr int kKeepTheUsers = 0;

std::optional<SilentServers>& GivenUp() {
  static std::optional<SilentServers> given_up;
  return given_up;
}

// 0: as long as it likes.
std::chrono::seconds Patience() {
  const char* const text = std::getenv(kTimeout);
  return std::chrono::seconds(text == nullptr ? 0 : std::atoi(text));
}

namespace fs = std::filesystem;

const fs::path& SystemDirectory() {
  static const fs::path directory = "/usr/lib/debug";
  return directory;
}

// "/usr/lib/debug/.build-id/ab/cdef0123.debug".
fs::path SystemPath(const std::string& build_id, const char* suffix) {
  if (build_id.size() < 3) return {};
  return SystemDirectory() / ".build-id" / build_id.substr(0, 2) / (build_id.substr(2) + suffix);
}

std::string BuildIdOf(Dwfl_Module* module) {
  const unsigned char* bytes = nullptr;
  GElf_Addr address = 0;
  const int count = dwfl_module_build_id(module, &bytes, &address);  // sets `bytes`
  return HexText(bytes, count);
}

std::string BuildIdOf(const UniqueFd& file) {
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr),
                                                elf_end);
  const void* bytes = nullptr;
  const ssize_t count = elf ? dwelf_elf_gnu_build_id(elf.get(), &bytes) : 0;
  return HexText(static_cast<const unsigned char*>(bytes), count);
}

// Of the names that `file` gives its debug file, all places where elfutils looks for it:
// beside the file, in .debug there, and below the system's directory.
void AddPlaces(const fs::path& file, const char* link, std::vector<fs::path>& places) {
  const fs::path directory = file.parent_path();
  std::vector<fs::path> names = {link != nullptr ? link : file.filename().string() + ".debug"};
  places.push_back(directory / names.front());
  if (link == nullptr) names.push_back(file.filename());
  for (const fs::path& name : names) {
    places.push_back(directory / ".debug" / name);
    fs::path below = directory.relative_path();
    while (true) {
      places.push_back(SystemDirectory() / below / name);
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

// As .gnu_debuglink has it. Nothing of that size has no build-id.
bool HasChecksum(const UniqueFd& file, GElf_Word wanted) {
  constexpr off_t kMostBytes = off_t{8} << 30;
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0 || facts.st_size > kMostBytes) return false;
  std::vector<unsigned char> bytes(1 << 16);
  uLong checksum = ::crc32(0, nullptr, 0);
  off_t at = 0;
  while (at < kMostBytes) {
    const ssize_t count = ::pread(file.get(), bytes.data(), bytes.size(), at);
    if (count <= 0) break;
    checksum = ::crc32(checksum, bytes.data(), static_cast<uInt>(count));
    at += count;
  }
  return checksum == wanted;
}

bool IsSameFile(const fs::path& place, const char* file) {
  std::error_code unknown;
  return file != nullptr && fs::equivalent(place, file, unknown);
}

fs::path DirectoryOf(const char* file) {
  std::error_code unknown;
  return file == nullptr ? fs::path() : fs::canonical(file, unknown).parent_path();
}

const char* TextOf(Dwarf_Die& die, unsigned attribute) {
  Dwarf_Attribute value;
  return dwarf_formstring(dwarf_attr(&die, attribute, &value));
}

// What libdw looks for by itself: the file that dwz has put shared parts into.
bool MayReadShared(const DebugInformation& information) {
  const char* name = nullptr;
  const void* id = nullptr;
  const ssize_t count = dwelf_dwarf_gnu_debugaltlink(information.dwarf, &name, &id);
  if (count <= 0) return true;
  const std::string build_id = HexText(static_cast<const unsigned char*>(id), count);
  return MayLookUp(build_id) &&
         std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) { return IsRegularOrMissing(it / name); });
}

}  // namespace

void LimitPatienceWithServers() {
  ::setenv(kTimeout, "10", kKeepTheUsers);
  ::setenv("DEBUGINFOD_RETRY_LIMIT", "0", kKeepTheUsers);
}

void ServerLookup::End(Outcome outcome) const {
  const char* const servers = std::getenv(kServers);
  const std::chrono::seconds patience = Patience();
  if (outcome == Outcome::kFound || servers == nullptr || patience.count() == 0) return;
  if (std::chrono::steady_clock::now() - begin_ < patience) return;
  GivenUp() = SilentServers{servers, patience};
  ::unsetenv(kServers);
}

const std::optional<SilentServers>& ServersGivenUp() { return GivenUp(); }

int FindSeparateFile(Dwfl_Module* module, void** userdata, const char* name, GElf_Addr base,
                     const char* file, const char* link, GElf_Word checksum, char** found) {
  // What dwz has shared is asked for so; libdw finds it as well (MayReadShared).
  if (link != nullptr && checksum == 0) return -1;
  const std::string build_id = BuildIdOf(module);
  for (const fs::path& place : PlacesFor(build_id, file, link)) {
    auto opened = OpenRegularFile(place);
    if (!opened || IsSameFile(place, file)) continue;
    const bool fits = build_id.empty() ? link == nullptr || HasChecksum(*opened, checksum)
                                       : BuildIdOf(*opened) == build_id;
    if (!fits) continue;
    *found = ::strdup(place.c_str());
    return opened->Release();
  }
  if (!MayLookUp(build_id)) return -1;
  // Without the names it asks servers, if any.
  const ServerLookup lookup;
  const int fd =
      dwfl_standard_find_debuginfo(module, userdata, name, base, nullptr, nullptr, 0, found);
  lookup.End(fd < 0 ? ServerLookup::Outcome::kNotFound : ServerLookup::Outcome::kFound);
  return fd;
}

bool MayLookUp(const std::string& build_id) {
  return IsRegularOrMissing(SystemPath(build_id, "")) &&
         IsRegularOrMissing(SystemPath(build_id, ".debug"));
}

DebugInformation DebugInformationOf(Dwfl_Module* module) {
  DebugInformation information;
  information.dwarf = dwfl_module_getdwarf(module, &information.bias);
  if (information.dwarf == nullptr) return information;
  const char* files[2] = {};
  dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr, nullptr, &files[0], &files[1]);
  bool may_read = true;
  for (const char* const file : files) {
    if (file == nullptr) continue;
    information.directories.push_back(DirectoryOf(file));
    // Where all that -gsplit-dwarf has put elsewhere may be in one file; of later elfutils.
    may_read = may_read && IsRegularOrMissing(std::string(file) + ".dwp");
  }
  if (!may_read || !MayReadShared(information)) information.dwarf = nullptr;
  return information;
}

bool MayReadSplitHalf(const DebugInformation& information, Dwarf_Die unit) {
  const char* name = TextOf(unit, DW_AT_dwo_name);
  if (name == nullptr) name = TextOf(unit, DW_AT_GNU_dwo_name);
  if (name == nullptr) return true;
  const char* const compiled_in = TextOf(unit, DW_AT_comp_dir);
  return std::all_of(information.directories.begin(), information.directories.end(),
                     [&](const fs::path& it) {
                       const fs::path other = compiled_in == nullptr ? it : it / compiled_in;
                       return IsRegularOrMissing(it / name) && IsRegularOrMissing(other / name);
                     });
}

}  // namespace leakgate
