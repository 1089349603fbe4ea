// SPDX-License-Identifier: MIT
/*
 * One session's life, from open to close, by one thread: each call is right, or has one field
 * wrong, or comes in the wrong state. What a call must say follows from the state; what comes out
 * of the rings must be whole.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

struct life {
	struct ctx *c;
	int fd;
	uint32_t state; /* enum jis_session_state, as it must be */
	struct jis_setup setup;
	const uint8_t *ring; /* CPU 0's, or NULL */
	uint64_t next_seq;   /* at least, of CPU 0's next packet */
};

static bool in(uint32_t states, uint32_t state)
{
	return states >> state & 1;
}

#define S(name) (1u << JIS_SESSION_##name)
#define UNKNOWN 31u /* the life ends here */

/* In which states the call is allowed. */
static uint32_t allowed(enum op op)
{
	const uint32_t live = S(READY) | S(RUNNING) | S(PAUSED);

	switch (op) {
	case OP_SETUP:
		return S(NEW);
	case OP_START:
		return S(READY);
	case OP_PAUSE:
	case OP_DUMP:
		return S(RUNNING);
	case OP_RESUME:
		return S(PAUSED);
	case OP_FREEZE:
	case OP_THAW:
		return S(RUNNING) | S(PAUSED);
	case OP_STOP:
	case OP_FLUSH:
	case OP_GET_PACKET:
	case OP_COUNTERS:
		return live | S(STOPPED);
	case OP_STATUS:
		return ~0u;
	default:
		return live;
	}
}

/* What a right call in a right state may say beside success. */
static bool may_fail(const struct life *l, enum op op, int err)
{
	if (err == -EINTR || err == -ENOMEM) /* a signal; other sessions have the memory */
		return true;
	switch (op) {
	case OP_SETUP:
		return err == -EOPNOTSUPP || err == -ERANGE; /* no TSC; too few packets */
	case OP_TARGET_ADD:
		return err == -EEXIST || err == -ENOSPC || err == -ESRCH || err == -EBADF ||
		       err == -EINVAL; /* FIRST_EXEC without UNTIL_EXEC */
	case OP_TARGET_REMOVE:
	case OP_TARGET_TEST:
		return err == -ESRCH || err == -EBADF;
	case OP_POOL_CREATE:
		return err == -ESRCH || err == -ENOSPC || err == -EMFILE;
	case OP_GET_PACKET:
		return err == -EAGAIN || err == -ENXIO;
	case OP_FREEZE:
	case OP_THAW:
		return err == -EINVAL && !(l->setup.flags & JIS_SETUP_FLIGHT_RECORDER);
	default:
		return false;
	}
}

static void state_after(struct life *l, enum op op)
{
	switch (op) {
	case OP_SETUP:
		l->state = JIS_SESSION_READY;
		l->setup = l->c->args.setup;
		break;
	case OP_START:
	case OP_RESUME:
		l->state = JIS_SESSION_RUNNING;
		break;
	case OP_PAUSE:
		l->state = JIS_SESSION_PAUSED;
		break;
	case OP_STOP:
		l->state = JIS_SESSION_STOPPED;
		break;
	default:
		break;
	}
}

static void check_packet(struct life *l, const struct jis_get_packet *got)
{
	const struct jis_packet_header *h;

	if (got->index >= l->setup.packets_per_cpu || got->bytes < JIS_PACKET_HEADER_SIZE ||
	    got->bytes > l->setup.packet_size) {
		wrong(l->c, "packet %u of %u bytes", got->index, got->bytes);
		return;
	}
	if (got->cpu || !l->ring)
		return;
	h = (const void *)(l->ring + (size_t)got->index * l->setup.packet_size);
	if (h->magic != JIS_PACKET_MAGIC || h->content_size != got->bytes * 8ull ||
	    h->stream_instance || memcmp(h->uuid, l->setup.uuid, sizeof(h->uuid)))
		wrong(l->c, "packet %u has another header", got->index);
	if (h->packet_seq < l->next_seq)
		wrong(l->c, "packet %llu after %llu", (unsigned long long)h->packet_seq,
		      (unsigned long long)l->next_seq);
	l->next_seq = h->packet_seq + 1;
}

/* What was added is there, and can be taken back: once. */
static void undo(struct life *l)
{
	struct args *a = &l->c->args;
	bool lasts = a->target.kind >= JIS_TARGET_CGROUP || a->target.pid == (uint32_t)getpid() ||
		     a->target.pid == (uint32_t)gettid();
	int result;

	a->target.flags = 0;
	result = call_with(l->c, l->fd, OP_TARGET_TEST);
	if (result && result != -EINTR && lasts)
		wrong(l->c, "target of kind %u is not there: %s", a->target.kind,
		      strerror(-result));
	if (one_in(&l->c->r, 2))
		return;
	result = call_with(l->c, l->fd, OP_TARGET_REMOVE);
	if (result && result != -EINTR && lasts)
		wrong(l->c, "target of kind %u cannot be removed: %s", a->target.kind,
		      strerror(-result));
	if (!result && call_with(l->c, l->fd, OP_TARGET_REMOVE) == 0)
		wrong(l->c, "target of kind %u is removed twice", a->target.kind);
}

