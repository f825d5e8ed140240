// Leads the image's import directory to a block of our own, as common/nt_agent_block.h draws it.
// This is the way of Detours (DetourUpdateProcessWithDll): documented structures of the image, no
// code in the process.
#include "runner/run/nt/agent_import.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "common/nt_agent_block.h"
#include "common/region_layout.h"
#include "runner/base/nt/win32.h"
// Behind the above.
#include <winternl.h>

namespace leakgate {
namespace {

auto Failed(const char* what) {
  return InconclusiveError(fmt::format("cannot make the program load leakgate's agent: {}: {}",
                                       what, WindowsErrorText()));
}

// Memory of the suspended process.
class Memory {
 public:
  explicit Memory(HANDLE process) : process_(process) {}

  template <typename T>
  [[nodiscard]] bool Read(std::uint64_t address, T* to, std::size_t count = 1) const {
    SIZE_T read = 0;
    return ::ReadProcessMemory(process_, reinterpret_cast<const void*>(address), to,
                               count * sizeof(T), &read) != 0 &&
           read == count * sizeof(T);
  }

  [[nodiscard]] bool Write(std::uint64_t address, const void* from, std::size_t bytes) const {
    SIZE_T written = 0;
    return ::WriteProcessMemory(process_, reinterpret_cast<void*>(address), from, bytes,
                                &written) != 0 &&
           written == bytes;
  }

  // Does so where memory may be read-only.
  [[nodiscard]] bool Overwrite(std::uint64_t address, const void* from, std::size_t bytes) const {
    DWORD before = 0;
    void* const at = reinterpret_cast<void*>(address);
    if (::VirtualProtectEx(process_, at, bytes, PAGE_READWRITE, &before) == 0) return false;
    const bool is_written = Write(address, from, bytes);
    return ::VirtualProtectEx(process_, at, bytes, before, &before) != 0 && is_written;
  }

  // Returns new memory within 4 GiB above `begin`, from `first` on; 0 if there is none.
  [[nodiscard]] std::uint64_t AllocateAbove(std::uint64_t begin, std::uint64_t first,
                                            std::size_t bytes) const {
    constexpr std::uint64_t kStep = 0x1'0000;
    constexpr std::uint64_t kFarthest = 0xF000'0000;
    for (std::uint64_t at = (first + kStep - 1) & ~(kStep - 1); at < begin + kFarthest;
         at += kStep) {
      if (::VirtualAllocEx(process_, reinterpret_cast<void*>(at), bytes, MEM_RESERVE | MEM_COMMIT,
                           PAGE_READWRITE) != nullptr) {
        return at;
      }
    }
    return 0;
  }

 private:
  HANDLE process_;
};

// The program's image, as the loader will find it.
struct Image {
  std::uint64_t base = 0;
  std::uint64_t header = 0;  // where its IMAGE_NT_HEADERS64 is
  IMAGE_NT_HEADERS64 headers{};

