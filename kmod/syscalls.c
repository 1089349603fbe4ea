// SPDX-License-Identifier: GPL-2.0-only
/*
 * System calls: which of them a session records, and the probes at their entry and exit.
 *
 * The probes run for every call of every thread of the machine as long as one session wants some:
 * so the call's number is looked up first, in a table, then the process. Newer kernels run them
 * with preemption on: where a CPU's scratch room is used it is turned off here. What arguments
 * point to is read without faults: what is not in memory is unreadable. The numbers' meaning is the
 * caller's (struct jis_syscall_desc); only the operations of a futex are known here.
 */
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/socket.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/in6.h>
#include <asm/syscall.h>
#include <trace/events/syscalls.h>
#include <uapi/linux/futex.h>
#include <uapi/linux/in.h>

#include "syscalls.h"

/* A selected call of a target, at its entry. */
struct call {
	struct jis_session *s;
	struct jis_syscall_desc how;
	s32 nr; /* as recorded */
	unsigned long args[6];
};

/* The call's entry of the table; 0, as one with JIS_SHAPE_OFF is, for a number beyond it. */
static __always_inline u32 call_entry(const struct jis_session *s, long nr, bool compat)
{
	const u32 *table = compat ? s->calls->compat : s->calls->native;

	return likely((unsigned long)nr < JIS_MAX_SYSCALL) ? READ_ONCE(table[nr]) : 0;
}

static __always_inline struct jis_syscall_desc entry_desc(u32 entry)
{
	struct jis_syscall_desc how;

	static_assert(sizeof(how) == sizeof(entry));
	memcpy(&how, &entry, sizeof(how));
	return how;
}

static __always_inline s32 call_nr(long nr, bool compat)
{
	return nr | (compat ? JIS_SYSCALL_COMPAT : 0);
}

static __always_inline unsigned long call_arg(const struct call *c, u8 index)
{
	return index == JIS_ARG_NONE ? 0 : c->args[index];
}

static __always_inline int call_fd(const struct call *c)
{
	return c->how.a == JIS_ARG_NONE ? -1 : (int)c->args[c->how.a];
}

/* Of the thread's own memory. Returns whether all of it could be read. */
static bool read_user(void *to, unsigned long from, size_t size)
{
	return from && !copy_from_user_nofault(to, (const void __user *)from, size);
}

/* A user's time in ns, -1 for one the kernel would refuse. @per: units of @part in a second. */
static s64 time_ns(s64 seconds, s64 part, s64 per)
{
	if (seconds < 0 || part < 0 || part >= per)
		return -1;
	if (seconds > S64_MAX / NSEC_PER_SEC - 1)
		return S64_MAX;
	return seconds * NSEC_PER_SEC + part * (NSEC_PER_SEC / per);
}

/* The timeout at @address: two words of 64 or 32 bits. -1: none, or not readable. */
static s64 read_time(unsigned long address, bool words32, s64 per)
{
	s32 narrow[2];
	s64 wide[2];

	if (!words32)
		return read_user(wide, address, sizeof(wide)) ? time_ns(wide[0], wide[1], per) : -1;
	return read_user(narrow, address, sizeof(narrow)) ? time_ns(narrow[0], narrow[1], per) : -1;
}

static s64 wait_timeout(const struct call *c)
{
	unsigned long value = call_arg(c, c->how.c);

	switch (c->how.shape & JIS_SHAPE_MASK) {
	case JIS_SHAPE_WAIT_MS:
		return c->how.c == JIS_ARG_NONE || (int)value < 0 ? -1
								  : (s64)(int)value * NSEC_PER_MSEC;
	case JIS_SHAPE_WAIT_TIMESPEC:
	case JIS_SHAPE_SLEEP:
		return read_time(value, false, NSEC_PER_SEC);
	case JIS_SHAPE_WAIT_TIMEVAL:
		return read_time(value, false, USEC_PER_SEC);
	case JIS_SHAPE_WAIT_TIMEVAL32:
		return read_time(value, true, USEC_PER_SEC);
	default:
		return read_time(value, true, NSEC_PER_SEC);
	}
}

static void enter_plain(const struct call *c)
{
	struct jis_ev_syscall_enter *ev;
	unsigned long irq;

	ev = jis_record_begin(c->s, JIS_EV_syscall_enter, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
	}
	jis_record_end(irq);
}

