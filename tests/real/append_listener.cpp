// Appends leakgate's listener to a suite that has a main of its own and is not
// to be changed.
#include "leakgate/listener.h"

namespace {
const bool is_appended = (leakgate::AppendListener(), true);
}
