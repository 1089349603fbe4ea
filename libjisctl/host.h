/* SPDX-License-Identifier: MIT */
/*
 * Numbers of this host. Private to libjisctl.
 */
#ifndef JISCTL_HOST_H
#define JISCTL_HOST_H

#include <stdint.h>

uint32_t host_possible_cpus(void);  /* highest number + 1, at least 1 */
uint64_t host_memory(void);	    /* bytes of RAM */
uint64_t host_default_buffer(void); /* kernel rings in all: the smaller of 64 MiB and 1 % of RAM */

/* Of the running kernel: another one after each boot. Zeros where it cannot be read. */
void host_boot_id(uint8_t id[16]);

#endif /* JISCTL_HOST_H */
