#include "runner/attach/linux/program_begin.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "runner/attach/linux/held_thread.h"
#include "runner/attach/linux/refusals.h"
#include "runner/attach/linux/target_module.h"
#include "runner/attach/linux/thread_stops.h"
#include "runner/attach/program_environment.h"
#include "runner/process/proc_files.h"

namespace leakgate {
namespace {

constexpr std::uint64_t kWordBytes = sizeof(std::uint64_t);
constexpr std::uint64_t kAlignment = 16;

// Returns the words up to a zero, and takes them off `words`; nothing if there is no zero.
std::optional<std::vector<std::uint64_t>> TakeList(std::span<const std::uint64_t>& words) {
  const auto end = std::find(words.begin(), words.end(), 0U);
  if (end == words.end()) return std::nullopt;
  std::vector<std::uint64_t> list(words.begin(), end);
  words = words.subspan(list.size() + 1);
  return list;
}

std::optional<std::vector<std::uint64_t>> TakeAuxiliary(std::span<const std::uint64_t> words) {
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    if (words[at] != AT_NULL) continue;
    const std::span<const std::uint64_t> vector = words.first(at + 2);
    return std::vector(vector.begin(), vector.end());
  }
  return std::nullopt;
}

constexpr std::uint64_t AlignDown(std::uint64_t value) { return value & ~(kAlignment - 1); }

constexpr std::uint64_t kMostStackBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostVariableBytes = std::size_t{1} << 17;  // MAX_ARG_STRLEN

// Returns the address at which the kernel starts the program, which is in its dynamic linker.
std::optional<std::uint64_t> EntryOf(const TargetMemory& memory) {
  const auto linker = AuxiliaryValue(ReadAuxiliary(memory.pid()), AT_BASE);
  if (!linker || *linker == 0) return std::nullopt;
  const auto header = memory.Get<Elf64_Ehdr>(*linker);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  return *linker + header->e_entry;
}

std::optional<InitialStack> ReadStack(const TargetMemory& memory, std::uint64_t address) {
  const Expected<std::vector<MappedRange>> maps = ReadMaps(memory.pid());
  const MappedRange* const range = maps ? FindRange(*maps, address) : nullptr;
  if (range == nullptr) return std::nullopt;
  const std::uint64_t bytes = std::min(range->end - address, kMostStackBytes);
  std::vector<std::uint64_t> words(bytes / sizeof(std::uint64_t));
  if (!memory.Read(address, words.data(), words.size() * sizeof(words[0]))) return std::nullopt;
  return ParseInitialStack(address, words);
}

std::optional<std::string> ReadString(const TargetMemory& memory, std::uint64_t address) {
  std::string text;
  char part[256];
  while (text.size() < kMostVariableBytes) {
    // The strings are close to the end of the stack, which must not be read over.
    const std::size_t bytes = sizeof(part) - address % sizeof(part);
    if (!memory.Read(address, part, bytes)) return std::nullopt;
    const std::size_t length = ::strnlen(part, bytes);
    text.append(part, length);
    if (length < bytes) return text;
    address += bytes;
  }
  return std::nullopt;
}

// The environment is that of a normal launch. Variables that exist already stay where they are.
Expected<std::vector<StackVariable>> NewEnvironment(const TargetMemory& memory,
                                                    const InitialStack& stack,
                                                    const EnableRequest& request) {
  std::vector<std::string> inherited;
  std::map<std::string, std::uint64_t> places;
  for (const std::uint64_t address : stack.environment) {
    std::optional<std::string> text = ReadString(memory, address);
    if (!text) {
      return InconclusiveError(
          fmt::format("cannot read the environment of PID {}; try again", request.pid));
    }
    places.emplace(*text, address);
    inherited.push_back(*std::move(text));
  }
  LEAKGATE_TRY_ASSIGN(auto environment,
                      ProgramEnvironment(inherited, {request.agent, request.control}));
  std::vector<StackVariable> variables;
  for (std::string& text : environment) {
    const auto place = places.find(text);
    variables.push_back({place == places.end() ? 0 : place->second, std::move(text)});
  }
  return variables;
}

// REQUIRES: the calling thread has stopped the process's only thread.
Expected<void> PutVariables(const EnableRequest& request, const TargetMemory& memory) {
  const Error is_elsewhere{fmt::format("PID {} has gone on meanwhile; try again", request.pid)};
  auto registers = GetRegisterSet(request.pid);
  if (!registers || ProgramCounterOf(*registers) != EntryOf(memory))
    return Unexpected(is_elsewhere);
  const std::optional<InitialStack> stack = ReadStack(memory, StackPointerOf(*registers));
  if (!stack) {
    return InconclusiveError(fmt::format(
        "the stack of PID {} is not as the kernel leaves it at a program's first instruction; "
        "let it begin, then enable it",
        request.pid));
  }
  if (AuxiliaryValue(stack->auxiliary, AT_SECURE).value_or(0) != 0) {
    return Unexpected(FileRightsError(request.pid));
  }
  LEAKGATE_TRY_ASSIGN(const auto environment, NewEnvironment(memory, *stack, request));
  const StackBytes built = WithEnvironment(*stack, environment);
  SetStackPointer(*registers, built.address);
  if (!memory.Write(built.address, built.bytes.data(), built.bytes.size()) ||
      !SetRegisterSet(request.pid, *registers)) {
    return Unexpected(is_elsewhere);
  }
  return {};
}

}  // namespace

