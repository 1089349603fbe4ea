/* SPDX-License-Identifier: MIT */
/*
 * Builds the manifest's tables of processes, threads and foreigners from the packets of a session.
 * Fed by the recorder while packets pass, and by `jis recover` from the files: one implementation,
 * so both give the same tables. Streams may be fed in any order, packets of one stream in theirs.
 */
#ifndef JIS_TRACE_THREAD_TABLE_H
#define JIS_TRACE_THREAD_TABLE_H

#include <stdbool.h>

#include "jis/abi.h"
#include "jis/events.h"
#include "manifest.h"

struct thread_table;

#define THREAD_TABLE_LIVES                                                                         \
	(1u << JIS_EV_sched_process_fork | 1u << JIS_EV_sched_process_exec |                       \
	 1u << JIS_EV_sched_process_exit | 1u << JIS_EV_sched_process_free |                       \
	 1u << JIS_EV_task_rename | 1u << JIS_EV_thread_state | 1u << JIS_EV_task_name)

/**
 * thread_table_concerns - may the record tell of a life or a name? Nearly all records of a CPU's
 * stream tell nothing, and a packet without one that does need not be added.
 * @payload: of a record that is whole; need not be aligned to more than 4 bytes.
 */
static inline bool thread_table_concerns(uint32_t stream_class, uint32_t id, const void *payload)
{
	const struct jis_ev_sched_switch *s = payload;

	if (stream_class != JIS_STREAM_KERNEL)
		return true;
	if (id == JIS_EV_sched_switch)
		return (s->prev_state & JIS_TASK_STATE_MASK) == JIS_TASK_DEAD;
	return id <= JIS_COMPACT_ID_MAX && THREAD_TABLE_LIVES >> id & 1;
}

struct thread_table *thread_table_new(void);
void thread_table_free(struct thread_table *t);

/**
 * thread_table_add_packet - takes the life-cycle and naming events of one packet.
 * @process: for class USER and DICT, which process of the session (host pid), else 0.
 * @packet: header and content_size bits of content; checked like the reader does.
 * @skip: bytes of content that were fed before (a packet that grows), 0 at first.
 * Returns 0 or -ENOMEM.
 */
int thread_table_add_packet(struct thread_table *t, uint32_t process,
			    const struct jis_packet_header *packet, uint32_t skip);

/* How many events are kept, and how many names were not because a later one came: only the last of
 * a life counts. */
uint32_t thread_table_items(const struct thread_table *t);
uint64_t thread_table_dropped(const struct thread_table *t);

/**
 * thread_table_fill - puts the tables into @m (processes keep what is there for the same pid).
 * Returns 0 or -ENOMEM.
 */
int thread_table_fill(const struct thread_table *t, struct manifest *m);

#endif /* JIS_TRACE_THREAD_TABLE_H */
