#include "runner/region/damage.h"

namespace leakgate {

std::string DamageText() {
  return "the program has written over the memory that it shares with leakgate, so nothing that "
         "was recorded can be relied on; look for a wild pointer, for example with "
         "AddressSanitizer";
}

}  // namespace leakgate
