// A small machine whose threads load and store out of order, as Arm's do, and all that can come of
// it. It is there for what the thread sanitizer does not see: plain variables, memory that another
// process reads, and orders that no machine at hand shows.
//
//   A:  Store("data", 1)                     B:  Load("ready", "flag", Order::kAcquire)
//       Store("flag", 1, Order::kRelease)        Require("ready", 1)
//                                                Load("seen", "data")
//   CanEnd(Machine::kArm, {A, B}, [](const Ending& end) { return end.at("seen") == 0; })   -> false
//
// Each step of a thread happens at one moment, in an order of its own choice, but for what the
// architecture keeps in order. All moments are tried. Memory is one for all: a store is seen by all
// other threads at once, as Armv8 has it ("other-multi-copy atomic"). The rules are those of
// C. Pulte et al., Simplifying ARM Concurrency (POPL 2018), and of the Arm Architecture Reference
// Manual, chapter B2.3:
//
// - A load-acquire happens before all that follows; a store-release after all that precedes; a
//   load-acquire after a store-release before it. A fence keeps both sides apart.
// - A step happens after the loads that its address or value is made of. A store also happens after
//   the loads that decide whether it happens at all (Require), and after those that tell addresses
//   of earlier steps. Loads do not wait for decisions: they are made on speculation.
// - A load after the same thread's store to the same place may have its value before others do.
//   Otherwise, steps at one place are in order.
//
// On x86 (P. Sewell et al., x86-TSO, CACM 2010) a store may happen after loads that follow it, and
// nothing else is out of order.
//
// What it does not have: read-modify-write in one step, mixed sizes, instruction barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace leakgate::test::memory_model {

enum class Machine { kArm, kX86 };
enum class Order { kPlain, kAcquire, kRelease };
inline constexpr Order kPlain = Order::kPlain;
inline constexpr Order kAcquire = Order::kAcquire;
inline constexpr Order kRelease = Order::kRelease;

struct Step {
  enum class Kind { kLoad, kStore, kFenceOfLoads, kFence, kRequire };

  Kind kind;
  std::string place = {};  // in memory
  std::string name = {};   // of the register that is loaded or looked at
  std::string from = {};   // the register whose value is stored, plus `value`
  int value = 0;           // that is stored, or that is required
  Order order = Order::kPlain;
  std::string through = {};  // the register that the address is made of

  bool IsLoad() const { return kind == Kind::kLoad; }
  bool IsStore() const { return kind == Kind::kStore; }
  bool IsFence() const { return kind == Kind::kFence || kind == Kind::kFenceOfLoads; }
};
using Thread = std::vector<Step>;

