/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pools of user packets as the module knows them: it makes their memory, reads the words table in
 * it when a thread leaves a CPU, and writes nothing but event_mask, when the session ends.
 */
#ifndef JIS_POOL_H
#define JIS_POOL_H

#include <linux/compiler.h>

#include "jis.h"

struct file;

/**
 * jis_pool_create - makes a pool for a process that is a target.
 * @r: checked by the caller but for sizes and offsets. @out: its file, for the caller to install.
 *
 * Returns 0; -EINVAL; -ESRCH (no such process, or no target); -ENOSPC (too many pools); -ENOMEM;
 * -EINTR. The caller holds the session's lock.
 */
int jis_pool_create(struct jis_session *s, const struct jis_pool_create *r, struct file **out);

u32 jis_pool_features(void); /* JIS_FEATURE_* */

/* The process executes another program: its entries mean nothing any more. From a probe. */
void jis_pools_forget(struct jis_session *s, u32 tgid);

/* Switches all writers off and lets the pools go; no probe of the session runs any more. */
void jis_pools_destroy(struct jis_session *s);

void jis_words_find(struct jis_session *s, struct task_struct *prev, u32 words[2]);

/**
 * jis_words_read - the two words of a target that leaves the CPU: @prev, which is current.
 * Zero where it has registered none.
 */
static __always_inline void jis_words_read(struct jis_session *s, struct task_struct *prev,
					   u32 words[2])
{
	words[0] = 0;
	words[1] = 0;
	if (READ_ONCE(s->pools))
		jis_words_find(s, prev, words);
}

#endif /* JIS_POOL_H */
