// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of user packets: their memory, and the words that threads keep in them.
 *
 * A pool is a file of the kernel's tmpfs, sealed against any change of its size. Descriptors and
 * mappings hold the file, nothing of this module; the module holds the two parts it uses, the page
 * of the header and those of the words table, by references to their pages, so they stay where
 * they are whatever anybody does to the file. All of it is hostile memory: each number is read
 * once, and nothing read from it is used but as an address of the current thread's own memory.
 *
 * Probes walk the table of pools under RCU (interrupts are off in a switch); changes are made under
 * the session's lock.
 */
#include <linux/file.h>
#include <linux/fcntl.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/pid.h>
#include <linux/rculist.h>
#include <linux/sched/signal.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "pool.h"

#define POOLS_MAX 4096u
#define POOLS_PER_PROCESS 16u
#define WORDS_MAX 65536u

struct jis_pool {
	struct hlist_node node;
	struct list_head gone; /* out of the table, waits for its end */
	u32 tgid;
	u8 off;   /* written by probes: the program that wrote the words is gone */
	u32 nr_words;
	struct jis_thread_words *words; /* in memory */
	struct pid *pid;
	unsigned long charged; /* pages */
	struct page **pages;   /* the module's own references: the header's, then the words' */
	unsigned long nr_pages;
	void *memory; /* pages[], mapped */
};

struct jis_pools {
	u32 count;
	struct hlist_head head[256];
};

static struct hlist_head *pool_bucket(struct jis_pools *pools, u32 tgid)
{
	return &pools->head[tgid * 0x9e3779b1u >> 24];
}

/* The probe's side ------------------------------------------------------------------------- */

static notrace u32 word_read(u64 address)
{
	u32 word;

	if (!address || copy_from_user_nofault(&word, u64_to_user_ptr(address), sizeof(word)))
		return 0;
	return word;
}

/* Reads the words of thread @tid, as its process numbers it, if the pool has them. */
static notrace bool words_of(const struct jis_pool *pool, u32 tid, u32 words[2])
{
	u32 i, at = JIS_WORDS_HASH(tid), mask = pool->nr_words - 1;

	for (i = 0; i < JIS_WORDS_WINDOW && i <= mask; i++, at++) {
		const struct jis_thread_words *w = &pool->words[at & mask];

		/* Pairs with the release with which the process writes it. */
		if (smp_load_acquire(&w->tid) != tid)
			continue;
		words[0] = word_read(READ_ONCE(w->vm_state));
		words[1] = word_read(READ_ONCE(w->os_state));
		return true;
	}
	return false;
}

notrace void jis_words_find(struct jis_session *s, struct task_struct *prev, u32 words[2])
{
	struct jis_pools *pools = smp_load_acquire(&s->pools); /* pairs with pools_table() */
	struct jis_pool *pool;
	u32 tid = 0;

	/* It is at its end, or the kernel's; or becomes a program that is not its user's. */
	if (!prev->mm || !jis_rights_task(s, prev))
		return;
	hlist_for_each_entry_rcu_notrace(pool, pool_bucket(pools, prev->tgid), node) {
		/* Not one that a process of the same number has left. */
		if (pool->pid != task_tgid(prev) || !pool->nr_words || READ_ONCE(pool->off))
			continue;
		if (!tid)
			tid = jis_ns_tid(prev);
		if (!tid || words_of(pool, tid, words))
			return;
	}
}

notrace void jis_pools_forget(struct jis_session *s, u32 tgid)
{
	struct jis_pools *pools = smp_load_acquire(&s->pools); /* pairs with pools_table() */
	struct jis_pool *pool;

	if (!pools)
		return;
	rcu_read_lock();
	hlist_for_each_entry_rcu_notrace(pool, pool_bucket(pools, tgid), node) {
		if (pool->tgid == tgid)
			WRITE_ONCE(pool->off, 1);
	}
	rcu_read_unlock();
}

/* Memory ------------------------------------------------------------------------------------ */

#define POOL_GFP (GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* As memfd_create() and its seals would have it; nothing can change its size afterwards. */
static struct file *pool_file(u64 bytes)
{
	struct file *file = compat_shmem_file("jis-pool", bytes);

