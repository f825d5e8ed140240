// Compiles a small shared library when a test runs, for tests that depend on the flags of the
// compiler and the linker. Uses the system's g++.
#pragma once

#include <dlfcn.h>
#include <link.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner/region/region_copies.h"
#include "runner/symbols/symbolizer.h"

namespace leakgate {

// A folder that is removed with this.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = std::filesystem::temp_directory_path() / "leakgate-symbols-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  // Runs a shell command in the folder.
  void Run(const std::string& command) const {
    const std::string line = "cd '" + path_.string() + "' && " + command;
    if (std::system(line.c_str()) != 0) throw std::runtime_error("failed: " + line);
  }

 private:
  std::filesystem::path path_;
};

namespace compiled_library_internal {

struct ModuleSearch {
  std::uint64_t address;
  Module found;
};

inline std::string ReadBuildId(const std::uint8_t* note, const std::uint8_t* end) {
  const char* const digits = "0123456789abcdef";
  std::string text;
  while (note + sizeof(ElfW(Nhdr)) <= end) {
    const auto* const header = reinterpret_cast<const ElfW(Nhdr)*>(note);
    const std::uint8_t* const bytes = note + sizeof(*header) + ((header->n_namesz + 3U) & ~3U);
    if (header->n_type == NT_GNU_BUILD_ID) {
      for (std::uint32_t i = 0; i < header->n_descsz; ++i) {
        text += {digits[bytes[i] >> 4], digits[bytes[i] & 15]};
      }
      return text;
    }
    note = bytes + ((header->n_descsz + 3U) & ~3U);
  }
  return text;
}

inline int MatchModule(dl_phdr_info* info, std::size_t, void* argument) {
  auto& search = *static_cast<ModuleSearch*>(argument);
  Module module;
  bool found = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    const std::uint64_t begin = info->dlpi_addr + segment.p_vaddr;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(begin);
    if (segment.p_type == PT_LOAD && search.address - begin < segment.p_memsz) found = true;
    if (segment.p_type == PT_LOAD) module.end = begin + segment.p_memsz;
    if (segment.p_type == PT_NOTE && module.build_id.empty()) {
      module.build_id = ReadBuildId(bytes, bytes + segment.p_memsz);
    }
  }
  if (!found) return 0;
  module.begin = module.bias = info->dlpi_addr;
  module.path =
      std::filesystem::canonical(*info->dlpi_name != '\0' ? info->dlpi_name : "/proc/self/exe");
  search.found = module;
  return 1;
}

}  // namespace compiled_library_internal

// Returns the module of this process that has `address`, as the agent would record it.
inline Module ModuleOf(std::uint64_t address) {
  compiled_library_internal::ModuleSearch search{address, {}};
  dl_iterate_phdr(&compiled_library_internal::MatchModule, &search);
  return search.found;
}

// Writes `source` to net.cpp, compiles it with `flags` to libnet.so, and loads that.
class CompiledLibrary {
 public:
  // `finish` is a shell command that changes libnet.so before it is loaded.
  CompiledLibrary(const std::string& source, const std::string& flags,
                  const std::string& finish = "true") {
    std::ofstream(folder_.path() / "net.cpp") << source;
    folder_.Run("g++ -shared -fPIC -Wl,--build-id " + flags + " net.cpp -o libnet.so");
    folder_.Run(finish);
    handle_ = dlopen(file().c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle_ == nullptr) throw std::runtime_error(dlerror());
  }
  ~CompiledLibrary() { dlclose(handle_); }
  CompiledLibrary(const CompiledLibrary&) = delete;
  CompiledLibrary& operator=(const CompiledLibrary&) = delete;

  // Returns the address that the library's function `name` returns.
  [[nodiscard]] std::uint64_t Call(const char* name) const {
    auto* const function = reinterpret_cast<void* (*)()>(dlsym(handle_, name));
    if (function == nullptr) throw std::runtime_error(dlerror());
    return reinterpret_cast<std::uint64_t>(function());
  }

  [[nodiscard]] const ScratchFolder& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path file() const { return folder_.path() / "libnet.so"; }
  [[nodiscard]] std::filesystem::path source() const { return folder_.path() / "net.cpp"; }

 private:
  ScratchFolder folder_;
  void* handle_ = nullptr;
};

// Returns the frames at the address that the library's function returns.
inline std::vector<Frame> FramesOf(const CompiledLibrary& library, const char* function) {
  const std::uint64_t pc = library.Call(function);
  return Symbolizer().Symbolize(ModuleOf(pc), pc);
}

}  // namespace leakgate