  IMAGE_DATA_DIRECTORY& directory(std::size_t index) {
    return headers.OptionalHeader.DataDirectory[index];
  }
};

// The process's block, which winternl.h describes as far as it is documented, has the address of
// the image: Detours and debuggers read it there.
Expected<std::uint64_t> FindBase(HANDLE process, const Memory& memory) {
  PROCESS_BASIC_INFORMATION facts{};
  if (::NtQueryInformationProcess(process, ProcessBasicInformation, &facts, sizeof(facts),
                                  nullptr) != 0) {
    return Failed("its block cannot be found");
  }
  constexpr std::uint64_t kImageBase = 0x10;
  std::uint64_t base = 0;
  if (!memory.Read(reinterpret_cast<std::uint64_t>(facts.PebBaseAddress) + kImageBase, &base)) {
    return Failed("its block cannot be read");
  }
  return base;
}

Expected<Image> ReadImage(HANDLE process, const Memory& memory) {
  Image image;
  LEAKGATE_TRY_ASSIGN(image.base, FindBase(process, memory));
  IMAGE_DOS_HEADER dos{};
  if (!memory.Read(image.base, &dos)) return Failed("its image cannot be read");
  image.header = image.base + static_cast<std::uint64_t>(dos.e_lfanew);
  if (!memory.Read(image.header, &image.headers) || image.headers.Signature != IMAGE_NT_SIGNATURE) {
    return Failed("its image cannot be read");
  }
  const bool is_for_us =
      image.headers.FileHeader.Machine == IMAGE_FILE_MACHINE_AMD64 &&
      image.headers.OptionalHeader.NumberOfRvaAndSizes > IMAGE_DIRECTORY_ENTRY_IAT;
  if (!is_for_us) {
    return InconclusiveError(
        "the program is not for 64-bit x86 (x86-64), and leakgate traces no others on Windows yet: "
        "build it for x64");
  }
  return image;
}

// Returns a duplicate for the process, as a number; 0 if the system refuses.
std::uint64_t Give(HANDLE process, HANDLE handle, DWORD rights) {
  HANDLE given = nullptr;
  ::DuplicateHandle(::GetCurrentProcess(), handle, process, &given, rights, FALSE,
                    rights == 0 ? DUPLICATE_SAME_ACCESS : 0);
  return reinterpret_cast<std::uint64_t>(given);
}

Expected<NtAgentBlock> MakeBlock(HANDLE process, const AgentHandles& handles) {
  NtAgentBlock block{};
  block.magic = kNtAgentMagic;
  block.layout_version = kLayoutVersion;
  block.region = Give(process, handles.region, 0);
  block.ask = Give(process, handles.ask, 0);
  block.reply = Give(process, handles.reply, 0);
  block.runner = Give(process, ::GetCurrentProcess(), SYNCHRONIZE);
  if (block.region == 0 || block.ask == 0 || block.reply == 0 || block.runner == 0) {
    return Failed("the system refuses to share handles with it");
  }
  return block;
}

// Returns where the image has a block of its own; 0 if it has none.
std::uint64_t FindOwnBlock(const Memory& memory, const Image& image) {
  std::uint64_t at = image.header + offsetof(IMAGE_NT_HEADERS64, OptionalHeader) +
                     image.headers.FileHeader.SizeOfOptionalHeader;
  for (int i = 0; i < image.headers.FileHeader.NumberOfSections; ++i) {
    IMAGE_SECTION_HEADER section{};
    if (!memory.Read(at, &section)) return 0;
    char name[sizeof(section.Name) + 1] = {};
    std::memcpy(name, section.Name, sizeof(section.Name));
    if (std::strcmp(name, kNtAgentSection) == 0) return image.base + section.VirtualAddress;
    at += sizeof(section);
  }
  return 0;
}

constexpr std::size_t kDescriptorBytes = sizeof(IMAGE_IMPORT_DESCRIPTOR);

// The image's own descriptors, without the empty one at their end.
std::vector<IMAGE_IMPORT_DESCRIPTOR> ReadImports(const Memory& memory, Image& image) {
  std::vector<IMAGE_IMPORT_DESCRIPTOR> imports;
  const std::uint32_t first = image.directory(IMAGE_DIRECTORY_ENTRY_IMPORT).VirtualAddress;
  if (first == 0) return imports;
  constexpr std::size_t kMost = 4096;
  for (std::uint64_t at = image.base + first; imports.size() < kMost; at += kDescriptorBytes) {
    IMAGE_IMPORT_DESCRIPTOR import{};
    if (!memory.Read(at, &import) || import.Name == 0) break;
    imports.push_back(import);
  }
  return imports;
}

// The parts of our block, by their distances from its begin.
struct Parts {
  Parts(std::size_t imports, std::size_t path_bytes)
      : lookup((kNtAgentBlockRoom + (imports + 2) * kDescriptorBytes + 15) & ~std::size_t{15}),
        addresses(lookup + 2 * sizeof(std::uint64_t)),
        path(addresses + 2 * sizeof(std::uint64_t)),
        bytes(path + path_bytes) {}