	/* What has no limit but memory says so: without an inode shmem speaks of space. */
	if (IS_ERR(file))
		return PTR_ERR(file) == -ENOSPC ? ERR_PTR(-ENOMEM) : file;
	file->f_mode |= FMODE_LSEEK | FMODE_PREAD | FMODE_PWRITE;
	file->f_flags |= O_LARGEFILE;
#ifdef HAVE_SHMEM_SEALS
	SHMEM_I(file_inode(file))->seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
#endif
	return file;
}

/*
 * Makes all pages, charged to the caller, and keeps those of the header and the words: the page at
 * 0 first, then [@first, @first + nr_pages - 1).
 */
static int pool_fill(struct jis_pool *pool, struct file *file, u64 nr, u64 first)
{
	struct address_space *mapping = file->f_mapping;
	u64 i, last = first + pool->nr_pages - 1;
	struct page *page;

	for (i = 0; i < nr; i++) {
		if (fatal_signal_pending(current))
			return -EINTR;
		page = shmem_read_mapping_page_gfp(mapping, i, POOL_GFP);
		if (IS_ERR(page))
			return PTR_ERR(page);
		if (i == 0) {
			get_page(page);
			pool->pages[0] = page;
		}
		if (i >= first && i < last) {
			get_page(page);
			pool->pages[1 + i - first] = page;
		}
		put_page(page);
		cond_resched();
	}
	return 0;
}

/* Undoes what there is of it. Its writers have been told, if it ever had any. */
static void pool_free(struct jis_pool *pool)
{
	unsigned long i;

	if (pool->memory)
		vunmap(pool->memory);
	for (i = 0; pool->pages && i < pool->nr_pages && pool->pages[i]; i++)
		put_page(pool->pages[i]);
	kvfree(pool->pages);
	put_pid(pool->pid);
	jis_uncharge(pool->charged);
	kfree(pool);
}

/* Its writers stop at their next record; an agent's probes when their words' time is up. */
static void pool_end(struct jis_pool *pool)
{
	struct jis_pool_header *h = pool->memory;

	WRITE_ONCE(h->event_mask, 0);
	set_page_dirty_lock(pool->pages[0]); /* its file may go meanwhile */
	pool_free(pool);
}

static int pool_check(const struct jis_pool_create *r)
{
	u64 words = (u64)r->nr_words * sizeof(struct jis_thread_words);

	if (!r->bytes || r->bytes % PAGE_SIZE || r->words_offset % 64)
		return -EINVAL;
	if (r->bytes > (u64)jis_max_pages() << PAGE_SHIFT)
		return -ENOMEM;
	if (!r->nr_words)
		return r->words_offset ? -EINVAL : 0;
	if (r->nr_words > WORDS_MAX || !is_power_of_2(r->nr_words) ||
	    r->words_offset < sizeof(struct jis_pool_header) || r->words_offset > r->bytes ||
	    words > r->bytes - r->words_offset)
		return -EINVAL;
	return 0;
}

static int pool_make(struct jis_pool *pool, const struct jis_pool_create *r, struct file *file)
{
	u64 first = r->words_offset >> PAGE_SHIFT;
	u64 behind = r->words_offset + (u64)r->nr_words * sizeof(struct jis_thread_words);
	int err;

	pool->nr_pages = 1 + (r->nr_words ? DIV_ROUND_UP(behind, PAGE_SIZE) - first : 0);
	pool->pages = kvcalloc(pool->nr_pages, sizeof(*pool->pages), JIS_GFP);
	if (!pool->pages)
		return -ENOMEM;
	err = pool_fill(pool, file, r->bytes >> PAGE_SHIFT, first);
	if (err)
		return err;
	pool->memory = vmap(pool->pages, pool->nr_pages, VM_MAP, PAGE_KERNEL);
	if (!pool->memory)
		return -ENOMEM;
	pool->nr_words = r->nr_words;
	pool->words = pool->memory + PAGE_SIZE + offset_in_page(r->words_offset);
	return 0;
}

/* The table --------------------------------------------------------------------------------- */

