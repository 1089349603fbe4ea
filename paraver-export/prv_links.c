/* SPDX-License-Identifier: MIT */
/*
 * Links other than wake-ups: a communication with the tag of its kind, and at the receiver an event
 * for as long as the hand-over took, so that a table of the event's values has their number and
 * their times. Wake-ups are prv.c's.
 */
#include "prv_int.h"

static const struct prv_row *row_of_who(const struct paraver *p, const struct model_who *who,
					uint32_t *number)
{
	*number = NONE;
	if (who->vthread != MODEL_NO_THREAD)
		*number = p->vrow_of[who->vthread];
	else if (who->thread != MODEL_NO_THREAD)
		*number = p->row_of[who->thread];
	return *number == NONE ? NULL : &p->rows[*number];
}

static int taken(struct paraver *p, const struct prv_row *row, uint32_t type, int64_t value,
		 uint64_t begin, uint64_t end)
{
	int err = event_line(p, row, 0, begin, type, value);

	return err ? err : event_line(p, row, 0, end, type, 0);
}

static int lock_taken(struct paraver *p, const struct model_link *l, const struct prv_row *row,
		      uint64_t begin, uint64_t end)
{
	if (!l->class_name)
		return 0;
	p->used_lock_taken = true;
	return taken(p, row, PARAVER_TYPE_LOCK_TAKEN, l->class_name, begin, end);
}

/* Of a thread that had another one until then it is the time since it took that. */
static int socket_taken(struct paraver *p, struct prv_row *row, uint32_t giver, uint64_t begin,
			uint64_t end)
{
	if (begin < row->last_taken)
		begin = row->last_taken;
	row->last_taken = end;
	p->used_socket_taken = true;
	return taken(p, row, PARAVER_TYPE_SOCKET_FROM, giver == NONE ? p->nr_rows + 1 : giver + 1,
		     begin, end);
}

int prv_link(void *ctx, const struct model_link *l)
{
	struct paraver *p = ctx;
	uint64_t begin = l->begin - p->info->begin, end = l->end - p->info->begin;
	uint32_t giver, taker;
	const struct prv_row *from = row_of_who(p, &l->from, &giver),
			     *to = row_of_who(p, &l->to, &taker);
	int err = 0;

	if (l->kind == MODEL_LINK_WAKEUP || !to)
		return 0;
	if (from)
		err = comm_line(p, 0, from, begin, to, end, l->bytes,
				PARAVER_TAG_LINK + (uint32_t)l->kind);
	if (err || l->kind == MODEL_LINK_MESSAGE || l->kind == MODEL_LINK_QUEUE ||
	    l->kind == MODEL_LINK_CALL || l->kind == MODEL_LINK_ANSWER)
		return err;
	if (l->kind == MODEL_LINK_SOCKET)
		return socket_taken(p, &p->rows[taker], giver, begin, end);
	return lock_taken(p, l, to, begin, end);
}

/* One end of a remote call. Of one inside of another only the outer one's rest is shown. */
static int remote_line(struct paraver *p, const struct model_remote_end *end, uint32_t type,
		       uint64_t begin, uint64_t until)
{
	uint64_t *last;
	uint32_t number;

	/* A client does not know what the JDK's own calls call. */
	if (!end->known || !end->method || begin == TIME_NONE || until == TIME_NONE ||
	    !row_of_who(p, &end->who, &number))
		return 0;
	last = type == PARAVER_TYPE_REMOTE_CALL ? &p->rows[number].last_called
						: &p->rows[number].last_served;
	begin -= p->info->begin;
	until -= p->info->begin;
	if (begin < *last)
		begin = *last;
	if (until <= begin)
		return 0;
	*last = until;
	p->used_remote = true;
	return taken(p, &p->rows[number], type, end->method, begin, until);
}

int prv_remote(void *ctx, const struct model_remote_call *call)
{
	struct paraver *p = ctx;
	const uint64_t *at = call->at;
	uint64_t begin = at[MODEL_REMOTE_INVOKE] != TIME_NONE ? at[MODEL_REMOTE_INVOKE]
							      : at[MODEL_REMOTE_CALL];
	int err = remote_line(p, &call->client, PARAVER_TYPE_REMOTE_CALL, begin,
			      at[MODEL_REMOTE_RETURN]);

	return err ? err
		   : remote_line(p, &call->server, PARAVER_TYPE_REMOTE_SERVED,
				 at[MODEL_REMOTE_SERVE], at[MODEL_REMOTE_ANSWER]);
}

void links_types(const struct paraver *p, FILE *f)
{
	if (p->used_connection)
		fprintf(f, "\nEVENT_TYPE\n0 %d Connection used last (number)\n",
			PARAVER_TYPE_CONNECTION);
}
