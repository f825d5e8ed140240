// StillHold for ../stack_words.h, which includes this: two words are compared at once, by NEON,
// which every 64-bit Arm processor that Linux runs on has. The loads of the words themselves are
// what this costs.
#pragma once

#include <arm_neon.h>

namespace leakgate::agent {

// All bits are 0 where both words hold what they held.
__attribute__((always_inline)) inline uint64x2_t DifferencesOf(const StackWords& words) {
  const uint64x2_t both = vcombine_u64(vld1_u64(words.addresses[0]), vld1_u64(words.addresses[1]));
  return veorq_u64(both, vld1q_u64(words.values));
}

// Whether all words in the range hold what they held.
__attribute__((always_inline)) inline bool StillHold(const StackWordsRange& range) {
  uint64x2_t differences = vdupq_n_u64(0);
  const StackWords* words = range.begin;
  do {
    differences =
        vorrq_u64(differences, vorrq_u64(DifferencesOf(words[0]), DifferencesOf(words[1])));
    words += kWordsStride;
  } while (words != range.end);
  return vmaxvq_u32(vreinterpretq_u32_u64(differences)) == 0;
}

}  // namespace leakgate::agent
