/* SPDX-License-Identifier: MIT */
/*
 * Names of what a backend can give beyond switches and wake-ups.
 */
#include <stdio.h>
#include <string.h>

#include "backend.h"

const char *const backend_families[] = {"fault", "block", "irq", "signal", "power", NULL};

static const struct {
	uint32_t flag;
	const char *what;
} missing[] = {
	{JIS_FEATURE_SYSCALLS, "system calls"},
	{JIS_FEATURE_WORDS, "the VM's states of JVM threads"},
	{JIS_FEATURE_CGROUP, "cgroups"},
	{JIS_FEATURE_THROTTLE, "quotas of cgroups"},
	{JIS_FEATURE_STEAL, "stolen time"},
	{JIS_FEATURE_SOURCE, "timers as wakers"},
};

static void append(char *text, size_t n, const char *before, const char *word)
{
	size_t used = strlen(text);

	snprintf(text + used, n - used, "%s%s", used ? before : "", word);
}

void backend_families_text(uint32_t features, char *text, size_t n)
{
	text[0] = 0;
	for (unsigned int i = 0; backend_families[i]; i++)
		if (features & 1u << i)
			append(text, n, ", ", backend_families[i]);
	if (!text[0])
		append(text, n, "", "none");
}

void backend_features_text(uint32_t features, char *text, size_t n)
{
	bool first = true;

	backend_families_text(features, text, n);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++) {
		if (features & missing[i].flag)
			continue;
		append(text, n, first ? "; this kernel does not tell of " : ", ", missing[i].what);
		first = false;
	}
}
