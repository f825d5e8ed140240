// The Boost of Debian 12 and 13 ships Boost.Process v2 as sources that one file of the program has
// to compile (BOOST_PROCESS_V2_SEPARATE_COMPILATION). In newer versions it is a library, and this
// file is empty.
#if __has_include(<boost/process/v2/src.hpp>)
#include <boost/process/v2/src.hpp>
#endif
