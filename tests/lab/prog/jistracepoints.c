// SPDX-License-Identifier: MIT
/*
 * jistracepoints: which tracepoints of the running kernel have probes, from the kernel's memory.
 *
 *   jistracepoints
 *
 * Prints "NAME N" for each tracepoint that is switched on, N times, and "looked at N" at the end.
 * Reads /proc/kallsyms for their places and /proc/kcore for what is there. struct tracepoint begins
 * with a pointer to its name and a static key, which begins with a count; what has another name
 * there is none, and told on standard error.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int memory;
static Elf64_Ehdr header;
static Elf64_Phdr segments[512];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void open_memory(void)
{
	size_t size;

	memory = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (memory < 0 || read(memory, &header, sizeof(header)) != sizeof(header))
		die("/proc/kcore");
	if (memcmp(header.e_ident, ELFMAG, SELFMAG) ||
	    header.e_phnum > sizeof(segments) / sizeof(segments[0]))
		die("/proc/kcore: its headers");
	size = header.e_phnum * sizeof(segments[0]);
	if (pread(memory, segments, size, (off_t)header.e_phoff) != (ssize_t)size)
		die("/proc/kcore: its segments");
}

/* Reads the kernel's memory at @from; returns whether it is there. */
static int read_kernel(void *to, unsigned long from, size_t size)
{
	for (int i = 0; i < header.e_phnum; i++) {
		const Elf64_Phdr *s = &segments[i];

		if (s->p_type == PT_LOAD && from >= s->p_vaddr && from - s->p_vaddr < s->p_memsz &&
		    pread(memory, to, size, (off_t)(s->p_offset + from - s->p_vaddr)) ==
			    (ssize_t)size)
			return 1;
	}
	return 0;
}

/* Is it @name that is written there? */
static int name_is(unsigned long at, const char *name)
{
	char text[128];
	size_t size = strlen(name) + 1;

	return size <= sizeof(text) && read_kernel(text, at, size) && !memcmp(text, name, size);
}

int main(void)
{
	char line[512], symbol[256];
	unsigned long place;
	int looked = 0;
	FILE *f = fopen("/proc/kallsyms", "re");

	if (!f)
		die("/proc/kallsyms");
	open_memory();
	while (fgets(line, sizeof(line), f)) {
		struct {
			unsigned long name;
			int enabled;
		} tracepoint;
		const char *name = symbol + strlen("__tracepoint_");

		if (sscanf(line, "%lx %*c %255s", &place, symbol) != 2 ||
		    strncmp(symbol, "__tracepoint_", strlen("__tracepoint_")))
			continue;
		if (!read_kernel(&tracepoint, place, sizeof(tracepoint)) ||
		    !name_is(tracepoint.name, name)) {
			fprintf(stderr, "%s: no tracepoint at 0x%lx\n", name, place);
			continue;
		}
		looked++;
		if (tracepoint.enabled)
			printf("%s %d\n", name, tracepoint.enabled);
	}
	printf("looked at %d\n", looked);
	fclose(f);
	return looked < 500; /* they are many more in any kernel of a distribution */
}
