#include "entry.h"
ENTRY(from_one, 2);
ENTRY(also_from_one, 3);