// The steps of `first`, then those of `second`.
inline Thread Then(Thread first, const Thread& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Registers have names of their own in all of the threads.
inline Step Load(std::string name, std::string place, Order order = Order::kPlain) {
  return {.kind = Step::Kind::kLoad,
          .place = std::move(place),
          .name = std::move(name),
          .order = order};
}
// From a place whose address was loaded into the register `through`.
inline Step LoadThrough(std::string through, std::string name, std::string place) {
  Step step = Load(std::move(name), std::move(place));
  step.through = std::move(through);
  return step;
}
inline Step Store(std::string place, int value, Order order = Order::kPlain) {
  return {.kind = Step::Kind::kStore, .place = std::move(place), .value = value, .order = order};
}
// Stores `more` than the register `from` has.
inline Step StoreSum(std::string place, std::string from, int more, Order order = Order::kPlain) {
  Step step = Store(std::move(place), more, order);
  step.from = std::move(from);
  return step;
}
// C++'s acquire fence, and the others.
inline Step FenceOfLoads() { return {.kind = Step::Kind::kFenceOfLoads}; }
inline Step Fence() { return {.kind = Step::Kind::kFence}; }
// The thread goes on only if the register holds `value`; no other ending is looked at.
inline Step Require(std::string name, int value) {
  return {.kind = Step::Kind::kRequire, .name = std::move(name), .value = value};
}

// What registers and memory hold when all threads have come to their ends.
using Ending = std::map<std::string, int>;
using Memory = std::map<std::string, int>;

class Exploration {
 public:
  Exploration(Machine machine, std::vector<Thread> threads, const Memory& begin)
      : machine_(machine), threads_(std::move(threads)) {
    State state;
    for (const Thread& thread : threads_) {
      state.done.emplace_back(thread.size(), kNotDone);
      for (const Step& step : thread) {
        if (!step.place.empty()) state.memory[step.place] = {};
      }
    }
    for (const auto& [place, value] : begin) state.memory[place].value = value;
    Visit(state);
  }

  const std::set<Ending>& endings() const { return endings_; }

 private:
  // Which store it was: 0 for what was there at the beginning.
  using StoreId = int;
  static constexpr int kNotDone = -1;

  struct Cell {
    int value = 0;
    StoreId store = 0;
    auto operator<=>(const Cell&) const = default;
  };
  struct State {
    std::vector<std::vector<int>> done;  // of a load that is done, the store that it has read
    std::map<std::string, int> registers;
    std::map<std::string, Cell> memory;
    auto operator<=>(const State&) const = default;
  };

  static bool IsKnown(const State& state, const std::string& name) {
    return name.empty() || state.registers.contains(name);
  }

  // Whether `later` waits for `earlier`, which is not done.
  bool Waits(const State& state, const Step& earlier, const Step& later) const {
    using Kind = Step::Kind;
    if (later.kind == Kind::kRequire) return false;
    if (earlier.kind == Kind::kRequire) return later.IsStore();
    if (earlier.IsFence() || later.kind == Kind::kFence) return true;
    if (later.kind == Kind::kFenceOfLoads) return earlier.IsLoad();
    if (machine_ == Machine::kX86) return earlier.IsLoad() || later.IsStore();
    if (earlier.order == Order::kAcquire || later.order == Order::kRelease) return true;
    if (earlier.order == Order::kRelease && later.order == Order::kAcquire) return true;
    return later.IsStore() && (earlier.place == later.place || !IsKnown(state, earlier.through));
  }

  bool MayHappen(const State& state, std::size_t thread, std::size_t at) const {
    const Step& step = threads_[thread][at];
    if (state.done[thread][at] != kNotDone) return false;
    if (!IsKnown(state, step.from) || !IsKnown(state, step.through)) return false;
    if (step.kind == Step::Kind::kRequire && !IsKnown(state, step.name)) return false;
    for (std::size_t i = 0; i < at; ++i) {
      const bool is_done = state.done[thread][i] != kNotDone;
      if (!is_done && Waits(state, threads_[thread][i], step)) return false;
    }
    return true;
  }

  static int ValueOf(const State& state, const Step& store) {
    return store.value + (store.from.empty() ? 0 : state.registers.at(store.from));
  }

  // Returns false if that cannot be: the value is not known yet, or a later load of the same place,
  // which was done before, has read something else.
  bool DoLoad(State& state, std::size_t thread, std::size_t at) const {
    const Step& load = threads_[thread][at];
    Cell read = state.memory.at(load.place);
    for (std::size_t i = at; i-- > 0;) {
      const Step& earlier = threads_[thread][i];
      if (!earlier.IsStore() || earlier.place != load.place) continue;
      if (state.done[thread][i] != kNotDone) break;
      if (!IsKnown(state, earlier.from)) return false;
      read = {ValueOf(state, earlier), IdOf(thread, i)};
      break;
    }
    for (std::size_t i = at + 1; i < threads_[thread].size(); ++i) {
      const Step& later = threads_[thread][i];
      if (later.place != load.place) continue;
      if (later.IsStore()) break;
      const int seen = state.done[thread][i];
      if (seen != kNotDone && seen != read.store) return false;
    }
    state.registers[load.name] = read.value;
    state.done[thread][at] = read.store;
    return true;
  }

  // Returns false if this ends what is looked at.
  bool Do(State& state, std::size_t thread, std::size_t at) const {
    const Step& step = threads_[thread][at];
    if (step.IsLoad()) return DoLoad(state, thread, at);
    state.done[thread][at] = 0;
    if (step.IsStore()) state.memory[step.place] = {ValueOf(state, step), IdOf(thread, at)};
    return step.kind != Step::Kind::kRequire || state.registers.at(step.name) == step.value;
  }

  void Visit(const State& state) {
    if (!seen_.insert(state).second) return;
    bool is_end = true;
    for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
      for (std::size_t at = 0; at < threads_[thread].size(); ++at) {
        is_end = is_end && state.done[thread][at] != kNotDone;
        if (!MayHappen(state, thread, at)) continue;
        State next = state;
        if (Do(next, thread, at)) Visit(next);
      }
    }
    if (!is_end) return;
    Ending ending = state.registers;
    for (const auto& [place, cell] : state.memory) ending[place] = cell.value;
    endings_.insert(std::move(ending));
  }

  static StoreId IdOf(std::size_t thread, std::size_t at) {
    return static_cast<StoreId>(thread * 100 + at + 1);
  }

  const Machine machine_;
  const std::vector<Thread> threads_;
  std::set<State> seen_;
  std::set<Ending> endings_;
};

// Whether the threads, run together, can end so that `is_so`. REQUIRES: they can end at all.
inline bool CanEnd(Machine machine, const std::vector<Thread>& threads,
                   const std::function<bool(const Ending&)>& is_so, const Memory& begin = {}) {
  const Exploration exploration(machine, threads, begin);
  for (const Ending& ending : exploration.endings()) {
    if (is_so(ending)) return true;
  }
  return false;
}

// Whether the threads can come to their ends, so that what they require holds.
inline bool CanEnd(Machine machine, const std::vector<Thread>& threads, const Memory& begin = {}) {
  return CanEnd(
      machine, threads, [](const Ending&) { return true; }, begin);
}

}  // namespace leakgate::test::memory_model
