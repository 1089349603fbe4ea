/* SPDX-License-Identifier: MIT */
/*
 * Writes records into a pool of user packets (abi.h): the fast path is inline, everything else is
 * kept out of line. Shared by the agent and by marked C programs, so it is headers only.
 *
 * It never blocks, locks, allocates or enters the kernel (the dictionary apart, see
 * jis_dict_write), and never faults on a pool that is full, paused or left by its recorder. One
 * thread at a time writes to a slot; a signal handler that runs in the middle of a write drops its
 * record and counts it. The pool's numbers are checked once, in jis_writer_init(), and copied; of
 * what can change later only the slot's own bookkeeping is read back.
 */
#ifndef JIS_WRITER_H
#define JIS_WRITER_H

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <jis/abi.h>

#define JIS_WRITER_LIKELY(x) __builtin_expect(!!(x), 1)
#define JIS_WRITER_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Out of line on purpose, so that the fast path stays small where it is inlined. */
#define JIS_WRITER_SLOW static __attribute__((noinline, unused))
#define JIS_WRITER_FAST static inline __attribute__((always_inline, unused))

#define JIS_COMPACT_SIZE 4u
#define JIS_EXTENDED_SIZE 16u
/* Largest payload: the fixed fields of any event, and a string. */
#define JIS_FIXED_MAX 64u
#define JIS_PAYLOAD_MAX (JIS_FIXED_MAX + 4u + JIS_STRING_MAX)
#define JIS_WRITER_PACKET_MIN 4096u
#define JIS_WRITER_PACKET_MAX (64u << 20)
/* Packets looked at for one record while the pool is known to be full. */
#define JIS_WRITER_SCAN 64u
/* A packet that is still open when so many after it have been taken is passed by. */
#define JIS_WRITER_NEAR 64u
/* A thread that has just lost a record looks for a packet again after so long (cycles or ns), or at
 * each so many'th record: looking at each costs many times what a record does. */
#define JIS_WRITER_RETRY_AFTER 32768u
#define JIS_WRITER_RETRY_EACH 64u
/* How long the dictionary waits for the recorder to free a packet. */
#define JIS_DICT_WAIT_MS 2000

struct jis_writer {
	const __u64 *mask; /* the pool's event_mask; &zero when switched off */
	__u64 zero;
	unsigned char *pool;
	__u64 base;
	__u32 clock;
	__u32 pid;
	struct jis_slot *slots;
	__u32 *states;
	struct jis_thread_words *words; /* NULL: the pool has no room for them */
	__u32 nr_words;
	__u64 packets_offset;
	__u64 total_size;
	__u32 nr_slots;
	__u32 nr_packets;
	__u32 packet_size;
	__u32 dict_packets;
	__u8 uuid[16];
	/* Where to look first; relaxed, any value will do. */
	__u32 packet_hint;
	__u32 packet_low; /* from here on packets are used again as soon as they are free */
	__u32 slot_hint;
	/* Slots given back so far, and that number when a search last found none (plus one). */
	__u32 releases;
	__u32 full_at;
	__u32 dict_full; /* the dictionary has waited in vain: do not wait again until it could
			    write */
};

/* A writer that is off before jis_writer_init(), for static storage. */
#define JIS_WRITER_INITIALIZER(name)                                                               \
	{                                                                                          \
		.mask = &(name).zero                                                               \
	}

/* Adds one to a counter in shared memory by one instruction, so that a signal cannot split it. */
JIS_WRITER_FAST void jis_count(__u64 *counter)
{
#if defined(__x86_64__)
	__asm__ volatile("incq %0" : "+m"(*counter) : : "cc");
#else
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
#endif
}

JIS_WRITER_SLOW __u64 jis_ticks_raw(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (__u64)ts.tv_sec * 1000000000u + (__u64)ts.tv_nsec;
}

/* The processor's counter, read in the order of the program (isb: aarch64 may else do it in
 * another); jis_writer_init() refuses its clock where there is none. */
JIS_WRITER_FAST __u64 jis_ticks_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	__u64 ticks;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(ticks) : : "memory");
	return ticks;
#else
	return 0;
#endif
}

/** jis_ticks - reads the session's clock: ticks since the session's base. */
JIS_WRITER_FAST __u64 jis_ticks(const struct jis_writer *w)
{
	__u64 ticks = JIS_WRITER_LIKELY(w->clock == JIS_CLOCK_TSC) ? jis_ticks_counter()
								   : jis_ticks_raw();

	return ticks - w->base;
}

