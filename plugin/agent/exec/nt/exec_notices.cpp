// Child processes are not traced yet, so nobody is told of them.
#include "plugin/agent/exec/exec_notices.h"

namespace leakgate::agent {

void NoteWindowForExecs(std::uint32_t) {}

void KeepWindowForExecs() {}

}  // namespace leakgate::agent