static void enter_io(const struct call *c)
{
	struct jis_ev_syscall_io *ev;
	unsigned long irq;

	ev = jis_record_begin(c->s, JIS_EV_syscall_io, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->fd = call_fd(c);
		ev->size = call_arg(c, c->how.b);
		if (c->how.c != JIS_ARG_NONE)
			ev->size = (u32)ev->size | (u64)call_arg(c, c->how.c) << 32;
	}
	jis_record_end(irq);
}

/* With other operations the argument is a number. */
static bool futex_has_timeout(u32 op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_LOCK_PI:
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
	case 13: /* FUTEX_LOCK_PI2, which older kernels do not know */
		return true;
	}
	return false;
}

static void enter_futex(const struct call *c)
{
	u8 shape = c->how.shape & JIS_SHAPE_MASK;
	bool two = shape == JIS_SHAPE_FUTEX2, words32 = shape == JIS_SHAPE_FUTEX32;
	u32 op = two ? c->args[3] : call_arg(c, c->how.b);
	struct jis_ev_syscall_futex *ev;
	unsigned long irq;
	s64 timeout = -1;

	if (two || futex_has_timeout(op))
		timeout = read_time(call_arg(c, c->how.c), words32, NSEC_PER_SEC);
	ev = jis_record_begin(c->s, JIS_EV_syscall_futex, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->op = op;
		ev->value = call_arg(c, two ? c->how.b : c->how.b + 1);
		ev->address = call_arg(c, c->how.a);
		ev->timeout = timeout;
	}
	jis_record_end(irq);
}

static void enter_wait(const struct call *c, bool sleep)
{
	s64 timeout = wait_timeout(c);
	struct jis_ev_syscall_wait *ev;
	unsigned long irq;

	ev = jis_record_begin(c->s, JIS_EV_syscall_wait, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->fd = sleep ? -1 : call_fd(c);
		ev->count = sleep ? 0 : call_arg(c, c->how.b);
		ev->flags = sleep ? call_arg(c, c->how.a) & JIS_WAIT_ABSOLUTE : 0;
		ev->timeout = timeout;
	}
	jis_record_end(irq);
}

