// The program that draws flame graphs of folded stacks, where Debian's package puts it.
#pragma once

namespace leakgate::test {

inline constexpr const char* kFlameGraph = "/usr/share/perl5/Devel/NYTProf/flamegraph.pl";

}  // namespace leakgate::test
