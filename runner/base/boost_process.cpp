// Debian's Boost 1.81 ships Boost.Process v2 as sources, which exactly one file of the program
// must compile (BOOST_PROCESS_V2_SEPARATE_COMPILATION).
#include <boost/process/v2/src.hpp>
