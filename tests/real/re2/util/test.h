// In place of re2's header of this name: its own few macros are GoogleTest's,
// so its tests, as they are, become a GoogleTest suite.
#ifndef UTIL_TEST_H_
#define UTIL_TEST_H_

#include <gtest/gtest.h>
// re2's, as in the header that this one replaces.
#include <util/logging.h>
#include <util/util.h>

#endif  // UTIL_TEST_H_
