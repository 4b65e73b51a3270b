#include "entry.h"
ENTRY(from_two, 4);
