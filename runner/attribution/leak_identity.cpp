#include "runner/attribution/leak_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "runner/attribution/code_owner.h"
#include "runner/region/region_words.h"
#include "runner/symbols/name_text.h"

namespace leakgate {
namespace {

// Compilers number the lambdas of a function, and their copies of a lambda.
std::string WithoutNumbers(std::string_view name) {
  name = name.substr(0, name.find(" [clone"));
  std::string plain;
  for (std::size_t hash; (hash = name.find('#')) != std::string_view::npos;) {
    plain += name.substr(0, hash);
    name.remove_prefix(std::min(name.find_first_not_of("0123456789", hash + 1), name.size()));
  }
  return plain.append(name);
}

std::string ModuleName(const Frame& frame) {
  return frame.module.substr(frame.module.rfind('/') + 1);
}

std::string NameOf(const Frame& frame) {
  std::string name = QualifiedNameOf(frame.function);
  if (name.empty()) name = frame.function;
  if (!name.empty()) return WithoutNumbers(name);
  return ModuleName(frame);
}

// Returns false for what is around every program, too.
bool IsUsersOwn(const Frame& frame) {
  return OriginOf(frame) == FrameOrigin::kUser && frame.function != "main" &&
         frame.function != "_start";
}

std::uint64_t Fnv1a(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

}  // namespace

std::string SymbolicPath(const std::vector<Frame>& stack) {
  const auto outermost = std::find_if(stack.rbegin(), stack.rend(), IsUsersOwn);
  const auto end = outermost == stack.rend() ? stack.end() : outermost.base();
  std::string path;
  std::string last;
  for (auto frame = stack.begin(); frame != end; ++frame) {
    std::string name = NameOf(*frame);
    // A recursion counts once, however deep it goes.
    if (frame != stack.begin() && name == last) continue;
    path += name + '\n';
    last = std::move(name);
  }
  return path;
}

namespace {

// "All/Many.Keeps/7" -> "All/Many.Keeps", "Typed/1.Keeps" -> "Typed.Keeps"
std::string WithoutParameter(const std::string& test) {
  const std::size_t dot = std::min(test.find('.'), test.size());
  std::string suite = test.substr(0, dot);
  const std::size_t number = suite.find_last_not_of("0123456789");
  const bool is_typed =
      number != std::string::npos && number + 1 < suite.size() && suite[number] == '/';
  if (is_typed) suite.erase(number);
  return suite + test.substr(dot, std::min(test.find('/', dot), test.size()) - dot);
}

}  // namespace

std::string WindowIdentity(WindowKind kind, const std::string& name) {
  if (kind == WindowKind::kProgram) return "program";
  return fmt::format("{} {}", Word(kind),
                     kind == WindowKind::kTest ? WithoutParameter(name) : name);
}

std::string FreeErrorIdentity(const std::string& text, const std::vector<Frame>& freed_at) {
  return text + '\n' + SymbolicPath(freed_at);
}

std::string SymbolicFingerprint(const std::string& kind,
                                const std::vector<const Frame*>& user_frames) {
  std::vector<std::string> texts = {kind};
  for (const Frame* const frame : user_frames) {
    texts.push_back(frame->function.empty() ? ModuleName(*frame) : ShortName(frame->function));
  }
  return FingerprintOf(texts);
}

std::string FingerprintOf(const std::vector<std::string>& texts) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& text : texts) hash = Fnv1a("\n", Fnv1a(text, hash));
  return fmt::format("{:016x}", hash);
}

Frame WithoutPosition(Frame frame) {
  frame.line = 0;
  if (frame.function.empty()) frame.function = ModuleName(frame);
  return frame;
}

}  // namespace leakgate
