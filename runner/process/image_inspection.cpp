#include "runner/process/image_inspection.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cstring>
#include <string_view>

#include "runner/arch/elf_machine.h"
#include "runner/base/descriptors.h"
#include "runner/base/regular_file.h"
#include "runner/process/elf_facts.h"

namespace leakgate {
namespace {

constexpr std::string_view kGoogleTestMark = "stream_result_to";  // a flag of every GoogleTest
constexpr std::string_view kListenerMark = "leakgate-listener-1";

// The bytes of a file, mapped. A file that cannot be mapped contains nothing.
class FileText {
 public:
  explicit FileText(const UniqueFd& fd) {
    struct stat facts {};
    if (::fstat(fd.get(), &facts) != 0 || facts.st_size == 0) return;
    bytes_ = static_cast<std::size_t>(facts.st_size);
    begin_ = ::mmap(nullptr, bytes_, PROT_READ, MAP_PRIVATE, fd.get(), 0);
  }
  ~FileText() {
    if (begin_ != MAP_FAILED) ::munmap(begin_, bytes_);
  }
  FileText(const FileText&) = delete;
  FileText& operator=(const FileText&) = delete;

  bool Contains(std::string_view text) const {
    return begin_ != MAP_FAILED && ::memmem(begin_, bytes_, text.data(), text.size()) != nullptr;
  }

 private:
  void* begin_ = MAP_FAILED;
  std::size_t bytes_ = 0;
};

std::optional<std::string> RefuseRights(const std::filesystem::path& image) {
  struct stat facts {};
  if (::stat(image.c_str(), &facts) == 0 && (facts.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return "it is set-uid or set-gid, and the dynamic linker ignores preloading for such files; "
           "gate a copy without that bit";
  }
  if (::getxattr(image.c_str(), "security.capability", nullptr, 0) > 0) {
    return "it has file capabilities, and the dynamic linker ignores preloading for such files; "
           "gate a copy without them (setcap -r)";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseLinker(const std::filesystem::path& image) {
  if (!IsDynamicLinker(image)) return std::nullopt;
  return "it is the dynamic linker, and what it is to run is not looked at; name that program "
         "itself (leakgate run -- BINARY)";
}

std::optional<std::string> RefuseFormat(const ElfFacts& facts) {
  if (!facts.is_elf) return "it is not an ELF executable";
  if (!facts.is_of_this_processor) {
    return fmt::format(
        "it is built for {}, and this leakgate's agent for {}; build the tests for {}",
        facts.architecture, ProcessorName(), ProcessorName());
  }
  if (facts.interpreter.empty()) {
    return "it is statically linked, so no agent can be preloaded; link it dynamically (without "
           "-static or -static-pie)";
  }
  if (facts.interpreter.find("musl") != std::string::npos) {
    return "it is linked with musl, and the agent needs glibc; build the tests with glibc";
  }
  return std::nullopt;
}

std::optional<std::string> RefuseAllocator(const ElfFacts& facts) {
  if (!facts.sanitizer.empty()) {
    return fmt::format(
        "it is built with {}, which replaces malloc itself; gate a build without "
        "-fsanitize={}",
        facts.sanitizer, facts.sanitizer_option);
  }
  if (facts.defines_malloc) {
    return "it defines malloc in its own executable (a linked-in tcmalloc or jemalloc?), so its "
           "allocations cannot be seen; link the allocator as a shared library, or leave it out "
           "of the test build";
  }
  return std::nullopt;
}

TestFramework FindFramework(const FileText& text, const ElfFacts& facts) {
  if (!facts.needs_google_test && !text.Contains(kGoogleTestMark)) return TestFramework::kNone;
  return text.Contains(kListenerMark) ? TestFramework::kGoogleTestListener
                                      : TestFramework::kGoogleTest;
}

}  // namespace

bool IsDynamicLinker(const std::filesystem::path& image) {
  const std::string name = image.filename().string();
  return name.starts_with("ld-linux") || name.starts_with("ld-musl") || name == "ld.so" ||
         (name.starts_with("ld-2.") && name.ends_with(".so"));
}

Expected<ImageInspection> InspectImage(const std::filesystem::path& image) {
  const auto fd = OpenRegularFile(image);
  if (!fd) {
    return InconclusiveError(
        fmt::format("{}: cannot be read, so it cannot be told whether it can "
                    "be traced: {}; make it readable",
                    image.string(), fd.error().message()));
  }
  const ElfFacts facts = ReadElfFacts(*fd);
  ImageInspection inspection;
  inspection.refusal_of_running = RefuseFormat(facts);
  if (!inspection.refusal_of_running) inspection.refusal_of_running = RefuseAllocator(facts);
  inspection.refusal = RefuseLinker(image);
  if (!inspection.refusal) inspection.refusal = RefuseFormat(facts);
  if (!inspection.refusal) inspection.refusal = RefuseRights(image);
  if (!inspection.refusal) inspection.refusal = RefuseAllocator(facts);
  inspection.framework = FindFramework(FileText(*fd), facts);
  return inspection;
}

}  // namespace leakgate