static void check_result(struct life *l, enum op op)
{
	struct args *a = &l->c->args;

	switch (op) {
	case OP_STATUS:
		if (a->status.state != l->state)
			wrong(l->c, "state %u, not %u", a->status.state, l->state);
		break;
	case OP_GET_PACKET:
		check_packet(l, &a->packet);
		break;
	case OP_FREEZE:
	case OP_THAW:
	case OP_STOP:
		if (l->setup.flags & JIS_SETUP_FLIGHT_RECORDER)
			l->next_seq = 0; /* what was got may be got again */
		break;
	case OP_POOL_CREATE:
		if (close(a->pool.fd))
			wrong(l->c, "the pool's descriptor is %d", a->pool.fd);
		break;
	case OP_SETUP:
		l->ring = mmap(NULL, l->setup.ring_bytes, PROT_READ, MAP_SHARED, l->fd, 0);
		if (l->ring == MAP_FAILED) {
			wrong(l->c, "the ring cannot be mapped: %s", strerror(errno));
			l->ring = NULL;
		}
		break;
	case OP_TARGET_ADD:
		undo(l);
		break;
	default:
		break;
	}
}

/* A right call. */
static int step(struct life *l, enum op op)
{
	int result;

	args_make(l->c, op);
	result = call_with(l->c, l->fd, op);
	if (result == 0 && in(allowed(op), l->state)) {
		state_after(l, op);
		check_result(l, op);
	} else if (result >= 0) {
		wrong(l->c, "%s in state %u succeeds", ops[op].name, l->state);
	} else if (!in(allowed(op), l->state) && result != -EBADFD && result != -EINTR &&
		   result != -EINVAL) {
		wrong(l->c, "%s in state %u: %s", ops[op].name, l->state, strerror(-result));
	} else if (in(allowed(op), l->state) && !may_fail(l, op, result)) {
		wrong(l->c, "%s in state %u: %s", ops[op].name, l->state, strerror(-result));
	}
	return result;
}

/* A call with one field wrong, somewhere in memory; should it be right nevertheless it counts. */
static void misstep(struct life *l, enum op op)
{
	void *arg;
	int result;

	if (!ops[op].size)
		return;
	args_make(l->c, op);
	args_mutate(l->c, op);
	arg = args_place(l->c, op);
	result = call(l->fd, op, arg);
	if (result >= 0 && arg == (void *)world.scribbled) {
		l->state = op == OP_SETUP ? UNKNOWN : l->state;
	} else if (result >= 0 && op == OP_SETUP) {
		memmove(&l->c->args, arg, sizeof(struct jis_setup));
		state_after(l, op);
	} else if (result >= 0 && op == OP_POOL_CREATE) {
		close(((struct jis_pool_create *)arg)->fd);
	}
	/* Set up, but could not be told. */
	if (result == -EFAULT && op == OP_SETUP && l->state == JIS_SESSION_NEW) {
		memset(&l->c->args, 0, sizeof(l->c->args));
		l->c->args.size = sizeof(struct jis_status);
		if (call_with(l->c, l->fd, OP_STATUS) == 0 && l->c->args.status.state)
			l->state = UNKNOWN;
	}
}

/* A target and a selection, so that there is something to record. */
static void prepare(struct life *l)
{
	args_target(&l->c->args, JIS_TARGET_PROCESS, (uint32_t)getpid());
	call_with(l->c, l->fd, OP_TARGET_ADD);
	args_target(&l->c->args, JIS_TARGET_PROCESS, (uint32_t)world.mill);
	l->c->args.target.flags = (uint32_t)below(&l->c->r, 2);
	call_with(l->c, l->fd, OP_TARGET_ADD);
	for (uint64_t n = 2 + below(&l->c->r, 4); n; n--)
		step(l, OP_TARGET_ADD);
	if (one_in(&l->c->r, 3))
		step(l, OP_SYSCALLS);
	if (one_in(&l->c->r, 3))
		step(l, OP_POOL_CREATE);
}

static void fill_tables(struct life *l, enum op op)
{
	for (int i = 0; i < 18; i++)
		step(l, op);
}

