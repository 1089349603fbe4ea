/* SPDX-License-Identifier: MIT */
/*
 * The lines of the .prv. A state's line is written when it has ended, per row in time order, each
 * beginning where the one before ended.
 *
 * Paraver's tie trap: where one thread takes a CPU at the very time another leaves it, Paraver
 * sorts the two by thread number and may show the CPU idle from then on. So a thread that hands its
 * CPU to another row ends 1 ns early; one that ran for no more than 1 ns names no CPU.
 */
#include "prv_int.h"

char *put_large(char *out, uint64_t v)
{
	uint64_t digits = eight_digits((uint32_t)(v % 100000000)) | 0x3030303030303030ull;

	out = put_u64(out, v / 100000000);
	memcpy(out, &digits, sizeof(digits));
	return out + 8;
}

/* The text of a time below 10^8, or the first one with new upper digits. */
static __attribute__((noinline)) uint64_t new_upper(struct paraver *p, uint64_t v)
{
	p->upper_text = number_of(v);
	p->upper = v - v % 100000000;
	/* Numbers below 10^8 have no upper digits, and their lower ones no leading zeros. */
	if (v < 100000000)
		p->upper = UINT64_MAX / 2;
	return p->upper_text.low;
}

/* As number_of(): only the lower eight digits are worked out anew. Inlined, to stay in registers.
 */
static inline __attribute__((always_inline)) struct prv_number time_of(struct paraver *p,
								       uint64_t v)
{
	struct prv_number n;

	if (__builtin_expect(v - p->upper < 100000000, 1))
		n.low = eight_digits((uint32_t)(v - p->upper)) | 0x3030303030303030ull;
	else
		n.low = new_upper(p, v);
	n.head = p->upper_text.head;
	n.head_len = p->upper_text.head_len;
	n.len = p->upper_text.len;
	return n;
}

/* A state line of @row from its last end to @end; nothing where that is empty. */
static int state_line(struct paraver *p, struct prv_row *row, uint32_t cpu, uint64_t end,
		      uint32_t state)
{
	struct prv_number text;
	char *line, *at;

	if (end <= row->last_end)
		return 0;
	line = out_line(p->out, row->last_end);
	if (!line)
		return out_error(p->out);
	at = line;
	*at++ = '1';
	*at++ = ':';
	at = put_small(at, cpu);
	*at++ = ':';
	at = put_prefix(at, row);
	at = put_number(at, &row->begin);
	*at++ = ':';
	text = time_of(p, end);
	row->begin.head = text.head;
	row->begin.low = text.low;
	row->begin.head_len = text.head_len;
	row->begin.len = text.len;
	at = put_number(at, &text);
	row->last_end = end;
	*at++ = ':';
	at = put_small(at, state);
	*at++ = '\n';
	out_commit(p->out, at);
	return 0;
}

int event_line(struct paraver *p, const struct prv_row *row, uint32_t cpu, uint64_t time,
	       uint32_t type, int64_t value)
{
	char *line = out_line(p->out, time);
	struct prv_number number;
	uint64_t digits;
	char *at = line;

	if (!line)
		return out_error(p->out);
	*at++ = '2';
	*at++ = ':';
	at = put_small(at, cpu);
	*at++ = ':';
	at = put_prefix(at, row);
	number = time_of(p, time);
	at = put_number(at, &number);
	*at++ = ':';
	/* All types have eight digits. */
	digits = eight_digits(type) | 0x3030303030303030ull;
	memcpy(at, &digits, sizeof(digits));
	at += 8;
	*at++ = ':';
	at = put_s64(at, value);
	*at++ = '\n';
	out_commit(p->out, at);
	return 0;
}

static const uint8_t state_value[MODEL_NR_STATES] = {
	[MODEL_UNKNOWN] = PARAVER_UNKNOWN,
	[MODEL_NOT_CREATED] = PARAVER_NOT_CREATED,
	[MODEL_RUNNING] = PARAVER_RUNNING,
	[MODEL_READY] = PARAVER_READY,
	[MODEL_BLOCKED_INTERRUPTIBLE] = PARAVER_BLOCKED,
	[MODEL_BLOCKED_UNINTERRUPTIBLE] = PARAVER_BLOCKED,
	[MODEL_STOPPED] = PARAVER_BLOCKED,
	[MODEL_EXITED] = PARAVER_NOT_CREATED,
};

