/* SPDX-License-Identifier: MIT */
/*
 * The agent may be loaded twice: by JAVA_TOOL_OPTIONS and by -agentpath. One file gives one library
 * with one state; two files (an installed one and a copy) give two, which find each other here.
 */
#include "compat.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

#include "agent.h"

#define NAME "libjisagent"
#define COPIES_MAX 8

__attribute__((visibility("default"))) int jis_agent_at_work;

struct copies {
	char path[COPIES_MAX][512];
	int nr;
};

/* Only notes the names: nothing may be opened while the list of libraries is locked. */
static int copy_note(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct copies *copies = ctx;
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	if (!base || strncmp(base + 1, NAME, strlen(NAME)) || copies->nr == COPIES_MAX ||
	    strlen(info->dlpi_name) >= sizeof(copies->path[0]))
		return 0;
	snprintf(copies->path[copies->nr++], sizeof(copies->path[0]), "%s", info->dlpi_name);
	return 0;
}

int agent_elsewhere(char *path, size_t n)
{
	struct copies copies = {.nr = 0};
	int i, found = 0;

	dl_iterate_phdr(copy_note, &copies);
	for (i = 0; i < copies.nr && !found; i++) {
		void *library = dlopen(copies.path[i], RTLD_LAZY | RTLD_NOLOAD);
		const int *at_work = library ? dlsym(library, "jis_agent_at_work") : NULL;

		found = at_work && at_work != &jis_agent_at_work &&
			__atomic_load_n(at_work, __ATOMIC_ACQUIRE);
		if (found && path)
			snprintf(path, n, "%s", copies.path[i]);
		if (library)
			dlclose(library);
	}
	return found;
}