static void middle(struct life *l)
{
	static const enum op often[] = {OP_TARGET_ADD, OP_TARGET_REMOVE, OP_TARGET_TEST,
					OP_FLUSH,      OP_GET_PACKET,	 OP_STATUS,
					OP_COUNTERS,   OP_SYSCALLS,	 OP_FREEZE,
					OP_THAW,       OP_DUMP,		 OP_POOL_CREATE};

	for (uint64_t n = 4 + below(&l->c->r, 12); n; n--) {
		enum op op = often[below(&l->c->r, NR(often))];

		if (one_in(&l->c->r, 3))
			misstep(l, (enum op)below(&l->c->r, NR_OPS));
		else if (one_in(&l->c->r, 24))
			fill_tables(l, op == OP_DUMP ? OP_TARGET_ADD : op);
		else
			step(l, op);
	}
	if (one_in(&l->c->r, 2))
		usleep((unsigned int)below(&l->c->r, 20000));
}

/* Of a stopped session: all there is, and then the hang-up. */
static void drain(struct life *l)
{
	struct pollfd p = {.fd = l->fd, .events = POLLIN};
	struct jis_get_packet got;
	uint32_t cpu;

	for (cpu = 0; cpu < l->setup.nr_cpus; cpu++) {
		do {
			got = (struct jis_get_packet){.size = sizeof(got), .cpu = cpu};
			l->c->args.packet = got;
			if (call_with(l->c, l->fd, OP_GET_PACKET))
				break;
			check_packet(l, &l->c->args.packet);
		} while (true);
	}
	if (poll(&p, 1, 0) != 1 || p.revents != POLLHUP)
		wrong(l->c, "stopped and read, poll() says 0x%x", p.revents);
}

/* Counters of a stopped session add up to its status. */
static void check_counters(struct life *l)
{
	uint64_t produced = 0, lost = 0;
	struct args *a = &l->c->args;
	uint32_t cpu;

	for (cpu = 0; cpu < l->setup.nr_cpus; cpu++) {
		memset(a, 0, sizeof(*a));
		a->counters.size = sizeof(a->counters);
		a->counters.cpu = cpu;
		if (call_with(l->c, l->fd, OP_COUNTERS))
			continue;
		for (int i = 0; i < JIS_MAX_EVENT_ID; i++) {
			produced += a->counters.produced[i];
			lost += a->counters.lost[i];
		}
	}
	memset(a, 0, sizeof(*a));
	a->status.size = sizeof(a->status);
	if (call_with(l->c, l->fd, OP_STATUS))
		wrong(l->c, "no status");
	else if (a->status.produced != produced || a->status.lost != lost)
		wrong(l->c, "produced %llu lost %llu, the CPUs say %llu %llu",
		      (unsigned long long)a->status.produced, (unsigned long long)a->status.lost,
		      (unsigned long long)produced, (unsigned long long)lost);
}

static void live(struct life *l)
{
	static const enum op ways[] = {OP_START, OP_PAUSE, OP_RESUME, OP_STOP};

	misstep(l, (enum op)below(&l->c->r, NR_OPS));
	for (uint64_t n = below(&l->c->r, 4); n && l->state == JIS_SESSION_NEW; n--)
		step(l, (enum op)(1 + below(&l->c->r, NR_OPS - 1)));
	if (l->state == JIS_SESSION_NEW && step(l, OP_SETUP) < 0)
		return;
	if (l->state != JIS_SESSION_READY)
		return;
	prepare(l);
	if (one_in(&l->c->r, 8))
		misstep(l, OP_SETUP);
	for (size_t i = 0; i < NR(ways); i++) {
		if (!one_in(&l->c->r, 8))
			step(l, ways[i]);
		middle(l);
		if (one_in(&l->c->r, 4))
			step(l, ways[below(&l->c->r, NR(ways))]);
		if (one_in(&l->c->r, 16))
			return; /* closed as it is */
	}
	if (l->state != JIS_SESSION_STOPPED && step(l, OP_STOP))
		return;
	/* Losses may be told once more after each packet given back, so the counters come last. */
	drain(l);
	check_counters(l);
	if (one_in(&l->c->r, 4))
		middle(l);
}

void round_chain(struct ctx *c)
{
	struct life l = {.c = c, .fd = device()};

	if (l.fd < 0) {
		if (errno != ENOMEM && errno != EMFILE)
			wrong(c, "open: %s", strerror(errno));
		return;
	}
	live(&l);
	close(l.fd);
	/* A ring that is mapped stays, whole. */
	if (l.ring && l.next_seq &&
	    ((const struct jis_packet_header *)l.ring)->magic != JIS_PACKET_MAGIC)
		wrong(c, "the ring has gone with its session");
	if (l.ring)
		munmap((void *)l.ring, l.setup.ring_bytes);
}
