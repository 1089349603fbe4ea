/* SPDX-License-Identifier: MIT */
/*
 * Numbers of this host, from sysfs and sysconf.
 */
#include "host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POSSIBLE "/sys/devices/system/cpu/possible"
#define BOOT_ID "/proc/sys/kernel/random/boot_id"
#define MAX_CPUS 8192u

uint32_t host_possible_cpus(void)
{
	FILE *f = fopen(POSSIBLE, "re");
	char text[256] = "", *last;
	long conf = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t n = conf > 0 ? (uint32_t)conf : 1;

	if (f) {
		if (!fgets(text, sizeof(text), f))
			text[0] = 0;
		fclose(f);
	}
	last = text + strlen(text); /* the last number of "0-3,8-11" */
	while (last > text && (last[-1] == '\n' || (last[-1] >= '0' && last[-1] <= '9')))
		last--;
	if (*last >= '0' && *last <= '9')
		n = (uint32_t)strtoul(last, NULL, 10) + 1;
	return n > MAX_CPUS ? MAX_CPUS : n;
}

uint64_t host_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 1u << 30;
}

uint64_t host_default_buffer(void)
{
	uint64_t part = host_memory() / 100, cap = 64u << 20;
	uint64_t least = (uint64_t)host_possible_cpus() * 65536u;

	if (part > cap)
		part = cap;
	return part < least ? least : part;
}

void host_boot_id(uint8_t id[16])
{
	FILE *f = fopen(BOOT_ID, "re");
	char text[64] = "", *p = text;
	int n = 0;

	memset(id, 0, 16);
	if (!f)
		return;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	while (n < 16 && sscanf(p, "%2hhx", &id[n]) == 1) {
		n++;
		p += p[2] == '-' ? 3 : 2;
	}
	if (n < 16)
		memset(id, 0, 16);
}
