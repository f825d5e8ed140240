#include "runner/reach/nt/security_cookies.h"

#include <algorithm>

#include "common/pe_identity.h"

namespace leakgate {
namespace {

std::uint64_t WordIn(const ImageModule& module, std::uint64_t at, const ProcessMemory& memory) {
  std::uint64_t word = 0;
  const bool is_there = at >= module.range.begin && at < module.range.end &&
                        memory.Read({at, at + sizeof word}, &word) == sizeof word;
  return is_there ? word : 0;
}

// Returns 0 if the module has none. Its headers are not trusted.
std::uint64_t CookieOf(const ImageModule& module, const ProcessMemory& memory) {
  constexpr std::uint32_t kCookieAt = 88;  // in IMAGE_LOAD_CONFIG_DIRECTORY64
  const ImageHeaders read(memory, module.range.begin);
  const std::uint32_t table = pe::FindDirectory(read, pe::kLoadConfiguration).begin;
  if (table == 0) return 0;
  const std::uint64_t begin = module.range.begin + table;
  const auto bytes = static_cast<std::uint32_t>(WordIn(module, begin, memory));
  if (bytes < kCookieAt + sizeof(std::uint64_t)) return 0;
  return WordIn(module, WordIn(module, begin + kCookieAt, memory), memory);
}

}  // namespace

std::vector<PointerCode> CodesOf(std::span<const ImageModule> modules,
                                 const ProcessMemory& memory) {
  std::vector<PointerCode> codes;
  for (const ImageModule& module : modules) {
    const std::uint64_t cookie = CookieOf(module, memory);
    const bool is_known = std::any_of(codes.begin(), codes.end(), [=](const PointerCode& code) {
      return code.flipped == cookie;
    });
    if (cookie != 0 && !is_known) codes.push_back(PointerCode::OfCookie(cookie));
  }
  return codes;
}

}  // namespace leakgate
