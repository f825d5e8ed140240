// The cases of the self-test that have files of their own.
#pragma once

namespace leakgate::self_test {

void LeaveStacks();
void LeaveHeldAndLost();
int LeaveMappings();  // 0, or what could not be mapped
void MakeEvents();

}  // namespace leakgate::self_test
