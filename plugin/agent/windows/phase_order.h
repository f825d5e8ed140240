// The measuring windows that are open, in the order in which they were opened, and the
// phase that holds for just these.
//
// Windows may end in any order. If the newest ends first, as scopes in code do, the phase from
// before it opened becomes current again, so that a loop needs no new phases. Otherwise a new phase
// begins. Every function REQUIRES that the caller holds its lock.
#pragma once

#include <cstdint>

#include "plugin/agent/windows/phases.h"

namespace leakgate::agent {

class PhaseOrder {
 public:
  // Returns the first phase of `window`, which `thread` opens; 0 if there is no room.
  [[nodiscard]] std::uint32_t Open(std::uint32_t window, std::uint32_t thread);
  // REQUIRES: it is open.
  void Close(std::uint32_t window, std::uint32_t thread);

  // Starts again in another region: no window is open, and no phase has begun.
  void Restart();

  // All phases that have begun are below this number.
  std::uint32_t end() const { return end_; }

  // Allows the last phase to begin again if `thread` was the only one in it. REQUIRES: its window
  // is closed, and all of its blocks are gone.
  void TakeBackLast(std::uint32_t thread);

 private:
  struct Node {
    std::uint32_t older;  // 0: none
    std::uint32_t newer;  // likewise
    std::uint32_t phase_before;
  };

  bool HasRoom();
  std::uint32_t Begin(std::uint32_t thread);
  void Enter(std::uint32_t phase);
  void ForgetPhasesFrom(std::uint32_t window);

  Node* nodes_ = nullptr;  // by window
  std::uint32_t newest_ = 0;
  std::uint32_t open_count_ = 0;
  std::uint32_t end_ = 1;
  std::uint32_t highest_end_ = 1;
};

}  // namespace leakgate::agent
