// The runner launches a process of the program only to learn what its own operator new does. The
// agent does not call main there. It calls each form of operator new, keeps no pointer to any
// object, and deletes some of them. Then it asks Question::kOperatorsProbed: the mailbox's text is
// an array of ProbedObject.
#pragma once

#include <cstdint>

namespace leakgate {

// A pair of operators that a program may replace, by their names in the Itanium C++ ABI.
struct OperatorForm {
  const char* allocate;
  const char* release;
  const char* name;  // of operator new, as in a demangled stack
  bool is_aligned;
  bool is_nothrow;
};

inline constexpr OperatorForm kOperatorForms[] = {
    {"_Znwm", "_ZdlPv", "operator new(unsigned long)", false, false},
    {"_Znam", "_ZdaPv", "operator new[](unsigned long)", false, false},
    {"_ZnwmRKSt9nothrow_t", "_ZdlPv", "operator new(unsigned long, std::nothrow_t const&)", false,
     true},
    {"_ZnamRKSt9nothrow_t", "_ZdaPv", "operator new[](unsigned long, std::nothrow_t const&)", false,
     true},
    {"_ZnwmSt11align_val_t", "_ZdlPvSt11align_val_t",
     "operator new(unsigned long, std::align_val_t)", true, false},
    {"_ZnamSt11align_val_t", "_ZdaPvSt11align_val_t",
     "operator new[](unsigned long, std::align_val_t)", true, false},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", "_ZdlPvSt11align_val_t",
     "operator new(unsigned long, std::align_val_t, std::nothrow_t const&)", true, true},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", "_ZdaPvSt11align_val_t",
     "operator new[](unsigned long, std::align_val_t, std::nothrow_t const&)", true, true},
};
inline constexpr std::uint32_t kOperatorFormCount = 8;
static_assert(sizeof(kOperatorForms) / sizeof(OperatorForm) == kOperatorFormCount);

struct ProbedObject {
  // With this mask, no copy of the field looks like a pointer to the object, not even an odd one.
  static constexpr std::uint64_t kMask = 0x5a3c'96e1'0f78'b4d2;

  std::uint64_t masked;      // the object's address ^ kMask
  std::uint32_t form;        // index into kOperatorForms
  std::uint32_t is_deleted;  // 1 if it was given to operator delete at once, else 0
};
static_assert(sizeof(ProbedObject) == 16);

}  // namespace leakgate
