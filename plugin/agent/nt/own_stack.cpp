#include "plugin/agent/nt/own_stack.h"

#include "plugin/agent/nt/last_error.h"

namespace leakgate::agent {

OwnStack OwnStack::OfThisThread() {
  const LastErrorKeeper keeper;
  OwnStack stack;
  if (::IsThreadAFiber() != 0) return stack;
  ULONG_PTR begin = 0;
  ULONG_PTR end = 0;
  ::GetCurrentThreadStackLimits(&begin, &end);
  stack.begin_ = begin;
  stack.end_ = end;
  return stack;
}

}  // namespace leakgate::agent
