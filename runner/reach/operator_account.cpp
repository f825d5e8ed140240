#include "runner/reach/operator_account.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace leakgate {
namespace {

bool IsAgent(const Module& module) {
  return std::string_view(module.path).ends_with("/libleakgate_agent.so");
}

struct PlacedFrame {
  FileAddress at;
  std::uint64_t pc = 0;
  std::uint32_t module = 0;
  bool is_agents = false;
};

std::vector<PlacedFrame> FramesOf(std::uint32_t stack, const RegionReader& region) {
  std::vector<PlacedFrame> frames;
  for (const RawStack::Frame& frame : region.Stack(stack).frames) {
    const Module module = region.ModuleOf(frame.module);
    frames.push_back(
        {{module.path, frame.pc - module.bias}, frame.pc, frame.module, IsAgent(module)});
  }
  return frames;
}

// An allocation within what the agent has called.
struct CalledByAgent {
  std::vector<FileAddress> callers;  // of malloc, up to operator new
  std::uint64_t agents_pc = 0;       // of the call of that
};

CalledByAgent CallersBelowAgent(const std::vector<PlacedFrame>& frames) {
  const auto is_agents = [](const PlacedFrame& frame) { return frame.is_agents; };
  auto outer = std::find_if(frames.rbegin(), frames.rend(), is_agents);
  if (outer == frames.rend()) return {};
  outer = std::find_if_not(outer, frames.rend(), is_agents);
  CalledByAgent called{{}, outer.base()->pc};
  for (auto frame = frames.begin(); frame != outer.base(); ++frame) {
    if (!frame->is_agents) called.callers.push_back(frame->at);
  }
  return called;
}

// Returns whether the stack begins with `callers`. The agent's own operator new only calls the next
// one.
bool BeginsWith(const std::vector<PlacedFrame>& frames, const std::vector<FileAddress>& callers) {
  std::size_t next = 0;
  for (const PlacedFrame& frame : frames) {
    if (next == callers.size()) break;
    if (frame.is_agents) continue;
    if (frame.at != callers[next]) return false;
    ++next;
  }
  return next == callers.size();
}

const LiveBlock* BlockOf(std::uint64_t address, const std::vector<LiveBlock>& blocks) {
  auto after = std::upper_bound(
      blocks.begin(), blocks.end(), address,
      [](std::uint64_t value, const LiveBlock& block) { return value < block.address; });
  if (after == blocks.begin()) return nullptr;
  --after;
  return address - after->address < after->size_bytes ? &*after : nullptr;
}

// What the objects that were kept tell.
struct Trial {
  std::vector<LiveBlock> blocks;
  std::vector<HandingOut> handing_out;
  std::vector<FileAddress> making_own;
  bool is_plain = true;  // each object has a block of its own, which ends with it
};

Trial Evaluate(std::span<const ProbedObject> probed, const std::vector<LiveBlock>& live,
               const RegionReader& region) {
  Trial trial;
  std::set<std::uint64_t> used;
  std::set<std::uint64_t> agents_pcs;
  for (const ProbedObject& object : probed) {
    const LiveBlock* const block = BlockOf(object.masked ^ ProbedObject::kMask, live);
    if (object.is_deleted != 0) {
      trial.is_plain = trial.is_plain && block == nullptr;
      continue;
    }
    if (block == nullptr || object.form >= kOperatorFormCount) continue;
    CalledByAgent called = CallersBelowAgent(FramesOf(block->stack, region));
    if (called.callers.empty()) continue;  // the agent's own
    agents_pcs.insert(called.agents_pc);
    trial.is_plain = trial.is_plain && used.insert(block->address).second;
    const std::uint64_t header_bytes = (object.masked ^ ProbedObject::kMask) - block->address;
    const auto same =
        std::find_if(trial.handing_out.begin(), trial.handing_out.end(),
                     [&](const HandingOut& known) { return known.callers == called.callers; });
    if (same != trial.handing_out.end()) {
      // Aligned objects are at different places of their blocks: the least is certain.
      same->header_bytes = std::min(same->header_bytes, header_bytes);
    } else {
      trial.handing_out.push_back(
          {std::move(called.callers), kOperatorForms[object.form].name, header_bytes});
    }
    trial.blocks.push_back(*block);
  }
  for (const LiveBlock& block : live) {
    if (used.contains(block.address)) continue;
    const auto [callers, agents_pc] = CallersBelowAgent(FramesOf(block.stack, region));
    const bool is_own = !callers.empty() && agents_pcs.contains(agents_pc);
    if (is_own) trial.making_own.push_back(callers.back());
  }
  return trial;
}

std::optional<std::uint64_t> HeaderOf(const std::vector<PlacedFrame>& frames,
                                      const OperatorAccount& account, const RegionReader& region,
                                      Symbolizer* symbolizer) {
  for (const HandingOut& one : account.handing_out) {
    if (BeginsWith(frames, one.callers)) return one.header_bytes;
  }
  const bool is_own = std::any_of(frames.begin(), frames.end(), [&](const PlacedFrame& frame) {
    return std::find(account.making_own.begin(), account.making_own.end(), frame.at) !=
           account.making_own.end();
  });
  if (is_own) return IgnoredAccount::kWholeBlock;
  const auto first = std::find_if_not(frames.begin(), frames.end(),
                                      [](const PlacedFrame& frame) { return frame.is_agents; });
  if (first == frames.end() || symbolizer == nullptr) return std::nullopt;
  const std::vector<Frame> inlined =
      symbolizer->Symbolize(region.ModuleOf(first->module), first->pc);
  for (auto frame = inlined.rbegin(); frame != inlined.rend(); ++frame) {
    if (!frame->inlined) continue;
    const auto form =
        std::find_if(account.handing_out.begin(), account.handing_out.end(),
                     [&](const HandingOut& one) { return one.name == frame->function; });
    if (form != account.handing_out.end()) return form->header_bytes;
  }
  return std::nullopt;
}

// Adds the variables that hold what `reaches` has. Returns whether there are any.
bool AddHolders(const std::vector<BlockReach>& reaches, Variables& variables,
                OperatorAccount& account) {
  const std::size_t before = account.variables.size();
  for (const BlockReach& reach : reaches) {
    if (reach.holder == nullptr || !reach.holder->global) continue;
    const auto& [path, address] = *reach.holder->global;
    account.variables.push_back({path, variables.ExtentAt(path, address)});
  }
  return account.variables.size() != before;
}

}  // namespace

