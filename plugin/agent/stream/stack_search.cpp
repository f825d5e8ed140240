#include "plugin/agent/stream/stack_search.h"

#include "plugin/agent/linux/own_stack.h"

namespace leakgate::agent {
namespace {

thread_local constinit OwnStack t_stack;
thread_local constinit bool t_knows_stack = false;

}  // namespace

bool IsOnOwnStack(std::uint64_t address) {
  if (!t_knows_stack) {
    t_stack = OwnStack::OfThisThread();
    t_knows_stack = true;
  }
  return t_stack.Contains(address + sizeof(address) - 1);
}

}  // namespace leakgate::agent