/* @thread gets the row, which its former owner has left at its death. */
static int take_row(struct paraver *p, struct prv_row *row, uint32_t thread)
{
	uint32_t former = row->owner;
	uint64_t death;

	row->owner = thread;
	if (former == NONE)
		return 0;
	death = life_of(p, former).death;
	if (death <= p->info->begin)
		return 0;
	return state_line(p, row, 0, death - p->info->begin, PARAVER_UNKNOWN);
}

static int wait_kind(struct paraver *p, const struct prv_row *row, const struct model_state *s,
		     uint64_t begin, uint64_t end)
{
	int err = event_line(p, row, 0, begin, PARAVER_TYPE_BLOCKED,
			     s->kind == MODEL_STOPPED ? 3 : 2);

	return err ? err : event_line(p, row, 0, end, PARAVER_TYPE_BLOCKED, 0);
}

/*
 * A state's line goes on, in or after a system call. The VM's own threads may leave their CPU in
 * calls always: what they are is told here, too.
 */
static int piece(struct paraver *p, struct prv_row *row, const struct model_state *s)
{
	enum model_reason_kind kind = s->reason->kind;
	uint64_t begin = s->begin > p->info->begin ? s->begin - p->info->begin : 0;
	bool owns = row->owner == s->thread || (row->owner == NONE && row->nr == 1);

	if (!owns || s->kind != MODEL_RUNNING || kind == row->run || kind < MODEL_RUN_GC ||
	    kind > MODEL_RUN_VM_OTHER)
		return 0;
	return run_event(p, row, kind, begin);
}

int prv_state(void *ctx, const struct model_state *s)
{
	struct paraver *p = ctx;
	uint32_t index = p->row_of[s->thread];
	uint64_t end = s->end - p->info->begin;
	/* MODEL_NO_CPU becomes 0, none; few branches, since which kind it is cannot be foretold. */
	uint32_t cpu = s->cpu + 1, next = s->successor;
	struct prv_row *row;
	bool handed, waits;
	int err = 0;

	if (index == NONE)
		return 0;
	row = &p->rows[index];
	if (s->more)
		return piece(p, row, s);
	if (row->owner != s->thread) {
		/* A former owner's exit, told late. */
		if (row->owner != NONE &&
		    p->info->threads[row->owner].birth > p->info->threads[s->thread].birth)
			return 0;
		err = take_row(p, row, s->thread);
	}
	handed = p->row_of[next < p->info->nr_threads ? next : p->info->nr_threads] != NONE;
	if (handed && end <= row->last_end + 1)
		cpu = 0;
	end -= handed & (cpu != 0);
	if (s->kind == MODEL_BLOCKED_UNINTERRUPTIBLE || s->kind == MODEL_STOPPED)
		err = wait_kind(p, row, s, row->last_end, end);
	waits = s->reason->kind > MODEL_WAIT_UNKNOWN;
	if (s->reason->kind >= MODEL_WAIT_UNKNOWN && reason_has_more(s->reason) && !err)
		err = reason_events(p, row, s->reason, row->last_end, end);
	else if (s->kind == MODEL_RUNNING && s->reason->kind != row->run && !err)
		err = run_event(p, row, s->reason->kind, row->last_end);
	return err ? err
		   : state_line(p, row, cpu, end,
				waits	       ? wait_value(p, s->reason)
				: s->throttled ? PARAVER_THROTTLED
					       : state_value[s->kind]);
}

int comm_line(struct paraver *p, uint32_t cpu, const struct prv_row *from, uint64_t begin,
	      const struct prv_row *to, uint64_t end, uint64_t size, uint32_t tag)
{
	struct prv_number time = time_of(p, begin);
	char *at = out_line(p->out, begin);

	if (!at)
		return out_error(p->out);
	memcpy(at, "3:", 2);
	at = put_small(at + 2, cpu);
	*at++ = ':';
	at = put_prefix(at, from);
	at = put_number(at, &time);
	*at++ = ':';
	at = put_number(at, &time);
	memcpy(at, ":0:", 3);
	at = put_prefix(at + 3, to);
	time = time_of(p, end);
	at = put_number(at, &time);
	*at++ = ':';
	at = put_number(at, &time);
	*at++ = ':';
	at = put_u64(at, size);
	*at++ = ':';
	at = put_small(at, tag);
	*at++ = '\n';
	out_commit(p->out, at);
	return 0;
}

