// leakgate's GoogleTest listener: fails each test whose outstanding allocations
// exceed its budget. For C++14 and later.
//
// Link leakgate::listener and add, before RUN_ALL_TESTS():
//
//   leakgate::AppendListener();
//
// or link leakgate::gtest_main instead of GTest::gtest_main and change nothing.
// The tests are measured under `leakgate run -- BINARY`. Started without it, the listener prints
// one line about it and lets the tests run; with LEAKGATE_REQUIRED=1 in the environment it fails
// the program instead.
#ifndef LEAKGATE_LISTENER_H_
#define LEAKGATE_LISTENER_H_

namespace leakgate {

// Adds the listener to GoogleTest's. Call it after testing::InitGoogleTest, on
// the thread that runs the tests. A second call does nothing.
void AppendListener();

}  // namespace leakgate

#endif  // LEAKGATE_LISTENER_H_
