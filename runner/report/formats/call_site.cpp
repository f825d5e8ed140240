#include "runner/report/formats/call_site.h"

#include <fmt/format.h>

#include <filesystem>

#include "runner/report/finding_text.h"
#include "runner/report/function_text.h"
#include "runner/report/outer_frames.h"

namespace leakgate {
namespace {

std::string FileName(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::uint64_t Fnv1a(std::string_view text, std::uint64_t hash) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  return hash;
}

// A nameless frame's offset moves with each build: its module alone stays.
std::string SymbolicName(const Frame& frame) {
  return frame.function.empty() ? FileName(frame.module) : ShortName(frame.function);
}

}  // namespace

const Frame* CallSiteOf(const Finding& finding) {
  return finding.stack.empty() ? nullptr : &finding.stack[finding.user_frame.value_or(0)];
}

std::string FrameName(const Frame& frame) {
  if (!frame.function.empty()) return ShortName(frame.function);
  if (frame.module.empty()) return "unknown function";
  return fmt::format("{}+{:#x}", FileName(frame.module), frame.module_offset);
}

FilePosition PositionOf(const Finding& finding, const std::string& root) {
  for (std::size_t i = finding.user_frame.value_or(0); i < finding.stack.size(); ++i) {
    const Frame& frame = finding.stack[i];
    if (!frame.file.empty()) return {RelativePath(frame.file, root), frame.line};
  }
  return {};
}

FilePosition PositionOf(const WindowResult& window, const std::string& root) {
  if (window.source_file.empty()) return {};
  return {RelativePath(window.source_file, root), window.source_line};
}

std::vector<const Frame*> UserFrames(const Finding& finding) {
  std::vector<const Frame*> frames;
  const std::size_t end = FindOuterFrames(finding).begin;
  for (std::size_t i = finding.user_frame.value_or(0); i < end; ++i) {
    frames.push_back(&finding.stack[i]);
  }
  return frames;
}

std::string SymbolicFingerprint(const std::string& kind, const Finding& finding) {
  std::vector<std::string> texts = {kind};
  for (const Frame* const frame : UserFrames(finding)) texts.push_back(SymbolicName(*frame));
  return FingerprintOf(texts);
}

std::string FingerprintOf(const std::vector<std::string>& texts) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string& text : texts) hash = Fnv1a("\n", Fnv1a(text, hash));
  return fmt::format("{:016x}", hash);
}

}  // namespace leakgate
