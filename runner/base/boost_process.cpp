// Debian's Boost 1.81 ships Boost.Process v2 as sources that one file of the
// program has to compile (BOOST_PROCESS_V2_SEPARATE_COMPILATION).
#include <boost/process/v2/src.hpp>
