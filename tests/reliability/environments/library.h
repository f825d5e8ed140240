// A shared library of the suite's own.
#pragma once

void LeakInLibrary();