/* The last record's time is kept base and all: who writes by the counter needs not take it off, as
 * the base has no bits where a record's header has its time. */
JIS_WRITER_FAST void jis_last_set(const struct jis_writer *w, struct jis_slot *s, __u64 now)
{
	s->last = now + w->base;
}

/* @now, or the last record's time if that is later: that of jis_write(), where words came after. */
JIS_WRITER_SLOW __u64 jis_not_before(const struct jis_writer *w, const struct jis_slot *s,
				     __u64 now)
{
	__u64 last = s->last - w->base;

	return (__s64)(now - last) < 0 ? last : now;
}

/** jis_writer_on - whether records with event id @id (1..63) are wanted now. */
JIS_WRITER_FAST int jis_writer_on(const struct jis_writer *w, unsigned int id)
{
	const __u64 *mask = __atomic_load_n(&w->mask, __ATOMIC_RELAXED);

	return (int)(__atomic_load_n(mask, __ATOMIC_RELAXED) >> id & 1);
}

/**
 * jis_writer_on_fast - jis_writer_on() of a constant @id, by a test of memory in place, as
 * compilers make none of what is loaded atomically. What is read after it is not older than what it
 * read of @w.
 */
JIS_WRITER_FAST int jis_writer_on_fast(const struct jis_writer *w, unsigned int id)
{
	const __u64 *mask = __atomic_load_n(&w->mask, __ATOMIC_ACQUIRE);

	return (*mask & 1ull << id) != 0;
}

/** jis_writer_off - makes @w a writer that does nothing. Any thread, any time; also for a new one.
 */
JIS_WRITER_SLOW void jis_writer_off(struct jis_writer *w)
{
	__atomic_store_n(&w->mask, &w->zero, __ATOMIC_RELEASE);
}

/* Whether @n things of @size bytes at @offset lie in a pool of @total bytes. */
JIS_WRITER_SLOW int jis_layout_fits(__u64 offset, __u64 n, __u64 size, __u64 total)
{
	return offset >= sizeof(struct jis_pool_header) && offset <= total &&
	       n <= (total - offset) / size;
}

JIS_WRITER_SLOW int jis_layout_check(const struct jis_pool_header *h, __u64 mapped)
{
	if (h->magic != JIS_POOL_MAGIC || h->abi_version != JIS_ABI_VERSION ||
	    h->schema_version != JIS_SCHEMA_VERSION)
		return -EPROTO;
	if (h->total_size > mapped || h->slot_size != sizeof(struct jis_slot) ||
	    h->slots_offset % 64 || h->states_offset % 64 || h->packets_offset % 64)
		return -EPROTO;
	if (h->packet_size < JIS_WRITER_PACKET_MIN || h->packet_size > JIS_WRITER_PACKET_MAX ||
	    h->packet_size % 64 || h->base & JIS_TIME_MASK)
		return -EPROTO;
	if (h->nr_slots < 2 || !h->dict_packets || h->dict_packets >= h->nr_packets ||
	    h->nr_slots > UINT32_MAX >> 2)
		return -EPROTO;
	if (!jis_layout_fits(h->slots_offset, h->nr_slots, h->slot_size, h->total_size) ||
	    !jis_layout_fits(h->states_offset, h->nr_packets, sizeof(__u32), h->total_size) ||
	    !jis_layout_fits(h->packets_offset, h->nr_packets, h->packet_size, h->total_size))
		return -EPROTO;
	if (h->nr_words & (h->nr_words - 1) ||
	    (h->nr_words && (h->words_offset % 64 ||
			     !jis_layout_fits(h->words_offset, h->nr_words,
					      sizeof(struct jis_thread_words), h->total_size))))
		return -EPROTO;
	if (h->clock != JIS_CLOCK_TSC && h->clock != JIS_CLOCK_RAW)
		return -EPROTO;
#if !defined(__x86_64__) && !defined(__aarch64__)
	if (h->clock == JIS_CLOCK_TSC)
		return -EPROTO;
#endif
	return 0;
}

/**
 * jis_writer_init - makes @w write to the pool mapped at @pool, @mapped bytes of it.
 * @pid: getpid() of this process; goes into the packet headers.
 * Returns 0, or -EPROTO: not a pool, or not one of this version; @w is then a writer that is off.
 * The caller must know that the mapping cannot shrink (F_SEAL_SHRINK).
 */