/* From who unparked a virtual thread to it. */
static int unpark_line(struct paraver *p, const struct model_vstate *s, const struct prv_row *to,
		       uint64_t t)
{
	const struct prv_row *from = NULL;

	if (s->waker_vthread != MODEL_NO_THREAD && p->vrow_of[s->waker_vthread] != NONE)
		from = &p->rows[p->vrow_of[s->waker_vthread]];
	else if (s->waker != MODEL_NO_THREAD && p->row_of[s->waker] != NONE)
		from = &p->rows[p->row_of[s->waker]];
	if (!from || p->options.wakeups == PARAVER_WAKEUPS_NONE)
		return 0;
	return comm_line(p, 0, from, t, to, t, 0, PARAVER_TAG_UNPARK);
}

/* None is a state of the carrier's, so that counting rows by state counts each thread and its CPU
 * once. */
static uint32_t vstate_value(struct paraver *p, const struct model_vstate *s)
{
	if (s->kind == MODEL_RUNNING)
		return PARAVER_CARRIED;
	if (s->reason && s->reason->kind == MODEL_READY_TO_MOUNT)
		return PARAVER_TO_MOUNT;
	if (s->kind == MODEL_READY)
		return PARAVER_CARRIER_READY;
	if (s->reason && s->reason->kind > MODEL_WAIT_UNKNOWN)
		return wait_value(p, s->reason);
	return state_value[s->kind];
}

/* A virtual thread's row names no CPU: that is its carrier's. */
int prv_vstate(void *ctx, const struct model_vstate *s)
{
	struct paraver *p = ctx;
	uint32_t index = p->vrow_of[s->vthread], thread = p->info->nr_threads + s->vthread;
	uint64_t end = s->end - p->info->begin;
	struct prv_row *row;
	int err = 0;

	if (index == NONE)
		return 0;
	row = &p->rows[index];
	if (row->owner != thread) {
		/* A former owner's exit, told late; its birth came first. */
		if (row->owner != NONE && life_of(p, row->owner).birth > life_of(p, thread).birth)
			return 0;
		err = take_row(p, row, thread);
	}
	if (!err && s->reason && s->reason->kind >= MODEL_WAIT_UNKNOWN &&
	    reason_has_more(s->reason))
		err = reason_events(p, row, s->reason, row->last_end, end);
	if (!err)
		err = state_line(p, row, 0, end, vstate_value(p, s));
	return err || !s->waker_java_tid ? err : unpark_line(p, s, row, end);
}

int prv_cpu(void *ctx, const struct model_cpu *c)
{
	static const uint8_t values[] = {
		[MODEL_CPU_UNKNOWN] = PARAVER_UNKNOWN,
		[MODEL_CPU_IDLE] = PARAVER_IDLE,
		[MODEL_CPU_TARGET] = PARAVER_CPU_TARGET,
		[MODEL_CPU_FOREIGN] = PARAVER_CPU_OTHER,
	};
	struct paraver *p = ctx;
	struct prv_row *row = &p->rows[p->nr_rows + c->cpu];
	uint32_t tid = c->occupant == MODEL_CPU_UNKNOWN ? 0 : c->tid;
	uint64_t begin = row->last_end;
	int err = state_line(p, row, 0, c->end - p->info->begin, values[c->occupant]);

	if (err || !p->info->waits_known || p->cpu_tid[c->cpu] == tid)
		return err;
	p->cpu_tid[c->cpu] = tid;
	return event_line(p, row, 0, begin, PARAVER_TYPE_CPU_THREAD, tid);
}

/* The row a wake-up came from, or NULL. */
static const struct prv_row *waker_row(const struct paraver *p, const struct model_wakeup *w,
				       uint32_t *cpu)
{
	*cpu = 0;
	if (w->context == JIS_WAKER_TASK && w->waker != MODEL_NO_THREAD &&
	    p->row_of[w->waker] != NONE) {
		*cpu = w->waker_running ? w->waker_cpu + 1 : 0;
		return &p->rows[p->row_of[w->waker]];
	}
	if (p->options.wakeups == PARAVER_WAKEUPS_ALL && w->waker_cpu < p->nr_cpu_rows)
		return &p->rows[p->nr_rows + w->waker_cpu];
	return NULL;
}

int prv_wakeup(void *ctx, const struct model_wakeup *w)
{
	struct paraver *p = ctx;
	uint64_t waking = w->waking - p->info->begin, ready = w->ready - p->info->begin;
	uint32_t cpu, index = p->row_of[w->thread];
	const struct prv_row *from = waker_row(p, w, &cpu);

	if (!from || index == NONE)
		return 0;
	return comm_line(p, cpu, from, waking, &p->rows[index], ready, 0, w->context);
}

