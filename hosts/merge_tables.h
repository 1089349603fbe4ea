/* SPDX-License-Identifier: MIT */
/* The tables of a merged session: its manifest and metadata. Private to hosts/. */
#ifndef JIS_HOSTS_MERGE_TABLES_H
#define JIS_HOSTS_MERGE_TABLES_H

#include "merge.h"
#include "renumber.h"

/* The manifest, without what sessions add; NULL without memory. */
struct manifest *tables_new(const struct hosts_merge *m, const char *version);
/* Processes, threads, foreigners, damage and host of session @i. Returns 0 or -ENOMEM. */
int tables_add(struct hosts_merge *m, uint32_t i, struct renumber *r, struct manifest *to);
/* What the stream @in of session @i becomes; path is for free(). Returns 0 or -ENOMEM. */
int tables_stream(const struct hosts_merge *m, uint32_t i, const struct stream_entry *in,
		  struct stream_entry *out);
int tables_damage(struct manifest *to, const char *path, uint64_t begin, uint64_t end,
		  const char *reason);
/* What is to be said of all, and how exactly clocks are known. Returns 0 or -ENOMEM. */
int tables_finish(struct hosts_merge *m, struct manifest *to);
/* The metadata of all directories. Returns 0 or -errno. */
int tables_metadata(const struct manifest *to, int dirfd);

#endif /* JIS_HOSTS_MERGE_TABLES_H */