JIS_WRITER_SLOW int jis_writer_init(struct jis_writer *w, void *pool, size_t mapped, __u32 pid)
{
	struct jis_pool_header h;

	memset(w, 0, sizeof(*w));
	jis_writer_off(w);
	if (mapped < sizeof(h))
		return -EPROTO;
	memcpy(&h, pool, sizeof(h));
	if (jis_layout_check(&h, mapped) < 0)
		return -EPROTO;
	w->pool = (unsigned char *)pool;
	w->base = h.base;
	w->clock = h.clock;
	w->pid = pid;
	w->slots = (struct jis_slot *)(void *)(w->pool + h.slots_offset);
	w->states = (__u32 *)(void *)(w->pool + h.states_offset);
	if (h.nr_words)
		w->words = (struct jis_thread_words *)(void *)(w->pool + h.words_offset);
	w->nr_words = h.nr_words;
	w->packets_offset = h.packets_offset;
	w->total_size = h.total_size;
	w->nr_slots = h.nr_slots;
	w->nr_packets = h.nr_packets;
	w->packet_size = h.packet_size;
	w->dict_packets = h.dict_packets;
	memcpy(w->uuid, h.uuid, sizeof(w->uuid));
	w->packet_hint = w->packet_low = h.dict_packets;
	w->slot_hint = 1;
	__atomic_store_n(&w->mask, &((struct jis_pool_header *)pool)->event_mask, __ATOMIC_RELEASE);
	return 0;
}

JIS_WRITER_FAST __u32 jis_slot_number(const struct jis_writer *w, const struct jis_slot *s)
{
	return (__u32)(s - w->slots);
}

/* One more record of type @id is lost, at @now. May run in a signal handler inside a write. */
JIS_WRITER_SLOW void jis_lose(struct jis_slot *s, unsigned int id, __u64 now)
{
	jis_count(&s->lost[id]);
	jis_count(&s->lost_total);
	if (!s->lost_first)
		s->lost_first = now;
	s->lost_last = now;
}

/* Packets ------------------------------------------------------------------------------------ */

/** jis_words_close - no more by jis_write_word() into @s, until jis_words_open(). */
JIS_WRITER_FAST void jis_words_close(struct jis_slot *s)
{
	__atomic_store_n(&s->words_until, 0, __ATOMIC_RELAXED);
}

/**
 * jis_words_open - lets jis_write_word() write into @s for as long as a header's time can tell
 * after the last record of jis_write(), and all of @ids (bits as in event_mask) are wanted: who
 * masks one out closes all slots after that, or lets their time go by. For the slot's owner.
 */
