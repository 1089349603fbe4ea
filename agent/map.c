/* SPDX-License-Identifier: MIT */
/*
 * A table of numbers by number for many readers: no lock, no waiting, and bounded. A key lies
 * within a window behind its place, so that an entry may be taken out without a trace.
 */
#include "waits.h"

static __u32 place(const struct map *map, __u64 key)
{
	return (__u32)((key * 0x9e3779b97f4a7c15ull) >> 32) & map->mask;
}

static struct map_entry *find(const struct map *map, __u64 key, __u64 wanted)
{
	__u32 at = place(map, key), i;
	struct map_entry *entry;

	for (i = 0; i < MAP_WINDOW; i++) {
		entry = &map->entries[(at + i) & map->mask];
		if (__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == wanted)
			return entry;
	}
	return NULL;
}

int map_set(struct map *map, __u64 key, __u64 value)
{
	struct map_entry *entry;

	pthread_mutex_lock(&map->lock);
	entry = find(map, key, key);
	if (!entry)
		entry = find(map, key, 0);
	if (entry) {
		/* Not before the key that was taken out: who reads the value looks at the key
		 * again. */
		__atomic_store_n(&entry->value, value, __ATOMIC_RELEASE);
		__atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&map->lock);
	return entry ? 0 : -ENOSPC;
}

__u64 map_take(struct map *map, __u64 key)
{
	struct map_entry *entry;
	__u64 value = 0;

	pthread_mutex_lock(&map->lock);
	entry = find(map, key, key);
	if (entry) {
		value = entry->value;
		__atomic_store_n(&entry->key, 0, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&map->lock);
	return value;
}

__u64 map_get(const struct map *map, __u64 key)
{
	const struct map_entry *entry = key ? find(map, key, key) : NULL;
	__u64 value = entry ? __atomic_load_n(&entry->value, __ATOMIC_ACQUIRE) : 0;

	/* It may have become another's meanwhile. */
	return entry && __atomic_load_n(&entry->key, __ATOMIC_RELAXED) == key ? value : 0;
}
