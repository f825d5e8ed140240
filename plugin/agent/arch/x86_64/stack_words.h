// StillHold for ../stack_words.h, which includes this: two words are compared at once, by SSE2,
// which every x86-64 processor has. The loads of the words themselves are what this costs.
#pragma once

#include <emmintrin.h>

namespace leakgate::agent {

// All bits are 0 where both words hold what they held.
__attribute__((always_inline)) inline __m128i DifferencesOf(const StackWords& words) {
  const __m128d low = _mm_load_sd(reinterpret_cast<const double*>(words.addresses[0]));
  const __m128d both = _mm_loadh_pd(low, reinterpret_cast<const double*>(words.addresses[1]));
  return _mm_xor_si128(_mm_castpd_si128(both),
                       _mm_load_si128(reinterpret_cast<const __m128i*>(words.values)));
}

// Whether all words in the range hold what they held.
__attribute__((always_inline)) inline bool StillHold(const StackWordsRange& range) {
  __m128i differences = _mm_setzero_si128();
  const StackWords* words = range.begin;
  do {
    differences =
        _mm_or_si128(differences, _mm_or_si128(DifferencesOf(words[0]), DifferencesOf(words[1])));
    words += kWordsStride;
  } while (words != range.end);
  const __m128i is_zero = _mm_cmpeq_epi8(differences, _mm_setzero_si128());
  return _mm_movemask_epi8(is_zero) == 0xFFFF;
}

}  // namespace leakgate::agent
