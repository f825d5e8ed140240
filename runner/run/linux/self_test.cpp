#include "runner/run/self_test.h"

namespace leakgate {

Expected<std::vector<Check>> TestSystem(const SelfTestRequest&) {
  return UsageError(
      "--self-test: there is one for Windows only; leakgate doctor BINARY says whether a program "
      "can be gated here");
}

}  // namespace leakgate
