/* SPDX-License-Identifier: MIT */
/*
 * Classes on their way: their class file has gone by, and they are not prepared yet. Until a class
 * is loaded (which may take long, as what is above it is loaded first) no walk over the loaded ones
 * finds it. When it is prepared, before any of its code runs, the rules by which its class file
 * went by are compared with those there are now. Under methods_lock, all of it.
 */
#include "compat.h"

#include <stdlib.h>

#include "methods.h"

#define BUCKETS 4096u

struct passing {
	struct passing *next;
	__u64 hash; /* of loader and name */
	__u32 rules;
};

static struct passing *buckets[BUCKETS];
static __u32 rules; /* counts their changes */

static __u64 hash_of(long loader, const char *name, size_t length)
{
	__u64 hash = 0xcbf29ce484222325ull ^ (__u64)loader * 0x9e3779b97f4a7c15ull;
	size_t i;

	for (i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)name[i]) * 0x100000001b3ull;
	return hash;
}

static struct passing **place_of(__u64 hash)
{
	struct passing **p = &buckets[(hash >> 32) % BUCKETS];

	while (*p && (*p)->hash != hash)
		p = &(*p)->next;
	return p;
}

void passing_forget(void)
{
	struct passing *p;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		while ((p = buckets[i])) {
			buckets[i] = p->next;
			free(p);
		}
}

void passing_rules(void)
{
	rules++;
}

/* Without memory it is as if its class file had not been seen: it is looked at again. */
void passing_seen(long loader, const char *name, size_t length, int loaded)
{
	__u64 hash = hash_of(loader, name, length);
	struct passing **p = place_of(hash);

	if (!*p && !loaded)
		*p = calloc(1, sizeof(**p));
	if (!*p)
		return;
	(*p)->hash = hash;
	(*p)->rules = rules;
}

int passing_prepared(long loader, const char *name, size_t length)
{
	struct passing **place = place_of(hash_of(loader, name, length)), *p = *place;
	int is = p && p->rules == rules;

	if (p) {
		*place = p->next;
		free(p);
	}
	return is;
}
