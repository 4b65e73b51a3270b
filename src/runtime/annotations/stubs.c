/* Annotations for links without the runtime: the native one, whose success configure scripts ask for, and shared
 * libraries, which find the real ones in the executable. One function that does nothing and answers 0 under all names.
 */
static long nothing(void)
{
    return 0;
}

#define DH_ANNOTATION_NAME(name) extern long name(void) __attribute__((weak, alias("nothing"), visibility("default")));
#include "event/annotation_names.def"
#undef DH_ANNOTATION_NAME
