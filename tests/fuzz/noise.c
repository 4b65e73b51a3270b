/* --noise: any text is read or refused, with a column inside it. */
#include "event/noise.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[256];
    struct dh_noise n;
    struct dh_noise_error e;
    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (!dh_noise_read(&n, text, &e) && (!e.column || e.column > size + 1 || !e.text[0]))
        abort();
    return 0;
}