static struct jis_pools *pools_table(struct jis_session *s)
{
	if (!s->pools)
		/* Pairs with the acquires above: who sees the table sees it empty. */
		smp_store_release(&s->pools, kzalloc(sizeof(*s->pools), JIS_GFP));
	return s->pools;
}

static bool pool_useless(const struct jis_pool *pool)
{
	bool gone;

	rcu_read_lock();
	gone = READ_ONCE(pool->off) || !pid_task(pool->pid, PIDTYPE_TGID);
	rcu_read_unlock();
	return gone;
}

/* Lets the pools go whose processes have ended, or run another program: all of them with @all. */
static void pools_reap(struct jis_pools *pools, bool all)
{
	struct jis_pool *pool, *more;
	struct hlist_node *next;
	LIST_HEAD(gone);
	u32 i;

	for (i = 0; i < ARRAY_SIZE(pools->head); i++) {
		hlist_for_each_entry_safe(pool, next, &pools->head[i], node) {
			if (!all && !pool_useless(pool))
				continue;
			hlist_del_rcu(&pool->node);
			list_add(&pool->gone, &gone);
			pools->count--;
		}
	}
	if (list_empty(&gone))
		return;
	synchronize_rcu();
	list_for_each_entry_safe(pool, more, &gone, gone)
		pool_end(pool);
}

static bool pools_full(struct jis_pools *pools, u32 tgid)
{
	struct jis_pool *pool;
	u32 n = 0;

	hlist_for_each_entry(pool, pool_bucket(pools, tgid), node)
		n += pool->tgid == tgid;
	return pools->count >= POOLS_MAX || n >= POOLS_PER_PROCESS;
}

static struct jis_pool *pool_new(struct jis_session *s, const struct jis_pool_create *r,
				 struct pid *pid, u32 tgid)
{
	struct jis_pool *pool = kzalloc(sizeof(*pool), JIS_GFP);

	if (!pool)
		return NULL;
	pool->tgid = tgid;
#ifdef JIS_PLANT_BUG
	/* For tests/lab/planted.sh only: a reference that is put and never taken. */
	pool->pid = pid;
#else
	pool->pid = get_pid(pid);
#endif
	pool->charged = r->bytes >> PAGE_SHIFT;
	if (jis_charge(s, pool->charged)) {
		pool->charged = 0;
		pool_free(pool);
		return NULL;
	}
	return pool;
}

static int pool_create(struct jis_session *s, const struct jis_pool_create *r, struct pid *pid,
		       u32 tgid, struct file **out)
{
	struct jis_pools *pools = pools_table(s);
	struct jis_pool *pool;
	struct file *file;
	int err;

	if (!pools)
		return -ENOMEM;
	pools_reap(pools, false);
	if (pools_full(pools, tgid))
		return -ENOSPC;
	pool = pool_new(s, r, pid, tgid);
	if (!pool)
		return -ENOMEM;
	file = pool_file(r->bytes);
	err = PTR_ERR_OR_ZERO(file);
	if (err)
		goto err_free;
	err = pool_make(pool, r, file);
	if (err)
		goto err_put;
	hlist_add_head_rcu(&pool->node, pool_bucket(pools, tgid));
	pools->count++;
	*out = file;
	return 0;

err_put:
	fput(file);
err_free:
	pool_free(pool);
	return err;
}

int jis_pool_create(struct jis_session *s, const struct jis_pool_create *r, struct file **out)
{
	struct pid *pid;
	u32 tgid;
	int err = pool_check(r);

	if (!jis_pool_features())
		return -EOPNOTSUPP;
	if (!err)
		err = jis_target_find(s, r->pid, &pid, &tgid);
	if (err)
		return err;
	err = pool_create(s, r, pid, tgid, out);
	put_pid(pid);
	return err;
}

u32 jis_pool_features(void)
{
#ifdef HAVE_SHMEM_SEALS
	return JIS_FEATURE_WORDS;
#else
	return 0; /* what could be resized under its writers is no pool */
#endif
}

void jis_pools_destroy(struct jis_session *s)
{
	if (!s->pools)
		return;
	pools_reap(s->pools, true);
	kfree(s->pools);
	s->pools = NULL;
}