union address {
	u16 family;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

/* The address argument; of one that is too short, or not readable, the family is 0. */
static void read_address(const struct call *c, union address *to)
{
	unsigned long size = min_t(unsigned int, call_arg(c, c->how.c), sizeof(*to));

	memset(to, 0, sizeof(*to));
	if (!read_user(to, call_arg(c, c->how.b), size) ||
	    (to->family == AF_INET && size < offsetofend(struct sockaddr_in, sin_addr)) ||
	    (to->family == AF_INET6 && size < offsetofend(struct sockaddr_in6, sin6_addr)))
		memset(to, 0, sizeof(*to));
}

static void enter_address(const struct call *c)
{
	struct jis_ev_syscall_address *ev;
	union address address;
	unsigned long irq;
	u64 bytes[2] = {};

	read_address(c, &address);
	if (address.family == AF_INET)
		memcpy(bytes, &address.in.sin_addr, sizeof(address.in.sin_addr));
	else if (address.family == AF_INET6)
		memcpy(bytes, &address.in6.sin6_addr, sizeof(address.in6.sin6_addr));
	ev = jis_record_begin(c->s, JIS_EV_syscall_address, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->fd = call_fd(c);
		ev->family = address.family;
		ev->port = 0;
		if (address.family == AF_INET || address.family == AF_INET6)
			ev->port = ntohs(address.in.sin_port);
		ev->address0 = bytes[0];
		ev->address1 = bytes[1];
	}
	jis_record_end(irq);
}

static void enter_memory(const struct call *c)
{
	struct jis_ev_syscall_memory *ev;
	unsigned long irq;

	ev = jis_record_begin(c->s, JIS_EV_syscall_memory, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->address = call_arg(c, c->how.a);
		ev->size = call_arg(c, c->how.b);
	}
	jis_record_end(irq);
}

/*
 * The string at @from, ended by a NUL, "" when its begin cannot be read, and no more of it than a
 * record can take. Piece by piece, none across a page: the next one need not be there.
 */
static void read_string(char *to, unsigned long from)
{
	u32 done = 0, piece;

	while (done < JIS_STRING_MAX) {
		piece = min_t(u32, 64 - (from + done) % 64, JIS_STRING_MAX - done);
		if (!read_user(to + done, from + done, piece)) {
			done = 0; /* the call fails as well */
			break;
		}
		if (memchr(to + done, 0, piece))
			return;
		done += piece;
	}
	to[done] = 0;
}

static void enter_path(const struct call *c)
{
	char *path = this_cpu_ptr(c->s->calls->scratch)->text;
	struct jis_ev_syscall_path *ev;
	struct jis_text text;
	unsigned long irq;

	read_string(path, call_arg(c, c->how.b));
	text = jis_text_fit(path);
	ev = jis_record_begin(c->s, JIS_EV_syscall_path, sizeof(*ev) + text.size, &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = c->nr;
		ev->dirfd = call_fd(c);
		ev->flags = call_arg(c, c->how.c);
		ev->path_length = text.size;
		jis_text_write(ev->path, &text);
	}
	jis_record_end(irq);
}

/* Does the first argument named in the entry say a descriptor? */
static bool call_has_fd(const struct call *c)
{
	switch (c->how.shape & JIS_SHAPE_MASK) {
	case JIS_SHAPE_IO:
	case JIS_SHAPE_WAIT_MS:
	case JIS_SHAPE_WAIT_TIMESPEC:
	case JIS_SHAPE_WAIT_TIMEVAL:
	case JIS_SHAPE_WAIT_TIMESPEC32:
	case JIS_SHAPE_WAIT_TIMEVAL32:
	case JIS_SHAPE_ADDRESS:
	case JIS_SHAPE_PATH:
		return call_fd(c) >= 0;
	}
	return false;
}

static void enter_record(const struct call *c)
{
	if (call_has_fd(c))
		jis_fd_name(c->s, call_fd(c));
	switch (c->how.shape & JIS_SHAPE_MASK) {
	case JIS_SHAPE_PLAIN:
		enter_plain(c);
		break;
	case JIS_SHAPE_IO:
		enter_io(c);
		break;
	case JIS_SHAPE_FUTEX:
	case JIS_SHAPE_FUTEX32:
	case JIS_SHAPE_FUTEX2:
		enter_futex(c);
		break;
	case JIS_SHAPE_ADDRESS:
		enter_address(c);
		break;
	case JIS_SHAPE_MEMORY:
		enter_memory(c);
		break;
	case JIS_SHAPE_PATH:
		enter_path(c);
		break;
	case JIS_SHAPE_SLEEP:
	case JIS_SHAPE_SLEEP32:
		enter_wait(c, true);
		break;
	default:
		enter_wait(c, false);
	}
}

static noinline notrace void enter_selected(struct jis_session *s, struct pt_regs *regs, s32 nr,
					    u32 entry)
{
	struct call c = {.s = s, .how = entry_desc(entry), .nr = nr};

	syscall_get_arguments(current, regs, c.args);
	preempt_disable_notrace();
	enter_record(&c);
	preempt_enable_notrace();
}

notrace void jis_sys_enter(void *data, struct pt_regs *regs, long id)
{
	struct jis_session *s = data;
	bool compat = compat_in_32bit_call(current);
	u32 entry = call_entry(s, id, compat);

	if (likely(!entry) || !jis_is_target(s, current) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, current, JIS_TASK_RUNNING);
	enter_selected(s, regs, call_nr(id, compat), entry);
}

static noinline notrace void exit_selected(struct jis_session *s, s32 nr, long result, u8 shape)
{
	struct jis_ev_syscall_exit *ev;
	unsigned long irq;

	if (shape & JIS_SHAPE_RESULT_FD && result >= 0 && result <= INT_MAX) {
		preempt_disable_notrace();
		jis_fd_name(s, result);
		preempt_enable_notrace();
	}
	ev = jis_record_begin(s, JIS_EV_syscall_exit, sizeof(*ev), &irq);
	if (likely(ev)) {
		ev->tid = current->pid;
		ev->nr = nr;
		ev->result = result;
	}
	jis_record_end(irq);
}

/* A call that was under way when recording began has an exit only. */
notrace void jis_sys_exit(void *data, struct pt_regs *regs, long result)
{
	struct jis_session *s = data;
	bool compat = compat_in_32bit_call(current);
	long id = syscall_get_nr(current, regs);
	u32 entry = call_entry(s, id, compat);

	if (likely(!entry) || !jis_is_target(s, current) || !READ_ONCE(s->recording))
		return;
	jis_meet(s, current, JIS_TASK_RUNNING);
	exit_selected(s, call_nr(id, compat), result, entry_desc(entry).shape);
}

static void __maybe_unused check_probe_types(void)
{
	check_trace_callback_type_sys_enter(jis_sys_enter);
	check_trace_callback_type_sys_exit(jis_sys_exit);
}

/* Numbers that probes will use as indices must be some. */
static bool desc_valid(const struct jis_syscall_desc *d)
{
	u8 shape = d->shape & JIS_SHAPE_MASK;

	if (!shape)
		return !d->shape && !d->a && !d->b && !d->c;
	if (shape >= JIS_NR_SHAPES || (d->a > 5 && d->a != JIS_ARG_NONE) ||
	    (d->b > 5 && d->b != JIS_ARG_NONE) || (d->c > 5 && d->c != JIS_ARG_NONE))
		return false;
	return (shape != JIS_SHAPE_FUTEX && shape != JIS_SHAPE_FUTEX32) || d->b < 5;
}

static int table_check(const struct jis_syscall_desc *table, bool *any)
{
	u32 i;

	for (i = 0; i < JIS_MAX_SYSCALL; i++) {
		if (!desc_valid(&table[i]))
			return -EINVAL;
		*any |= table[i].shape != 0;
	}
	return 0;
}

static int calls_create(struct jis_session *s)
{
	unsigned long pages =
		DIV_ROUND_UP(sizeof(struct jis_calls), PAGE_SIZE) +
		DIV_ROUND_UP(num_possible_cpus() * sizeof(struct jis_scratch), PAGE_SIZE);
	struct jis_calls *calls;
	int err = jis_charge(s, pages);

	if (err)
		return err;
	calls = kvzalloc(sizeof(*calls), JIS_GFP);
	if (calls)
		calls->scratch = alloc_percpu_gfp(struct jis_scratch, JIS_GFP);
	if (!calls || !calls->scratch) {
		kvfree(calls);
		jis_uncharge(pages);
		return -ENOMEM;
	}
	s->nr_pages += pages;
	s->calls = calls;
	return 0;
}

/**
 * jis_syscalls_free - with the session's buffers, when no probe runs any more.
 */
void jis_syscalls_free(struct jis_session *s)
{
	if (s->calls)
		free_percpu(s->calls->scratch);
	kvfree(s->calls);
	s->calls = NULL;
}

static void table_set(u32 *to, const struct jis_syscall_desc *from)
{
	u32 i, entry;

	for (i = 0; i < JIS_MAX_SYSCALL; i++) {
		memcpy(&entry, &from[i], sizeof(entry));
		WRITE_ONCE(to[i], entry);
	}
}

/**
 * jis_syscalls_set - the calls to record from now on. The caller holds the session's lock.
 *
 * Returns 0; -EINVAL for an entry that is none; -EOPNOTSUPP (this kernel has no tracepoints of
 * system calls); -ENOMEM. After an error the set is what it was.
 */
int jis_syscalls_set(struct jis_session *s, const struct jis_syscalls *set)
{
	bool any = false;
	int err;

	if (set->reserved || table_check(set->native, &any) || table_check(set->compat, &any))
		return -EINVAL;
	if (any && !jis_syscalls_supported())
		return -EOPNOTSUPP;
	err = s->calls || !any ? 0 : calls_create(s);
	if (err || !s->calls)
		return err;
	/* Not before there are entries to look up, and not without any. */
	if (any && s->recording)
		err = jis_probe_syscalls(s, true);
	if (err)
		return err;
	table_set(s->calls->native, set->native);
	table_set(s->calls->compat, set->compat);
	s->calls->any = any;
	if (!any) {
		jis_probe_syscalls(s, false);
		jis_probes_wait();
	}
	return 0;
}

/**
 * jis_syscalls_start - the probes on, if there is something to record. Returns 0 or -errno.
 */
int jis_syscalls_start(struct jis_session *s)
{
	return s->calls && s->calls->any ? jis_probe_syscalls(s, true) : 0;
}
