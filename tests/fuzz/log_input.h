/* Findings logs for fuzz targets. The sum of a record would keep a fuzzer out: in every second input it is made right
 * first. */
#ifndef DH_FUZZ_LOG_INPUT_H
#define DH_FUZZ_LOG_INPUT_H

#include "event/finding_log.h"

#include <stdlib.h>
#include <string.h>

static inline void dh_fuzz_repair_log(uint8_t *bytes, size_t n)
{
    size_t at = DH_LOG_HEADER_SIZE;
    struct dh_log_out o = {bytes, 0, n, false};
    dh_log_put_header(&o);
    while (at + DH_LOG_RECORD_SIZE <= n) {
        uint32_t mark = DH_LOG_RECORD_MARK, size, crc;
        memcpy(bytes + at, &mark, 4);
        memcpy(&size, bytes + at + 12, 4);
        if (size > n - at - DH_LOG_RECORD_SIZE)
            size = (uint32_t)(n - at - DH_LOG_RECORD_SIZE);
        memcpy(bytes + at + 12, &size, 4);
        crc = dh_log_crc(bytes + at + 8, size + 8);
        memcpy(bytes + at + 4, &crc, 4);
        at += DH_LOG_RECORD_SIZE + size;
    }
}

/* A copy of exactly that size, so that reading past the end is seen; the caller frees it. */
static inline uint8_t *dh_fuzz_log(const uint8_t *input, size_t n)
{
    uint8_t *bytes = malloc(n ? n : 1);
    memcpy(bytes, input, n);
    if (n >= DH_LOG_HEADER_SIZE && n % 2)
        dh_fuzz_repair_log(bytes, n);
    return bytes;
}

#endif