std::optional<InitialStack> ParseInitialStack(std::uint64_t address,
                                              std::span<const std::uint64_t> words) {
  if (words.empty() || address % kAlignment != 0) return std::nullopt;
  const std::uint64_t count = words.front();
  words = words.subspan(1);
  auto arguments = TakeList(words);
  if (!arguments || arguments->size() != count) return std::nullopt;
  auto environment = TakeList(words);
  if (!environment) return std::nullopt;
  auto auxiliary = TakeAuxiliary(words);
  if (!auxiliary) return std::nullopt;
  return InitialStack{address, *std::move(arguments), *std::move(environment),
                      *std::move(auxiliary)};
}

StackBytes WithEnvironment(const InitialStack& stack, std::span<const StackVariable> environment) {
  std::string strings;
  for (const StackVariable& variable : environment) {
    if (variable.address == 0) strings.append(variable.text.c_str(), variable.text.size() + 1);
  }
  std::uint64_t string_at = AlignDown(stack.address - strings.size());

  std::vector<std::uint64_t> words = {stack.arguments.size()};
  words.insert(words.end(), stack.arguments.begin(), stack.arguments.end());
  words.push_back(0);
  const std::uint64_t strings_at = string_at;
  for (const StackVariable& variable : environment) {
    words.push_back(variable.address == 0 ? string_at : variable.address);
    if (variable.address == 0) string_at += variable.text.size() + 1;
  }
  words.push_back(0);
  words.insert(words.end(), stack.auxiliary.begin(), stack.auxiliary.end());

  const std::uint64_t word_bytes = words.size() * kWordBytes;
  StackBytes built;
  built.address = AlignDown(strings_at - word_bytes);
  built.bytes.resize(stack.address - built.address);
  std::memcpy(built.bytes.data(), words.data(), word_bytes);
  std::memcpy(&built.bytes[strings_at - built.address], strings.data(), strings.size());
  return built;
}

bool IsAtFirstInstruction(int pid) {
  if (!IsStoppedBySignal(pid) || ListThreads(pid).size() != 1) return false;
  const Expected<TargetMemory> memory = TargetMemory::Open(pid);
  const std::optional<WaitingIn> thread = ReadWaiting(pid, pid);
  return memory && thread && thread->pc != 0 && thread->pc == EntryOf(*memory);
}

Expected<Attachment> EnableAtBegin(const EnableRequest& request) {
  constexpr std::chrono::seconds kPatience(2);
  LEAKGATE_TRY(RequireVisible(request.pid, request.agent));
  LEAKGATE_TRY_ASSIGN(const TargetMemory memory, TargetMemory::Open(request.pid));
  LEAKGATE_TRY_ASSIGN(std::optional<HeldThread> thread, HeldThread::Take(request.pid, request.pid));
  if (!thread || !thread->AwaitStop(kPatience)) return EndedError(request.pid);
  LEAKGATE_TRY(PutVariables(request, memory));
  return Attachment{.origin = AgentOrigin::kPreloaded,
                    .begin = TracingBegins::kWithTheProgram,
                    .tid = request.pid};
}

Expected<void> EnableAtExec(const EnableRequest& request) {
  for (const auto require : {RequireBeginnable, RequireOurNetwork}) {
    const Expected<void> met = require(request.pid);
    if (!met) return met;
  }
  const Expected<void> visible = RequireVisible(request.pid, request.agent);
  if (!visible) return visible;
  LEAKGATE_TRY_ASSIGN(const TargetMemory memory, TargetMemory::Open(request.pid));
  return PutVariables(request, memory);
}

}  // namespace leakgate