  std::size_t lookup;
  std::size_t addresses;
  std::size_t path;
  std::size_t bytes;
};

// Returns the path as an import descriptor has it. The loader reads it by the ANSI code page. So a
// path with other characters is given by its short name, if the system has one.
Expected<std::string> ImportName(const std::filesystem::path& agent) {
  const auto convert = [](const std::wstring& path) -> std::string {
    std::string name(path.size() * 4 + 1, '\0');
    BOOL is_lossy = FALSE;
    const int length =
        ::WideCharToMultiByte(CP_ACP, WC_NO_BEST_FIT_CHARS, path.c_str(), -1, name.data(),
                              static_cast<int>(name.size()), nullptr, &is_lossy);
    return length <= 0 || is_lossy != FALSE ? std::string()
                                            : name.substr(0, std::strlen(name.c_str()));
  };
  std::string name = convert(agent.wstring());
  if (name.empty()) {
    name = convert(TextThat([&agent](wchar_t* to, DWORD units) {
      return ::GetShortPathNameW(agent.c_str(), to, units);
    }));
  }
  if (name.empty()) {
    return InconclusiveError(
        "the loader cannot be told the path of leakgate's agent, which has characters that the "
        "system's code page lacks: install leakgate in another folder");
  }
  return name;
}

Expected<void> LeadImports(const Memory& memory, Image& image, NtAgentBlock block,
                           const std::string& agent) {
  const std::vector<IMAGE_IMPORT_DESCRIPTOR> imports = ReadImports(memory, image);
  const Parts parts(imports.size(), agent.size() + 1);
  const std::uint64_t at = memory.AllocateAbove(
      image.base, image.base + image.headers.OptionalHeader.SizeOfImage, parts.bytes);
  if (at == 0) return Failed("there is no memory near its image");
  const auto offset = static_cast<std::uint32_t>(at - image.base);

  IMAGE_DATA_DIRECTORY& directory = image.directory(IMAGE_DIRECTORY_ENTRY_IMPORT);
  IMAGE_DATA_DIRECTORY& bound = image.directory(IMAGE_DIRECTORY_ENTRY_BOUND_IMPORT);
  block.restores_imports = 1;
  block.imports = {directory.VirtualAddress, directory.Size};
  block.bound_imports = {bound.VirtualAddress, bound.Size};

  std::vector<std::byte> bytes(parts.bytes);
  std::memcpy(bytes.data(), &block, sizeof(block));
  IMAGE_IMPORT_DESCRIPTOR ours{};
  ours.OriginalFirstThunk = static_cast<DWORD>(offset + parts.lookup);
  ours.FirstThunk = static_cast<DWORD>(offset + parts.addresses);
  ours.Name = static_cast<DWORD>(offset + parts.path);
  std::memcpy(bytes.data() + kNtAgentBlockRoom, &ours, sizeof(ours));
  if (!imports.empty()) {
    std::memcpy(bytes.data() + kNtAgentBlockRoom + kDescriptorBytes, imports.data(),
                imports.size() * kDescriptorBytes);
  }
  const std::uint64_t by_ordinal = IMAGE_ORDINAL_FLAG64 | kNtAgentOrdinal;
  std::memcpy(bytes.data() + parts.lookup, &by_ordinal, sizeof(by_ordinal));
  std::memcpy(bytes.data() + parts.addresses, &by_ordinal, sizeof(by_ordinal));
  std::memcpy(bytes.data() + parts.path, agent.c_str(), agent.size() + 1);
  if (!memory.Write(at, bytes.data(), bytes.size())) return Failed("its memory cannot be written");

  directory = {static_cast<DWORD>(offset + kNtAgentBlockRoom),
               static_cast<DWORD>((imports.size() + 2) * kDescriptorBytes)};
  bound = {};  // the loader would take the image's imports from there
  if (!memory.Overwrite(image.header, &image.headers, sizeof(image.headers))) {
    return Failed("its header cannot be written");
  }
  return {};
}

}  // namespace

Expected<void> ImportAgent(void* process, const AgentHandles& handles,
                           const std::filesystem::path& agent) {
  const Memory memory(process);
  LEAKGATE_TRY_ASSIGN(Image image, ReadImage(process, memory));
  LEAKGATE_TRY_ASSIGN(const std::string name, ImportName(agent));
  LEAKGATE_TRY_ASSIGN(const NtAgentBlock block, MakeBlock(process, handles));
  const std::uint64_t own_block = FindOwnBlock(memory, image);
  if (own_block == 0) return LeadImports(memory, image, block, name);
  if (!memory.Write(own_block, &block, sizeof(block))) {
    return Failed("its memory cannot be written");
  }
  return {};
}

}  // namespace leakgate