JIS_WRITER_SLOW void jis_words_open(struct jis_writer *w, struct jis_slot *s, __u64 ids)
{
	const __u64 *mask;

	s->words_were = 1;
	__atomic_store_n(&s->words_until, s->last + JIS_TIME_MASK, __ATOMIC_RELAXED);
	/* Either is seen here what was masked out, or it is seen there that it is open. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	mask = __atomic_load_n(&w->mask, __ATOMIC_ACQUIRE);
	if ((__atomic_load_n(mask, __ATOMIC_RELAXED) & ids) != ids)
		jis_words_close(s);
}

/** jis_words_close_all - after jis_writer_off(), with the pool still there: for all slots. */
JIS_WRITER_SLOW void jis_words_close_all(struct jis_writer *w)
{
	__u32 i;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (i = 0; i < w->nr_slots; i++)
		jis_words_close(&w->slots[i]);
}

/* OPEN -> FULL: the recorder may have it. @now: nobody knows when words were written last. */
JIS_WRITER_SLOW void jis_packet_close(struct jis_writer *w, struct jis_slot *s, __u64 now)
{
	__u64 start = w->packets_offset + (__u64)s->packet * w->packet_size;
	struct jis_packet_header *h = (struct jis_packet_header *)(void *)(w->pool + start);

	if (s->words_were)
		jis_last_set(w, s, jis_not_before(w, s, now));
	h->timestamp_end = s->last - w->base;
	h->content_size = (s->position - start) * 8;
	h->events_discarded = s->lost_total;
	s->position = 0;
	s->end = 0;
	__atomic_store_n(&w->states[s->packet], JIS_PACKET_FULL | jis_slot_number(w, s) << 2,
			 __ATOMIC_RELEASE);
}

/*
 * Where to look for a packet for events: those read last, which are in the CPUs' caches still,
 * rather than the whole pool in turn. What a thread holds for long is passed by.
 */
JIS_WRITER_SLOW __u32 jis_packet_nearest(struct jis_writer *w)
{
	__u32 hint = __atomic_load_n(&w->packet_hint, __ATOMIC_RELAXED);
	__u32 low = __atomic_load_n(&w->packet_low, __ATOMIC_RELAXED);
	__u32 state = JIS_PACKET_STATE(__atomic_load_n(&w->states[low], __ATOMIC_RELAXED));

	if (state == JIS_PACKET_FREE)
		return low;
	if (state == JIS_PACKET_OPEN && (hint < low || hint - low > JIS_WRITER_NEAR)) {
		low = low + 1 < w->nr_packets ? low + 1 : w->dict_packets;
		__atomic_store_n(&w->packet_low, low, __ATOMIC_RELAXED);
	}
	return hint;
}

/* Takes a free packet from [first, last), looking at up to @tries; -1: none. */
JIS_WRITER_SLOW int jis_packet_find(struct jis_writer *w, __u32 slot, __u32 first, __u32 last,
				    __u32 tries)
{
	__u32 i = slot == JIS_POOL_DICT_SLOT ? first : jis_packet_nearest(w);
	__u32 state, open = JIS_PACKET_OPEN | slot << 2;

	for (; tries; tries--, i++) {
		if (i < first || i >= last)
			i = first;
		state = __atomic_load_n(&w->states[i], __ATOMIC_RELAXED);
		if (JIS_PACKET_STATE(state) != JIS_PACKET_FREE)
			continue;
		if (!__atomic_compare_exchange_n(&w->states[i], &state, open, 0, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		if (slot != JIS_POOL_DICT_SLOT)
			__atomic_store_n(&w->packet_hint, i + 1, __ATOMIC_RELAXED);
		return (int)i;
	}
	if (slot != JIS_POOL_DICT_SLOT)
		__atomic_store_n(&w->packet_hint, i, __ATOMIC_RELAXED);
	return -1;
}

JIS_WRITER_SLOW void jis_packet_begin(struct jis_writer *w, struct jis_slot *s, __u32 index,
				      __u64 now)
{
	__u64 start = w->packets_offset + (__u64)index * w->packet_size;
	struct jis_packet_header *h = (struct jis_packet_header *)(void *)(w->pool + start);
	__u32 slot = jis_slot_number(w, s);

	h->magic = JIS_PACKET_MAGIC;
	memcpy(h->uuid, w->uuid, sizeof(h->uuid));
	h->stream_class = slot == JIS_POOL_DICT_SLOT ? JIS_STREAM_DICT : JIS_STREAM_USER;
	h->stream_instance = slot;
	h->timestamp_begin = now;
	h->packet_size = (__u64)w->packet_size * 8;
	h->packet_seq = s->sequence++;
	h->owner = s->owner;
	h->pid = w->pid;
	s->bound = s->owner;
	s->packet = index;
	jis_last_set(w, s, now);
	s->position = start + JIS_PACKET_HEADER_SIZE;
	s->end = start + w->packet_size;
}

/* Appends a record for which there is room in the open packet; @now is not before the last one. */
JIS_WRITER_SLOW void jis_record_put(struct jis_writer *w, struct jis_slot *s, unsigned int id,
				    const void *payload, size_t size, __u64 now)
{
	unsigned char *p = w->pool + s->position;
	__u32 *header = (__u32 *)(void *)p;
	__u32 word = (__u32)id | (__u32)now << 5, wide = id;

	if (id > JIS_COMPACT_ID_MAX || now + w->base - s->last >= 1u << JIS_TIME_BITS) {
		word = JIS_ID_EXTENDED;
		memcpy(p + 4, &wide, sizeof(wide));
		memcpy(p + 8, &now, sizeof(now));
		p += JIS_EXTENDED_SIZE - JIS_COMPACT_SIZE;
	}
	p += JIS_COMPACT_SIZE;
	memcpy(p, payload, size);
	__atomic_store_n(header, word, __ATOMIC_RELEASE);
	jis_last_set(w, s, now);
	s->position = (__u64)(p + size - w->pool);
	jis_count(&s->produced[id]);
}

/* Says what was lost, type by type, as long as @keep bytes stay free behind it. */
JIS_WRITER_SLOW void jis_lost_put(struct jis_writer *w, struct jis_slot *s, __u64 now, size_t keep)
{
	struct jis_ev_lost_records record;
	__u64 lost;
	unsigned int id;

	if (!s->lost_first)
		return;
	for (id = 1; id < JIS_MAX_EVENT_ID; id++) {
		lost = __atomic_load_n(&s->lost[id], __ATOMIC_RELAXED);
		if (lost == s->lost_told[id])
			continue;
		if (s->end - s->position < JIS_EXTENDED_SIZE + sizeof(record) + keep)
			return;
		record.type = id;
		record.count = lost - s->lost_told[id];
		record.first = s->lost_first;
		record.last = s->lost_last;
		jis_record_put(w, s, JIS_EV_lost_records, &record, sizeof(record), now);
		s->lost_told[id] = lost;
	}
	s->lost_first = 0;
}

/* Makes room for @size bytes in a new packet; 0 or -ENOBUFS. */
JIS_WRITER_SLOW int jis_packet_next(struct jis_writer *w, struct jis_slot *s, size_t size,
				    __u64 now)
{
	__u32 slot = jis_slot_number(w, s), first = w->dict_packets, last = w->nr_packets;
	int known_full = !s->position && s->lost_first, index;

	if (s->position)
		jis_packet_close(w, s, now);
	if (slot == JIS_POOL_DICT_SLOT) {
		first = 0;
		last = w->dict_packets;
	}
	index = jis_packet_find(w, slot, first, last,
				known_full && last - first > JIS_WRITER_SCAN ? JIS_WRITER_SCAN
									     : last - first);
	if (index < 0)
		return -ENOBUFS;
	jis_packet_begin(w, s, (__u32)index, now);
	jis_lost_put(w, s, now, size);
	return 0;
}

/* Records ------------------------------------------------------------------------------------ */

/* Has the slot no packet, and was none to be had only just now? */
JIS_WRITER_SLOW int jis_packet_hopeless(const struct jis_slot *s, __u64 now)
{
	return !s->position && s->lost_first && now - s->lost_last < JIS_WRITER_RETRY_AFTER &&
	       s->lost_total % JIS_WRITER_RETRY_EACH;
}

/* The part of jis_write() that is not for every record; s->busy is held. */
JIS_WRITER_SLOW void jis_write_slow(struct jis_writer *w, struct jis_slot *s, unsigned int id,
				    const void *payload, size_t size, __u64 now)
{
	size_t need = JIS_EXTENDED_SIZE + size;

	now = jis_not_before(w, s, now);
	if (s->end - s->position < need &&
	    (jis_packet_hopeless(s, now) || jis_packet_next(w, s, need, now) < 0)) {
		jis_count(&s->produced[id]);
		jis_lose(s, id, now);
		return;
	}
	jis_record_put(w, s, id, payload, size, now);
}

JIS_WRITER_SLOW void jis_write_nested(struct jis_writer *w, struct jis_slot *s, unsigned int id)
{
	jis_count(&s->produced[id]);
	jis_lose(s, id, jis_ticks(w));
}

/**
 * jis_write - writes record @id now into @s, a slot of the calling thread.
 * @payload: the event's struct (struct jis_ev_<name>); @size: its size, a constant multiple of 4,
 *at most JIS_FIXED_MAX. Nothing happens while the event is masked out. Where there is no room the
 *record is counted as lost. Async-signal-safe.
 */
JIS_WRITER_FAST void jis_write(struct jis_writer *w, struct jis_slot *s, unsigned int id,
			       const void *payload, size_t size)
{
	__u64 now, position;
	unsigned char *p;

	if (!jis_writer_on(w, id))
		return;
	if (JIS_WRITER_UNLIKELY(s->busy)) {
		jis_write_nested(w, s, id);
		return;
	}
	__atomic_store_n(&s->busy, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	now = jis_ticks(w);
	position = s->position;
	if (JIS_WRITER_LIKELY(id <= JIS_COMPACT_ID_MAX &&
			      s->end - position >= JIS_COMPACT_SIZE + size &&
			      now + w->base - s->last < 1u << JIS_TIME_BITS)) {
		p = w->pool + position;
		memcpy(p + JIS_COMPACT_SIZE, payload, size);
		__atomic_store_n((__u32 *)(void *)p, (__u32)id | (__u32)now << 5, __ATOMIC_RELEASE);
		jis_last_set(w, s, now);
		s->position = position + JIS_COMPACT_SIZE + size;
		jis_count(&s->produced[id]);
	} else {
		jis_write_slow(w, s, id, payload, size, now);
	}
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	__atomic_store_n(&s->busy, 0, __ATOMIC_RELAXED);
}

/* So far ahead the pool's memory is fetched: another CPU has read what was there, or none has it.
 */
#define JIS_PREFETCH 256

/**
 * jis_write_word - jis_write() of a payload of 4 bytes, where that takes no more than to put it
 * into the packet the slot has open; calls nothing, so that who has little else to do needs no
 * stack frame. Only for a writer whose clock is JIS_CLOCK_TSC, @id up to JIS_COMPACT_ID_MAX, and
 * one of those the slot is open for (jis_words_open()). The caller sees to it that no other writer
 * of @s, a signal handler, comes in between, and @w stays: @s->busy is neither read nor set. A
 * counter that goes back is not noticed: clock_choose() takes none that the kernel, or a test,
 * found to do so. Nearly all of it hides behind the clock's latency, but on a core that has less to
 * give than usual each instruction shows (docs/benchmarks.md, "A traced Java call"). Returns 1, or
 * 0: nothing is written nor counted; jis_write() does it.
 */
JIS_WRITER_FAST int jis_write_word(struct jis_writer *w, struct jis_slot *s, unsigned int id,
				   __u32 word)
{
	__u64 now = jis_ticks_counter(), position = s->position; /* @now: base and all */
	__u64 next = position + JIS_COMPACT_SIZE + sizeof(word);
	unsigned char *p;

	if (JIS_WRITER_UNLIKELY(next > s->end) || JIS_WRITER_UNLIKELY(now > s->words_until))
		return 0;
	p = (unsigned char *)((uintptr_t)w->pool + position);
	__builtin_prefetch(p + JIS_PREFETCH, 1);
	memcpy(p + JIS_COMPACT_SIZE, &word, sizeof(word));
	__atomic_store_n((__u32 *)(void *)p, (__u32)id | (__u32)now << 5, __ATOMIC_RELEASE);
	s->position = next;
	jis_count(&s->produced[id]);
	return 1;
}

/* Slots -------------------------------------------------------------------------------------- */

/* Names the new owner in the packet the last one left part-filled. */
JIS_WRITER_SLOW void jis_slot_bind(struct jis_writer *w, struct jis_slot *s, __u32 tid)
{
	struct jis_ev_thread_bind record = {tid};
	__u64 now = jis_ticks(w);
	size_t need = JIS_EXTENDED_SIZE + sizeof(record);

	now = jis_not_before(w, s, now);
	/* Without room there is nothing to do: a packet's header names its owner. */
	if (s->end - s->position < need)
		jis_packet_close(w, s, now);
	else
		jis_record_put(w, s, JIS_EV_thread_bind, &record, sizeof(record), now);
	s->bound = tid;
}

/**
 * jis_slot_take - takes a slot for thread @tid (as gettid() tells it), which must have none.
 * Returns NULL when there is none free (see jis_slot_missing). Not for signal handlers.
 */
JIS_WRITER_SLOW struct jis_slot *jis_slot_take(struct jis_writer *w, __u32 tid)
{
	__u32 hint = __atomic_load_n(&w->slot_hint, __ATOMIC_RELAXED), i = hint, n, nobody;
	__u32 releases = __atomic_load_n(&w->releases, __ATOMIC_ACQUIRE);
	struct jis_slot *s;

	if (__atomic_load_n(&w->full_at, __ATOMIC_RELAXED) == releases + 1)
		return NULL;
	for (n = 1; n < w->nr_slots; n++, i++) {
		if (i < 1 || i >= w->nr_slots)
			i = 1;
		s = &w->slots[i];
		nobody = 0;
		if (__atomic_load_n(&s->owner, __ATOMIC_RELAXED) ||
		    !__atomic_compare_exchange_n(&s->owner, &nobody, tid, 0, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		/* Unless one before it has been given back meanwhile. */
		__atomic_compare_exchange_n(&w->slot_hint, &hint, i + 1, 0, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED);
		if (s->position && s->bound != tid)
			jis_slot_bind(w, s, tid);
		return s;
	}
	__atomic_store_n(&w->full_at, releases + 1, __ATOMIC_RELAXED);
	return NULL;
}

/** jis_slot_give - gives @s back; its part-filled packet stays with it for the next owner. */
JIS_WRITER_SLOW void jis_slot_give(struct jis_writer *w, struct jis_slot *s)
{
	__u32 number = jis_slot_number(w, s),
	      hint = __atomic_load_n(&w->slot_hint, __ATOMIC_RELAXED);

	__atomic_store_n(&s->owner, 0, __ATOMIC_RELEASE);
	__atomic_fetch_add(&w->releases, 1, __ATOMIC_RELEASE);
	/* The first free one is taken first: each slot that was ever used keeps a packet. */
	while (number < hint && !__atomic_compare_exchange_n(&w->slot_hint, &hint, number, 0,
							     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

/** jis_slot_missing - counts a record of type @id for which jis_slot_take() found no slot. */
JIS_WRITER_SLOW void jis_slot_missing(struct jis_writer *w, unsigned int id)
{
	struct jis_pool_header *h = (struct jis_pool_header *)(void *)w->pool;

	if (jis_writer_on(w, id))
		__atomic_fetch_add(&h->no_slot[id], 1, __ATOMIC_RELAXED);
}

/* Words --------------------------------------------------------------------------------------- */

/* The entry whose tid is @from, which becomes @to; NULL: there is none where @tid's may be. */
JIS_WRITER_SLOW struct jis_thread_words *jis_words_claim(struct jis_writer *w, __u32 tid,
							 __u32 from, __u32 to)
{
	__u32 i, n = w->nr_words < JIS_WORDS_WINDOW ? w->nr_words : JIS_WORDS_WINDOW, expected;
	struct jis_thread_words *entry;

	for (i = 0; i < n; i++) {
		entry = &w->words[(JIS_WORDS_HASH(tid) + i) & (w->nr_words - 1)];
		expected = from;
		if (__atomic_compare_exchange_n(&entry->tid, &expected, to, 0, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return entry;
	}
	return NULL;
}

/**
 * jis_words_set - says where thread @tid of this process (as gettid() tells it there) keeps two
 * 32-bit words that are read whenever it leaves a CPU; in place of what was said before.
 * @vm_state, @os_state: NULL is none. What they point to must stay until jis_words_clear(); the
 * kernel reads it as the thread itself could, so a wrong address does no harm.
 * One caller at a time for a thread. Returns 0; -ENOENT (the writer is off, or the pool has no such
 * table); -EINVAL; -ENOSPC (no room near by: the thread goes without).
 */
JIS_WRITER_SLOW int jis_words_set(struct jis_writer *w, __u32 tid, const __u32 *vm_state,
				  const __u32 *os_state)
{
	struct jis_thread_words *entry;

	if (__atomic_load_n(&w->mask, __ATOMIC_ACQUIRE) == &w->zero || !w->words)
		return -ENOENT;
	if (!tid || tid == JIS_WORDS_BUSY)
		return -EINVAL;
	entry = jis_words_claim(w, tid, tid, JIS_WORDS_BUSY);
	if (!entry)
		entry = jis_words_claim(w, tid, 0, JIS_WORDS_BUSY);
	if (!entry)
		return -ENOSPC;
	__atomic_store_n(&entry->vm_state, (__u64)(uintptr_t)vm_state, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->os_state, (__u64)(uintptr_t)os_state, __ATOMIC_RELAXED);
	__atomic_store_n(&entry->tid, tid, __ATOMIC_RELEASE);
	return 0;
}

/** jis_words_clear - takes that back. Returns 0, -ENOENT (off, or nothing had been said). */
JIS_WRITER_SLOW int jis_words_clear(struct jis_writer *w, __u32 tid)
{
	if (__atomic_load_n(&w->mask, __ATOMIC_ACQUIRE) == &w->zero || !w->words || !tid)
		return -ENOENT;
	return jis_words_claim(w, tid, tid, 0) ? 0 : -ENOENT;
}

/* Strings and the dictionary ----------------------------------------------------------------- */

/* Length to which @length bytes of UTF-8 can be cut so as to be at most @most, between characters.
 */
JIS_WRITER_SLOW size_t jis_text_boundary(const char *text, size_t length, size_t most)
{
	size_t n = length < most ? length : most;

	if (n == length)
		return n;
	while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/**
 * jis_text_field - writes a string field: u32 length, text, NULs up to a multiple of four.
 * @out: room for 4 + JIS_STRING_MAX bytes. @text: @length bytes of UTF-8, NUL not needed; too long
 * a text is cut between two characters and ends in "...". Returns the field's size in bytes.
 */
JIS_WRITER_SLOW size_t jis_text_field(unsigned char *out, const char *text, size_t length)
{
	static const char cut[] = "...";
	size_t n = length;
	__u32 padded;

	if (length > JIS_STRING_MAX - 1)
		n = jis_text_boundary(text, length, JIS_STRING_MAX - sizeof(cut));
	memcpy(out + 4, text, n);
	if (n < length) {
		memcpy(out + 4 + n, cut, sizeof(cut) - 1);
		n += sizeof(cut) - 1;
	}
	padded = ((__u32)n + 4) & ~3u;
	memset(out + 4 + n, 0, padded - n);
	memcpy(out, &padded, sizeof(padded));
	return 4 + padded;
}

/* Waits until the recorder has freed a packet of the dictionary; 0 or -ENOBUFS. */
JIS_WRITER_SLOW int jis_dict_room(struct jis_writer *w, struct jis_slot *s, size_t need, __u64 now)
{
	const struct timespec ms = {0, 1000000};
	int i;

	if (s->end - s->position >= need)
		return 0;
	for (i = 0; jis_packet_next(w, s, need, now) < 0; i++) {
		if (w->dict_full || i >= JIS_DICT_WAIT_MS ||
		    __atomic_load_n(&w->mask, __ATOMIC_RELAXED) == &w->zero) {
			w->dict_full = 1;
			return -ENOBUFS;
		}
		nanosleep(&ms, NULL);
	}
	w->dict_full = 0;
	return 0;
}

/**
 * jis_dict_ready - has the dictionary room for a record with @size bytes of fields and text? The
 * caller holds the lock for it. For who would rather wait without the lock than in
 * jis_dict_write(). Returns 0, also when that would not wait or writes nothing, or -EAGAIN.
 */
JIS_WRITER_SLOW int jis_dict_ready(struct jis_writer *w, size_t size)
{
	struct jis_slot *s = w->slots + JIS_POOL_DICT_SLOT;
	size_t need = JIS_EXTENDED_SIZE + 8 + (size < JIS_PAYLOAD_MAX ? size : JIS_PAYLOAD_MAX);
	__u64 now;

	if (__atomic_load_n(&w->mask, __ATOMIC_ACQUIRE) == &w->zero || w->dict_full ||
	    s->end - s->position >= need)
		return 0;
	s->owner = w->pid;
	now = jis_ticks(w);
	now = jis_not_before(w, s, now);
	return jis_packet_next(w, s, need, now) < 0 ? -EAGAIN : 0;
}

/**
 * jis_dict_write - writes record @id into the dictionary stream; the caller holds the one lock a
 * process has for it. @fixed: the fixed fields, @size bytes (0 to JIS_FIXED_MAX); @text: the string
 * field's @length bytes of UTF-8, NULL where the event has none.
 * Not subject to the event mask. May sleep up to two seconds for a packet.
 * Returns 0; -ENOBUFS (no packet came free, counted as lost); -ENOENT (the writer is off).
 */
JIS_WRITER_SLOW int jis_dict_write(struct jis_writer *w, unsigned int id, const void *fixed,
				   size_t size, const char *text, size_t length)
{
	unsigned char payload[JIS_PAYLOAD_MAX];
	struct jis_slot *s = w->slots + JIS_POOL_DICT_SLOT;
	__u64 now;

	if (__atomic_load_n(&w->mask, __ATOMIC_ACQUIRE) == &w->zero)
		return -ENOENT;
	memcpy(payload, fixed, size);
	if (text)
		size += jis_text_field(payload + size, text, length);
	s->owner = w->pid;
	now = jis_ticks(w);
	now = jis_not_before(w, s, now);
	if (jis_dict_room(w, s, JIS_EXTENDED_SIZE + size, now) < 0) {
		jis_count(&s->produced[id]);
		jis_lose(s, id, now);
		return -ENOBUFS;
	}
	jis_record_put(w, s, id, payload, size, now);
	return 0;
}

#endif /* JIS_WRITER_H */
