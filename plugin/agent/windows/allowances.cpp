#include "plugin/agent/windows/allowances.h"

#include "common/system.h"
#include "plugin/agent/base/region.h"
#include "plugin/agent/base/spin_lock.h"

#include LEAKGATE_AGENT(syscall)

namespace leakgate::agent {
namespace {

// Open addressing, half full at most; 0: empty.
constexpr std::uint32_t kIndexSize = 2 * kMaxAllowances;
using Index = std::uint32_t[kIndexSize];

constexpr std::string_view kDisableHook = "__lsan_disable";

constinit SpinLock g_lock;
constinit Index* g_index = nullptr;

struct Request {
  AllowanceKind kind;
  std::uint32_t window;
  std::uint32_t thread;
  const GivenAllowance& given;
};

std::uint64_t Mix(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x0000'0100'0000'01B3ULL;  // FNV-1a's prime
}

std::uint32_t HashOf(const Request& request) {
  std::uint64_t hash = 0xCBF2'9CE4'8422'2325ULL;
  for (const char byte : request.given.reason) hash = Mix(hash, static_cast<unsigned char>(byte));
  for (const char byte : request.given.file) hash = Mix(hash, static_cast<unsigned char>(byte));
  hash = Mix(hash, request.given.line);
  hash = Mix(hash, static_cast<std::uint64_t>(request.given.bytes));
  hash = Mix(hash, static_cast<std::uint64_t>(request.given.blocks));
  hash = Mix(hash, request.window);
  hash = Mix(hash, static_cast<std::uint32_t>(request.kind));
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

bool IsText(TextRef ref, std::string_view text) {
  return std::string_view(g_region.text() + ref.offset, ref.length) == text;
}

bool IsFor(const AllowanceRecord& record, const Request& request) {
  const GivenAllowance& given = request.given;
  return record.kind == static_cast<std::uint32_t>(request.kind) &&
         record.window == request.window && record.line == given.line &&
         record.bytes == given.bytes && record.blocks == given.blocks &&
         IsText(record.reason, given.reason) && IsText(record.file, given.file);
}

TextRef AddText(std::string_view text) {
  return g_region.AddText(text.data(), static_cast<std::uint32_t>(text.size()));
}

// Counts a drop and returns 0 if the table is full.
std::uint32_t Add(const Request& request) {
  std::atomic<std::uint32_t>& count = g_region.header().allowance_count;
  const std::uint32_t id = count.load(std::memory_order_relaxed);
  if (id >= kMaxAllowances || !MakeRoom(&g_region.allowances()[id], sizeof(AllowanceRecord))) {
    g_region.Drop(DropReason::kAllowanceTableFull);
    return 0;
  }
  g_region.allowances()[id] = {.kind = static_cast<std::uint32_t>(request.kind),
                               .window = request.window,
                               .reason = AddText(request.given.reason),
                               .file = AddText(request.given.file),
                               .line = request.given.line,
                               .thread = request.thread,
                               .bytes = request.given.bytes,
                               .blocks = request.given.blocks};
  // Release: the runner acquires the count before it reads the record.
  count.store(id + 1, std::memory_order_release);
  return id;
}

// Returns the allowance's id, which is a known one if it was given before.
std::uint32_t Intern(const Request& request) {
  const SpinGuard guard(g_lock);
  if (g_index == nullptr) g_index = static_cast<Index*>(MapOwn(sizeof(Index)));
  if (g_index == nullptr) {
    g_region.Drop(DropReason::kAllowanceTableFull);
    return 0;
  }
  std::uint32_t at = HashOf(request) % kIndexSize;
  for (; (*g_index)[at] != 0; at = (at + 1) % kIndexSize) {
    const std::uint32_t id = (*g_index)[at];
    if (IsFor(g_region.allowances()[id], request)) return id;
  }
  return (*g_index)[at] = Add(request);
}

std::uint32_t Intern(Recording recording, AllowanceKind kind, const GivenAllowance& given) {
  const std::uint32_t window = g_region.header().current_window.load(std::memory_order_relaxed);
  return Intern({kind, window, recording.thread().thread, given});
}

// The token of a scope: its allowance, and the thread on which it began.
std::uint32_t TokenOf(const ThreadState& thread, std::uint32_t allowance) {
  constexpr std::uint32_t kThreads = 1U << 15;  // so it is never LEAKGATE_NOT_BEGUN
  return (thread.thread % kThreads) * kMaxAllowances + allowance;
}

bool IsIgnored(std::uint32_t allowance) {
  return allowance != 0 && g_region.allowances()[allowance].kind ==
                               static_cast<std::uint32_t>(AllowanceKind::kIgnored);
}

// An allowance that was given before tracing was disabled belongs to another region, and one of a
// window that has ended is no longer in force.
bool MayHold(const ThreadState& thread, std::uint32_t allowance) {
  if (allowance == 0 ||
      allowance >= g_region.header().allowance_count.load(std::memory_order_relaxed))
    return false;
  if (IsIgnored(allowance)) return thread.ignoring != 0;
  const WindowRecord& window = g_region.windows()[g_region.allowances()[allowance].window];
  return window.state.load(std::memory_order_relaxed) ==
         static_cast<std::uint32_t>(WindowState::kOpen);
}

// Sets the thread's allowance. It needs another context for its next allocation.
void Hold(ThreadState& thread, std::uint32_t allowance) {
  thread.allowance = allowance;
  thread.ForgetContext();
}

// Does the same if the allowance is still in force. A scope that ends while the thread ignores what
// it allocates does not end that.
void HoldIfMay(ThreadState& thread, std::uint32_t allowance) {
  const std::uint32_t otherwise = thread.ignoring != 0 ? IgnoredBy(kDisableHook) : 0;
  Hold(thread, MayHold(thread, allowance) ? allowance : otherwise);
}

}  // namespace

void RestartAllowances() {
  g_lock.Reset();
  if (g_index == nullptr) return;
  ClearPages(g_index, sizeof(Index));
  NoteOwnMemory(g_index, sizeof(Index));
}

std::uint32_t BeginAllowance(Recording recording, const GivenAllowance& given) {
  ThreadState& thread = recording.thread();
  const std::uint32_t before = TokenOf(thread, thread.allowance);
  Hold(thread, Intern(recording, AllowanceKind::kScoped, given));
  return before;
}

void RestoreAllowance(Recording recording, std::uint32_t before) {
  ThreadState& thread = recording.thread();
  const std::uint32_t allowance = before % kMaxAllowances;
  if (before == TokenOf(thread, allowance)) HoldIfMay(thread, allowance);
}

void BeginIgnoring(Recording recording) {
  ThreadState& thread = recording.thread();
  if (thread.ignoring++ != 0) return;
  thread.before_ignoring = thread.allowance;
  Hold(thread, IgnoredBy(kDisableHook));
}

// If a scope has begun meanwhile, it goes on.
void EndIgnoring(Recording recording) {
  ThreadState& thread = recording.thread();
  if (thread.ignoring == 0 || --thread.ignoring != 0 || !IsIgnored(thread.allowance)) return;
  HoldIfMay(thread, thread.before_ignoring);
}

std::uint32_t IgnoredBy(std::string_view hook) {
  const GivenAllowance given = {.reason = "the code has leak checkers ignore it",
                                .file = hook,
                                .line = 0,
                                .bytes = -1,
                                .blocks = -1};
  return Intern({AllowanceKind::kIgnored, 0, 0, given});
}

void EndAllowancesOf(Recording recording, std::uint32_t window) {
  ThreadState& thread = recording.thread();
  if (thread.allowance == 0) return;
  AllowanceRecord& record = g_region.allowances()[thread.allowance];
  if (record.window != window || IsIgnored(thread.allowance)) return;
  record.kind = static_cast<std::uint32_t>(AllowanceKind::kLeftOn);
  HoldIfMay(thread, 0);
}

void NoteSuppressions(Recording /*recording*/, std::string_view text) {
  const GivenAllowance given = {.reason = text, .file = {}, .line = 0, .bytes = -1, .blocks = -1};
  Intern({AllowanceKind::kSuppressions, 0, 0, given});
}

void CountRootRegion(Recording /*recording*/, const RootRegion& region, int change) {
  const GivenAllowance given = {.reason = {},
                                .file = {},
                                .line = 0,
                                .bytes = static_cast<std::int64_t>(region.begin),
                                .blocks = static_cast<std::int64_t>(region.size_bytes)};
  const std::uint32_t id = Intern({AllowanceKind::kRootRegion, 0, 0, given});
  if (id == 0) return;
  const SpinGuard guard(g_lock);
  std::uint32_t& count = g_region.allowances()[id].thread;
  if (change > 0 || count != 0) count += static_cast<std::uint32_t>(change);
}

void ExpectOutstanding(Recording recording, const GivenAllowance& given) {
  Intern(recording, AllowanceKind::kExpected, given);
}

}  // namespace leakgate::agent
