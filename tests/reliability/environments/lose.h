// Loses a block in a way that no optimiser sees through. A line that leaks carries the
// comment `// LEAK: NAME`, by which ../matrix finds it.
#pragma once

inline void Lose(const void* block) { __asm__ volatile("" : : "r"(block) : "memory"); }