/* Rows are numbered from 1; one more is all those that have none. */
static int64_t mounted_value(const struct paraver *p, uint32_t vthread)
{
	if (vthread == MODEL_NO_THREAD || p->vrow_of[vthread] == NONE)
		return p->nr_rows + 1;
	return p->vrow_of[vthread] + 1;
}

static bool is_virtual(const struct paraver *p, const struct prv_row *row)
{
	return p->order[row->first] >= p->info->nr_threads;
}

/* The row an event is shown in: what a virtual thread tells is its own, what it is mounted on is
 * its carrier's. NULL: none. */
static const struct prv_row *event_row(const struct paraver *p, const struct model_event *e)
{
	uint32_t row = NONE;

	if (e->vthread != MODEL_NO_THREAD && e->kind != MODEL_EVENT_MOUNT &&
	    e->kind != MODEL_EVENT_UNMOUNT)
		row = p->vrow_of[e->vthread];
	else if (e->thread != MODEL_NO_THREAD)
		row = p->row_of[e->thread];
	return row == NONE ? NULL : &p->rows[row];
}

/* What an event is in Paraver. Returns its type, 0 for none. */
static uint32_t event_type(struct paraver *p, const struct model_event *e, int64_t *value)
{
	*value = e->name;
	switch (e->kind) {
	case MODEL_EVENT_MARKER:
		*value = e->value;
		return marker_type(p, e->type);
	case MODEL_EVENT_SPAN_BEGIN:
		p->used_span = true;
		return PARAVER_TYPE_SPAN;
	case MODEL_EVENT_SPAN_END:
		*value = e->outer;
		return PARAVER_TYPE_SPAN;
	case MODEL_EVENT_SPANS_LOST:
		*value = 0;
		return PARAVER_TYPE_SPAN;
	case MODEL_EVENT_GC_START:
	case MODEL_EVENT_GC_FINISH:
	case MODEL_EVENT_GC_LOST:
		*value = e->kind == MODEL_EVENT_GC_START;
		return PARAVER_TYPE_GC;
	case MODEL_EVENT_VM_PHASE:
		p->used_phase = true;
		*value = e->value;
		return PARAVER_TYPE_VM_PHASE;
	case MODEL_EVENT_RENAME:
	case MODEL_EVENT_JAVA_NAME:
		p->used_name = true;
		return PARAVER_TYPE_NAME;
	case MODEL_EVENT_EXEC:
		p->used_exec = true;
		return PARAVER_TYPE_EXEC;
	case MODEL_EVENT_MOUNT:
	case MODEL_EVENT_UNMOUNT:
		p->used_mounted = true;
		*value = e->kind == MODEL_EVENT_UNMOUNT ? 0 : mounted_value(p, e->vthread);
		return PARAVER_TYPE_MOUNTED;
	case MODEL_EVENT_SYSCALL_ENTER:
		*value = call_value(p, (int32_t)e->value);
		return PARAVER_TYPE_SYSCALL;
	case MODEL_EVENT_SYSCALL_EXIT:
		p->used_call = true;
		*value = 0;
		return PARAVER_TYPE_SYSCALL;
	case MODEL_EVENT_CONNECTION:
		p->used_connection = true;
		*value = e->value;
		return PARAVER_TYPE_CONNECTION;
	default:
		return 0;
	}
}

int prv_event(void *ctx, const struct model_event *e)
{
	struct paraver *p = ctx;
	uint64_t time = e->time - p->info->begin;
	uint32_t type, cpu = e->cpu == MODEL_NO_CPU ? 0 : e->cpu + 1;
	const struct prv_row *row;
	int64_t value;
	int done;

	if (e->kind == MODEL_EVENT_SESSION || e->kind == MODEL_EVENT_THREAD_START ||
	    (e->kind == MODEL_EVENT_SPANS_LOST && !e->value))
		return 0;
	row = event_row(p, e);
	if (!row) {
		p->stats.no_row++;
		return 0;
	}
	done = doing_events(p, row, is_virtual(p, row) ? 0 : cpu, time, e);
	if (done)
		return done < 0 ? done : 0;
	type = event_type(p, e, &value);
	if (!type)
		return 0;
	if (is_virtual(p, row)) /* all that it did is in its row */
		return event_line(p, row, 0, time, type, value);
	if (e->left != MODEL_NO_THREAD && p->row_of[e->left] != NONE) {
		int err = event_line(p, &p->rows[p->row_of[e->left]], 0, time, type, 0);

		if (err)
			return err;
	}
	return event_line(p, row, cpu, time, type, value);
}
