// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader's side of a ring: its memory, packets got and given back, the read-only mapping.
 *
 * Process context only. It never touches the writer's part of a ring, save where nothing writes:
 * before its CPU comes online, and in a stopped session, to tell the last losses.
 */
#include <linux/cpumask.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "jis.h"

/*
 * In an interrupt, or with PREEMPT_RT in a thread: the probe that closed the packet could not wake
 * anybody itself.
 */
static void ring_wake(struct irq_work *work)
{
	struct jis_ring *r = container_of(work, struct jis_ring, wake);

	wake_up_interruptible_poll(&r->session->wait, EPOLLIN | EPOLLRDNORM);
}

/* Charged to the recorder; rather none than someone killed for them. */
#define RING_GFP (COMPAT_GFP_MAPPED | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

static int ring_alloc_pages(struct jis_ring *r)
{
	int node = cpu_to_node(r->cpu);
	unsigned long i;

	for (i = 0; i < r->nr_pages; i++) {
		r->pages[i] = alloc_pages_node(node, RING_GFP, 0);
		if (!r->pages[i] || fatal_signal_pending(current))
			return -ENOMEM;
		if (i % 1024 == 0)
			cond_resched();
	}
	return 0;
}

/**
 * jis_ring_init - prepares the ring of @cpu, without memory: what is written is lost, and counted.
 */
void jis_ring_init(struct jis_ring *r, struct jis_session *s, int cpu)
{
	mutex_init(&r->lock);
	init_irq_work(&r->wake, ring_wake);
	r->session = s;
	r->cpu = cpu;
	r->packet_size = s->packet_size;
	r->watermark = s->watermark;
	r->cycling = s->flight;
	r->proto.magic = JIS_PACKET_MAGIC;
	memcpy(r->proto.uuid, s->uuid, sizeof(r->proto.uuid));
	r->proto.stream_class = JIS_STREAM_KERNEL;
	r->proto.stream_instance = cpu;
	r->proto.owner = cpu;
}

static int ring_alloc(struct jis_ring *r)
{
	int err;

	r->pages = kvcalloc(r->nr_pages, sizeof(*r->pages), JIS_GFP);
	if (!r->pages)
		return -ENOMEM;
	err = ring_alloc_pages(r);
	if (err)
		return err;
	r->memory = vmap(r->pages, r->nr_pages, VM_MAP, PAGE_KERNEL);
	return r->memory ? 0 : -ENOMEM;
}

static void ring_free(struct jis_ring *r)
{
	unsigned long i;

	vunmap(r->memory);
	for (i = 0; r->pages && i < r->nr_pages && r->pages[i]; i++)
		__free_page(r->pages[i]);
	kvfree(r->pages);
	jis_uncharge(r->nr_pages);
	r->memory = NULL;
	r->pages = NULL;
	r->nr_pages = 0;
}

/**
 * jis_ring_alloc - gives the ring its memory, as the session's geometry says; its CPU cannot be
 * writing to it. The pages are zero, so that no packet ever shows what was in memory before.
 *
 * Returns 0 or -ENOMEM; the ring is then as it was.
 */
int jis_ring_alloc(struct jis_ring *r)
{
	u32 nr_packets = r->session->packets_per_cpu;
	unsigned long nr_pages = (size_t)nr_packets * r->packet_size >> PAGE_SHIFT;
	int err = jis_charge(r->session, nr_pages);

	if (err)
		return err;
	r->nr_pages = nr_pages;
	err = ring_alloc(r);
	if (err) {
		ring_free(r);
		return err;
	}
	r->nr_packets = nr_packets;
	smp_store_release(&r->ready, 1); /* pairs with jis_ring_exists() */
	return 0;
}

/* Mapped pages live on until they are unmapped: each mapping holds references of its own. */
void jis_ring_fini(struct jis_ring *r)
{
	if (!r->session)
		return;
	irq_work_sync(&r->wake);
	ring_free(r);
}

/* Packets closed, not yet got, and to be had. */
u64 jis_ring_ready(struct jis_ring *r)
{
	if (READ_ONCE(r->cycling))
		return 0;
	/* Pairs with ring_close_packet(). */
	return smp_load_acquire(&r->head) - READ_ONCE(r->next);
}

/* Of a stopped session: is there nothing more to get? */
bool jis_ring_drained(struct jis_ring *r)
{
	return !jis_ring_exists(r) || (!jis_ring_ready(r) && !READ_ONCE(r->owed));
}

/**
 * jis_ring_get - gives back the packet got before, gets the next closed one.
 * @stopped: nothing writes to the ring any more; losses that are still owed are then told, in a
 *           packet of their own, as soon as there is room for it.
 *
 * Returns 0 or -EAGAIN.
 */
int jis_ring_get(struct jis_ring *r, bool stopped, u64 now, struct jis_get_packet *got)
{
	const struct jis_packet_header *h;
	int err = -EAGAIN;

	mutex_lock(&r->lock);
	if (r->cycling) {
		mutex_unlock(&r->lock);
		return err;
	}
	/* Pairs with ring_open_packet(): user space has read the packet when it asks again. */
	smp_store_release(&r->tail, r->next);
	if (stopped && r->owed)
		jis_ring_finish(r, now);
	/* Pairs with ring_close_packet(). */
	if (smp_load_acquire(&r->head) != r->next) {
		got->index = r->next % r->nr_packets;
		h = (void *)(r->memory + got->index * (size_t)r->packet_size);
		got->bytes = h->content_size / 8;
		WRITE_ONCE(r->next, r->next + 1);
		err = 0;
	}
	mutex_unlock(&r->lock);
	return err;
}

/**
 * jis_ring_unget - the caller could not be told of packet @index: it is the next again, unless
 * another has been got since.
 */
void jis_ring_unget(struct jis_ring *r, u32 index)
{
	mutex_lock(&r->lock);
	if (!r->cycling && r->next != r->tail && (r->next - 1) % r->nr_packets == index)
		WRITE_ONCE(r->next, r->next - 1);
	mutex_unlock(&r->lock);
}

/**
 * jis_ring_map - maps the whole ring, for reading and never for anything else.
 *
 * The mapping gets a file of its own (an empty one of the kernel's tmpfs): so it holds pages, but
 * neither the session's file nor the module, and a session ends with its last descriptor.
 */
int jis_ring_map(struct jis_ring *r, struct vm_area_struct *vma)
{
	int err;

	if (vma->vm_end - vma->vm_start != r->nr_pages << PAGE_SHIFT ||
	    !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EPERM;
	compat_vm_flags(vma, VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, VM_MAYWRITE | VM_MAYEXEC);
	err = vm_map_pages_zero(vma, r->pages, r->nr_pages);
	if (!err)
		compat_vma_set_file(vma, jis_map_file);
	return err;
}
