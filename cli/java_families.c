/* SPDX-License-Identifier: MIT */
/*
 * The names of the agent's families. A family is a row here, and nowhere else in the tool.
 */
#include "java_families.h"

#include <stddef.h>
#include <string.h>

#include <jis/agent.h>

#include "cli.h"

static const struct {
	const char *name;
	uint32_t feature;
	uint32_t needs; /* whose records its own mean little without */
} families[] = {
	{"threads", JIS_FEATURE_THREADS, 0},
	{"names", JIS_FEATURE_THREAD_NAMES, JIS_FEATURE_THREADS},
	{"gc", JIS_FEATURE_GC, 0},
	{"markers", JIS_FEATURE_MARKERS, 0},
	{"monitors", JIS_FEATURE_MONITORS, JIS_FEATURE_THREADS},
	{"enters", JIS_FEATURE_ALL_MONITORS, JIS_FEATURE_MONITORS | JIS_FEATURE_THREADS},
	{"parks", JIS_FEATURE_PARKS, JIS_FEATURE_THREADS},
	{"sleeps", JIS_FEATURE_SLEEPS, JIS_FEATURE_THREADS},
	{"virtual", JIS_FEATURE_VTHREADS, JIS_FEATURE_THREADS},
	{"starts", JIS_FEATURE_STARTS, JIS_FEATURE_THREADS},
	{"tasks", JIS_FEATURE_TASKS, JIS_FEATURE_THREADS},
	{"forks", JIS_FEATURE_FORKS, JIS_FEATURE_THREADS | JIS_FEATURE_TASKS},
	{"queues", JIS_FEATURE_QUEUES, JIS_FEATURE_THREADS},
	{"rmi", JIS_FEATURE_RMI, JIS_FEATURE_THREADS},
	{"stacks", JIS_FEATURE_STACKS, JIS_FEATURE_THREADS},
	{"safepoints", JIS_FEATURE_SAFEPOINTS, 0},
	{"heap", JIS_FEATURE_HEAP, JIS_FEATURE_GC},
	{"classes", JIS_FEATURE_CLASSES, JIS_FEATURE_THREADS},
	{"compilations", JIS_FEATURE_JIT, 0},
	{"exceptions", JIS_FEATURE_EXCEPTIONS, JIS_FEATURE_THREADS},
	{"allocations", JIS_FEATURE_ALLOCATIONS, JIS_FEATURE_THREADS},
};

#define NR_FAMILIES (sizeof(families) / sizeof(families[0]))

/* 0 for "none", all ones for a word that is no name. */
static uint32_t word_features(const char *word, size_t length)
{
	uint32_t all = 0;
	size_t i;

	for (i = 0; i < NR_FAMILIES; i++) {
		if (length == strlen(families[i].name) && !strncmp(word, families[i].name, length))
			return families[i].feature;
		all |= families[i].feature;
	}
	if (length == 7 && !strncmp(word, "default", length))
		return JIS_FEATURES_DEFAULT;
	if (length == 3 && !strncmp(word, "all", length))
		return all;
	return length == 4 && !strncmp(word, "none", length) ? 0 : UINT32_MAX;
}

static void say_names(const char *word, size_t length)
{
	char names[256] = "";
	size_t i;

	for (i = 0; i < NR_FAMILIES; i++) {
		strcat(names, families[i].name);
		strcat(names, ", ");
	}
	cli_error("--java: \"%.*s\" is none of %sdefault, all, none", (int)length, word, names);
}

int java_families_parse(const char *list, uint32_t *features)
{
	uint32_t chosen = *list == '-' ? JIS_FEATURES_DEFAULT : 0, one;
	const char *word = list;
	size_t length;
	int away;

	for (;;) {
		away = *word == '-';
		word += away;
		length = strcspn(word, ",");
		one = word_features(word, length);
		if (one == UINT32_MAX) {
			say_names(word, length);
			return -1;
		}
		chosen = away ? chosen & ~one : chosen | one;
		if (!word[length])
			break;
		word += length + 1;
	}
	*features = chosen;
	return 0;
}

uint32_t java_families_complete(uint32_t features)
{
	const uint32_t waits = JIS_FEATURE_MONITORS | JIS_FEATURE_PARKS | JIS_FEATURE_SLEEPS;
	size_t i;

	for (i = 0; i < NR_FAMILIES; i++)
		if (features & families[i].feature)
			features |= families[i].needs;
	if (features & JIS_FEATURE_STACKS && !(features & (waits | JIS_FEATURE_ALLOCATIONS)))
		features |= waits; /* else of what? They need what stacks do. */
	return features;
}

int java_stacks_parse(const char *text, uint64_t *threshold_ns)
{
	static const char blocked[] = "blocked>";

	if (strncmp(text, blocked, strlen(blocked))) {
		cli_error("--stacks: \"%s\" is not of the form blocked>TIME, as blocked>1ms", text);
		return -1;
	}
	return cli_parse_duration("stacks", text + strlen(blocked), threshold_ns);
}
