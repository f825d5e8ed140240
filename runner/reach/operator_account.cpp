#include "runner/reach/operator_account.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_set>
#include <utility>

#include "runner/reach/block_index.h"

namespace leakgate {
namespace {

struct PlacedFrame {
  FileAddress at;
  std::uint64_t pc = 0;
  const Module* module = nullptr;
};

bool IsAgents(const PlacedFrame& frame) { return IsAgentFile(frame.module->path); }

// The call stacks of a process, with where files have their addresses.
class PlacedStacks {
 public:
  explicit PlacedStacks(const RegionReader& region) : region_(region) {}

  // The frames point to modules that live as long as this.
  std::vector<PlacedFrame> FramesOf(std::uint32_t stack) {
    std::vector<PlacedFrame> frames;
    for (const RawStack::Frame& frame : region_.Stack(stack).frames) {
      const auto [module, is_new] = modules_.try_emplace(frame.module);
      if (is_new) module->second = region_.ModuleOf(frame.module);
      const Module& of = module->second;
      frames.push_back({{of.path, frame.pc - of.bias}, frame.pc, &of});
    }
    return frames;
  }

  [[nodiscard]] const std::map<std::uint32_t, Module>& modules() const { return modules_; }

 private:
  const RegionReader& region_;
  std::map<std::uint32_t, Module> modules_;  // of the stacks so far, by number
};

// An allocation within what the agent has called.
struct CalledByAgent {
  std::vector<FileAddress> callers;  // of malloc, up to operator new
  std::uint64_t agents_pc = 0;       // of the call of that
};

CalledByAgent CallersBelowAgent(const std::vector<PlacedFrame>& frames) {
  auto outer = std::find_if(frames.rbegin(), frames.rend(), IsAgents);
  if (outer == frames.rend()) return {};
  outer = std::find_if_not(outer, frames.rend(), IsAgents);
  CalledByAgent called{{}, outer.base()->pc};
  for (auto frame = frames.begin(); frame != outer.base(); ++frame) {
    if (!IsAgents(*frame)) called.callers.push_back(frame->at);
  }
  return called;
}

bool BeginsWith(const std::vector<PlacedFrame>& frames, const std::vector<FileAddress>& callers) {
  return callers.size() <= frames.size() &&
         std::equal(callers.begin(), callers.end(), frames.begin(),
                    [](const FileAddress& at, const PlacedFrame& frame) { return at == frame.at; });
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
  const BlockIndex index(live);
  PlacedStacks stacks(region);
  std::set<std::uint64_t> used;
  std::set<std::uint64_t> agents_pcs;
  for (const ProbedObject& object : probed) {
    const std::uint64_t address = object.masked ^ ProbedObject::kMask;
    const std::uint32_t number = index.Find(address);
    if (object.is_deleted != 0) {
      trial.is_plain = trial.is_plain && number == BlockIndex::kNone;
      continue;
    }
    if (number == BlockIndex::kNone || object.form >= kOperatorFormCount) continue;
    const LiveBlock& block = live[number];
    CalledByAgent called = CallersBelowAgent(stacks.FramesOf(block.stack));
    if (called.callers.empty()) continue;  // the agent's own
    agents_pcs.insert(called.agents_pc);
    trial.is_plain = trial.is_plain && used.insert(block.address).second;
    const std::uint64_t header_bytes = address - block.address;
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
    trial.blocks.push_back(block);
  }
  for (const LiveBlock& block : live) {
    if (used.contains(block.address)) continue;
    const auto [callers, agents_pc] = CallersBelowAgent(stacks.FramesOf(block.stack));
    const bool is_own = !callers.empty() && agents_pcs.contains(agents_pc);
    if (is_own) trial.making_own.push_back(callers.back());
  }
  return trial;
}

// `frames` are without the agent's: its own operator new only calls the next one.
std::optional<std::uint64_t> HeaderOf(const std::vector<PlacedFrame>& frames,
                                      const OperatorAccount& account, Symbolizer* symbolizer) {
  for (const HandingOut& one : account.handing_out) {
    if (BeginsWith(frames, one.callers)) return one.header_bytes;
  }
  const bool is_own = std::any_of(frames.begin(), frames.end(), [&](const PlacedFrame& frame) {
    return std::find(account.making_own.begin(), account.making_own.end(), frame.at) !=
           account.making_own.end();
  });
  if (is_own) return IgnoredAccount::kWholeBlock;
  if (frames.empty() || symbolizer == nullptr) return std::nullopt;
  const std::vector<Frame> inlined =
      symbolizer->Symbolize(*frames.front().module, frames.front().pc);
  for (auto frame = inlined.rbegin(); frame != inlined.rend(); ++frame) {
    if (!frame->inlined) continue;
    const auto form =
        std::find_if(account.handing_out.begin(), account.handing_out.end(),
                     [&](const HandingOut& one) { return one.name == frame->function; });
    if (form != account.handing_out.end()) return form->header_bytes;
  }
  return std::nullopt;
}

// Adds the variables that hold what `reaches` has. Returns whether there are any new ones.
bool AddHolders(const std::vector<BlockReach>& reaches, Variables& variables,
                OperatorAccount& account) {
  const std::size_t before = account.variables.size();
  for (const BlockReach& reach : reaches) {
    if (reach.holder == nullptr || !reach.holder->global) continue;
    const FileAddress& at = *reach.holder->global;
    const VariableExtent extent = variables.ExtentAt(at.path, at.address);
    const bool is_known =
        std::any_of(account.variables.begin(), account.variables.end(),
                    [&](const OperatorAccount::Variable& known) {
                      return known.path == at.path && known.extent.begin == extent.begin;
                    });
    if (!is_known) account.variables.push_back({at.path, extent});
  }
  return account.variables.size() != before;
}

}  // namespace

Expected<OperatorAccount> LearnAccount(std::span<const ProbedObject> probed,
                                       const ReachRequest& request) {
  LEAKGATE_TRY_ASSIGN(const HeapCopy heap, request.region.CopyHeap());
  Trial trial = Evaluate(probed, heap.blocks, request.region);
  if (!trial.is_plain || trial.blocks.empty()) return OperatorAccount{};

  OperatorAccount account;
  ReachRequest asked = request;
  asked.candidates = trial.blocks;
  asked.names_holder = [](const LiveBlock&) { return true; };
  IgnoredAccount ignored;
  constexpr int kMostParts = 8;
  constexpr std::uint32_t kMostEntries = 3;
  for (int i = 0; i < kMostParts; ++i) {
    LEAKGATE_TRY_ASSIGN(const std::vector<BlockReach> reaches, FindReach(asked));
    const bool are_lost = std::all_of(reaches.begin(), reaches.end(),
                                      [](const BlockReach& it) { return IsLost(it.reach); });
    if (are_lost) return account;
    // The first scan ignores nothing, the second one the headers, and the next ones variables, too.
    if (asked.ignored == nullptr) {
      account.handing_out = trial.handing_out;
      account.making_own = trial.making_own;
    } else if (!AddHolders(reaches, request.variables, account) &&
               ++account.entries > kMostEntries) {
      return OperatorAccount{};
    }
    ignored = FindAccount(account, heap.blocks, request.region, nullptr);
    asked.ignored = &ignored;
  }
  return OperatorAccount{};
}

IgnoredAccount FindAccount(const OperatorAccount& account, std::span<const LiveBlock> blocks,
                           const RegionReader& region, Symbolizer* symbolizer) {
  IgnoredAccount ignored{.variables = {}, .entries = account.entries, .header_bytes = {}};
  PlacedStacks stacks(region);
  std::unordered_set<std::uint32_t> seen;
  for (const LiveBlock& block : blocks) {
    if (!seen.insert(block.stack).second) continue;
    std::vector<PlacedFrame> frames = stacks.FramesOf(block.stack);
    std::erase_if(frames, IsAgents);
    const auto header = HeaderOf(frames, account, symbolizer);
    if (header) ignored.header_bytes.emplace(block.stack, *header);
  }
  for (const auto& [path, extent] : account.variables) {
    for (const auto& [number, module] : stacks.modules()) {
      if (module.path != path) continue;
      ignored.variables.push_back({extent.begin + module.bias, extent.end + module.bias});
      break;
    }
  }
  return ignored;
}

}  // namespace leakgate
