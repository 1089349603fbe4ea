/* SPDX-License-Identifier: MIT */
/*
 * What tests see of crc32c.c beside write.h: the path that needs no instruction of the CPU.
 */
#ifndef JIS_TRACE_CRC32C_H
#define JIS_TRACE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* As crc32c(), by table look-up on every CPU. */
uint32_t crc32c_software(uint32_t crc, const void *data, size_t len);

#endif /* JIS_TRACE_CRC32C_H */
