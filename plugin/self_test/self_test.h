// The cases of the self-test that have files of their own.
#pragma once

namespace leakgate::self_test {

void LeaveStacks();
void LeaveHeldAndLost();

}  // namespace leakgate::self_test