Expected<OperatorAccount> LearnAccount(std::span<const ProbedObject> probed,
                                       const ReachRequest& request) {
  const Expected<HeapCopy> heap = request.region.CopyHeap();
  if (!heap) return Unexpected(heap.error());
  Trial trial = Evaluate(probed, heap->blocks, request.region);
  if (!trial.is_plain || trial.blocks.empty()) return OperatorAccount{};

  OperatorAccount account;
  ReachRequest asked = request;
  asked.candidates = trial.blocks;
  asked.names_holder = [](const LiveBlock&) { return true; };
  IgnoredAccount ignored;
  constexpr int kMostParts = 8;
  for (int i = 0; i < kMostParts; ++i) {
    const Expected<std::vector<BlockReach>> reaches = FindReach(asked);
    if (!reaches) return Unexpected(reaches.error());
    const bool are_lost = std::all_of(reaches->begin(), reaches->end(),
                                      [](const BlockReach& it) { return IsLost(it.reach); });
    if (are_lost) return account;
    // First without what lies in front of the objects alone.
    if (asked.ignored == nullptr) {
      account.handing_out = trial.handing_out;
      account.making_own = trial.making_own;
    } else if (!AddHolders(*reaches, request.variables, account)) {
      return OperatorAccount{};
    }
    ignored = FindAccount(account, heap->blocks, request.region, nullptr);
    asked.ignored = &ignored;
  }
  return OperatorAccount{};
}

IgnoredAccount FindAccount(const OperatorAccount& account, std::span<const LiveBlock> blocks,
                           const RegionReader& region, Symbolizer* symbolizer) {
  IgnoredAccount ignored;
  std::unordered_map<std::string, std::uint64_t> bias;  // of modules, by path
  std::unordered_set<std::uint32_t> seen;
  for (const LiveBlock& block : blocks) {
    if (!seen.insert(block.stack).second) continue;
    const std::vector<PlacedFrame> frames = FramesOf(block.stack, region);
    for (const PlacedFrame& frame : frames) {
      bias.emplace(frame.at.path, frame.pc - frame.at.address);
    }
    const auto header = HeaderOf(frames, account, region, symbolizer);
    if (header) ignored.header_bytes.emplace(block.stack, *header);
  }
  for (const OperatorAccount::Variable& variable : account.variables) {
    const auto mapped = bias.find(variable.path);
    if (mapped == bias.end()) continue;
    ignored.variables.push_back(
        {variable.extent.begin + mapped->second, variable.extent.end + mapped->second});
  }
  return ignored;
}

}  // namespace leakgate
