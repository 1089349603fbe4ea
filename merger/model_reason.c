/* SPDX-License-Identifier: MIT */
/*
 * Why a thread is in a state: the one place that joins what the kernel, the VM's words and the Java
 * thread say of it. docs/model.md has the rules. A state's reason is worked out when it ends, from
 * what is known then; it changes no state.
 */
#include <stdio.h>
#include <string.h>

#include "model_class_waits.h"
#include "model_futexes.h"
#include "model_jwait.h"

static const char *const reason_names[MODEL_NR_REASONS] = {
	[MODEL_REASON_NONE] = "none",
	[MODEL_RUN] = "running",
	[MODEL_RUN_SYSCALL] = "in a system call",
	[MODEL_RUN_JAVA] = "in Java",
	[MODEL_RUN_NATIVE] = "in native code",
	[MODEL_RUN_VM] = "in the VM",
	[MODEL_RUN_GC] = "garbage collector",
	[MODEL_RUN_JIT] = "JIT compiler",
	[MODEL_RUN_VM_OPERATION] = "VM operation",
	[MODEL_RUN_VM_OTHER] = "other thread of the VM",
	[MODEL_READY_WOKEN] = "woken",
	[MODEL_READY_PREEMPTED] = "preempted",
	[MODEL_READY_YIELDED] = "yielded",
	[MODEL_READY_THROTTLED] = "throttled",
	[MODEL_READY_TO_MOUNT] = "ready to mount",
	[MODEL_WAIT_UNKNOWN] = "not known",
	[MODEL_WAIT_MONITOR] = "monitor",
	[MODEL_WAIT_OBJECT] = "Object.wait",
	[MODEL_WAIT_PARK] = "park",
	[MODEL_WAIT_SLEEP] = "sleep",
	[MODEL_WAIT_JOIN] = "join",
	[MODEL_WAIT_SOCKET_READ] = "socket read",
	[MODEL_WAIT_SOCKET_WRITE] = "socket write",
	[MODEL_WAIT_ACCEPT] = "socket accept",
	[MODEL_WAIT_CONNECT] = "socket connect",
	[MODEL_WAIT_POLL] = "poll",
	[MODEL_WAIT_FILE] = "file",
	[MODEL_WAIT_PIPE] = "pipe",
	[MODEL_WAIT_EVENTFD] = "event descriptor",
	[MODEL_WAIT_DISK] = "disk",
	[MODEL_WAIT_PAGE_FAULT] = "page fault",
	[MODEL_WAIT_MEMORY] = "address space",
	[MODEL_WAIT_TIMER] = "timer",
	[MODEL_WAIT_PROCESS] = "child process",
	[MODEL_WAIT_SIGNAL] = "signal",
	[MODEL_WAIT_GC] = "garbage collection",
	[MODEL_WAIT_SAFEPOINT] = "safepoint",
	[MODEL_WAIT_VM] = "lock of the VM",
	[MODEL_WAIT_VM_IDLE] = "thread of the VM waits",
	[MODEL_WAIT_FUTEX] = "futex",
	[MODEL_WAIT_STOPPED] = "stopped",
	[MODEL_WAIT_EXIT] = "exiting",
	[MODEL_WAIT_SYSCALL] = "system call",
	[MODEL_WAIT_UNMOUNTED] = "unmounted",
	[MODEL_WAIT_POOL] = "idle in pool",
};

const char *model_reason_name(enum model_reason_kind kind)
{
	return (unsigned int)kind < MODEL_NR_REASONS ? reason_names[kind] : "?";
}

/* The plain ones ----------------------------------------------------------------------------- */

#define BLANK                                                                                      \
	.syscall = JIS_SYSCALL_UNKNOWN, .fd = -1, .owner = MODEL_NO_THREAD,                        \
	.owner_vthread = MODEL_NO_THREAD, .timeout = -1
#define PLAIN(reason) [reason] = {.kind = reason, BLANK}

/* Those that may come without any detail. */
static const struct model_reason plain[MODEL_NR_REASONS] = {
	PLAIN(MODEL_REASON_NONE),
	PLAIN(MODEL_RUN),
	PLAIN(MODEL_RUN_GC),
	PLAIN(MODEL_RUN_JIT),
	PLAIN(MODEL_RUN_VM_OPERATION),
	PLAIN(MODEL_RUN_VM_OTHER),
	PLAIN(MODEL_READY_WOKEN),
	PLAIN(MODEL_READY_PREEMPTED),
	PLAIN(MODEL_READY_YIELDED),
	PLAIN(MODEL_READY_THROTTLED),
	PLAIN(MODEL_READY_TO_MOUNT),
	PLAIN(MODEL_WAIT_UNKNOWN),
	PLAIN(MODEL_WAIT_STOPPED),
	PLAIN(MODEL_WAIT_UNMOUNTED),
	[MODEL_RUN_JAVA] = {.kind = MODEL_RUN_JAVA, .sampled = true, BLANK},
	[MODEL_RUN_NATIVE] = {.kind = MODEL_RUN_NATIVE, .sampled = true, BLANK},
	[MODEL_RUN_VM] = {.kind = MODEL_RUN_VM, .sampled = true, BLANK},
};

const struct model_reason *reason_plain(enum model_reason_kind kind)
{
	return &plain[kind];
}

/* What the kernel calls a thread of the VM: the first letters of its comm, which has 15. */
static const struct {
	const char *comm;
	enum role role;
	bool java; /* JVMTI shows it as a Java thread, too */
} roles[] = {
	{"GC Thread#", ROLE_GC, false},
	{"G1 ", ROLE_GC, false},
	{"ParGC ", ROLE_GC, false},
	{"ZDriver", ROLE_GC, false},
	{"ZDirector", ROLE_GC, false},
	{"ZStat", ROLE_GC, false},
	{"ZWorker", ROLE_GC, false},
	{"ZUncommitter", ROLE_GC, false},
	{"Shenandoah", ROLE_GC, false},
	{"Epsilon", ROLE_GC, false},
	{"C1 CompilerThre", ROLE_JIT, true},
	{"C2 CompilerThre", ROLE_JIT, true},
	{"JVMCI", ROLE_JIT, true},
	{"VM Thread", ROLE_VM_OPERATION, false},
	{"VM Periodic Tas", ROLE_VM_OTHER, false},
	{"Sweeper thread", ROLE_VM_OTHER, true},
	{"Service Thread", ROLE_VM_OTHER, true},
	{"Monitor Deflati", ROLE_VM_OTHER, true},
	{"Signal Dispatch", ROLE_VM_OTHER, true},
	{"Notification Th", ROLE_VM_OTHER, true},
	{"Notification T", ROLE_VM_OTHER, true},
	{"AsyncLog Thread", ROLE_VM_OTHER, false},
};

/* A program may call its own threads so; these are in no group of the VM's. */
static enum role role_of(const struct thread_entry *e)
{
	for (size_t i = 0; e->comm && i < sizeof(roles) / sizeof(roles[0]); i++) {
		if (strncmp(e->comm, roles[i].comm, strlen(roles[i].comm)) != 0)
			continue;
		if (!e->java_tid || (roles[i].java && e->group && !strcmp(e->group, "system")))
			return roles[i].role;
	}
	return ROLE_NONE;
}

void reasons_init(struct model *m)
{
	for (uint32_t i = 0; i < m->info.nr_threads; i++) {
		struct why *w = &m->whys[i];

		w->syscall = JIS_SYSCALL_UNKNOWN;
		w->call = JIS_SYSCALL_NONE;
		w->fd = -1;
		if (m->processes[m->threads[i].process].vm_version)
			w->role = (uint8_t)role_of(m->threads[i].entry);
	}
}

/* The VM's words: enum JavaThreadState and enum ThreadState of HotSpot 17 to 25. A state and the
 * odd number after it, on the way from it, mean the same. */
enum { VM_NATIVE = 4, VM_IN_VM = 6, VM_JAVA = 8, VM_BLOCKED = 10 };
enum { OS_RUNNABLE = 2, OS_MONITOR = 3, OS_CONDITION = 4, OS_OBJECT = 5, OS_SLEEPING = 7 };

static uint32_t vm_state(const struct why *w)
{
	return w->flags & WHY_LEFT ? w->vm_state & ~1u : 0;
}

/* Running ------------------------------------------------------------------------------------ */

static const struct model_reason *why_running(struct model *m, const struct why *w)
{
	static const uint8_t of_role[] = {
		[ROLE_GC] = MODEL_RUN_GC,
		[ROLE_JIT] = MODEL_RUN_JIT,
		[ROLE_VM_OPERATION] = MODEL_RUN_VM_OPERATION,
		[ROLE_VM_OTHER] = MODEL_RUN_VM_OTHER,
	};

	if (w->call >= 0) {
		m->reason = (struct model_reason){.kind = MODEL_RUN_SYSCALL, BLANK};
		m->reason.syscall = w->call;
		m->reason.fd = w->fd;
		m->reason.name = w->name;
		return &m->reason;
	}
	if (w->role)
		return &plain[of_role[w->role]];
	switch (vm_state(w)) {
	case VM_NATIVE:
		return &plain[MODEL_RUN_NATIVE];
	case VM_JAVA:
		return &plain[MODEL_RUN_JAVA];
	case VM_IN_VM:
	case VM_BLOCKED:
		return &plain[MODEL_RUN_VM];
	}
	return &plain[MODEL_RUN];
}

/* Waiting ------------------------------------------------------------------------------------ */

struct waiting {
	struct model *m;
	uint32_t life;
	const struct why *w;
	bool disk; /* asleep so that no signal wakes it */
	uint64_t begin, end;
	struct model_reason *r;
};

/* Was a collection of the thread's process under way at some time of the wait? */
static bool during_gc(const struct waiting *x)
{
	const struct process_run *p = &x->m->runs[x->m->threads[x->life].process];

	return p->gc_seen && p->gc_begin < x->end && p->gc_end > x->begin;
}

/* The thread of its own process that ends the wait, or NULL. */
static const struct why *waker_of(const struct waiting *x)
{
	const struct life *l = &x->m->lives[x->life];
	uint32_t waker = l->waking.waker;

	if (!(l->flags & LIFE_WAKING) || waker == NONE || l->waking.context != JIS_WAKER_TASK ||
	    x->m->threads[waker].process != x->m->threads[x->life].process)
		return NULL;
	return &x->m->whys[waker];
}

/* Is it the VM's own operating thread that ends the wait? */
static bool woken_by_vm(const struct waiting *x)
{
	const struct why *waker = waker_of(x);

	return waker && waker->role == ROLE_VM_OPERATION;
}

/* Would a wait of @kind have been recorded, whoever on the kernel thread waits? */
static bool would_tell(const struct waiting *x, enum jwait_kind kind)
{
	const struct why *w = x->w;

	return w->java && jwait_told(x->m, w->java, kind) &&
	       (!w->mounted || jwait_told(x->m, w->mounted, kind));
}

/*
 * Without words: a compiler shares locks of the VM with Java threads, its queue's for one, and
 * seldom one of the C library's memory. A Java thread that has waited for such a lock passes it on
 * to the next one: an inference.
 */
static bool lock_passed_on(const struct waiting *x)
{
	const struct why *waker = waker_of(x);

	if (!x->w->java || !waker)
		return false;
	if (waker->role == ROLE_JIT)
		return true;
	if (!waker->java || waker->waited != MODEL_WAIT_VM || !would_tell(x, JWAIT_PARK))
		return false;
	x->r->sampled = true;
	return true;
}

/* Who asks for a stop waits for it, too, for at most so long. */
#define ASKED_NS 20000000u

/* Did the wait begin with the stop [begin, end), or is at least half of it in there? */
static bool mostly_in(const struct waiting *x, uint64_t begin, uint64_t end)
{
	if (begin < x->end && begin <= x->begin + ASKED_NS && end > x->begin)
		return true;
	if (begin < x->begin)
		begin = x->begin;
	if (end > x->end)
		end = x->end;
	return begin < end && end - begin >= (x->end - x->begin) / 2;
}

/*
 * A thread that waited long before the stop waits for something of the VM's: the reference handler
 * for what a collection finds, for one, and is woken by it.
 */
static bool waited_before(const struct waiting *x, bool gc)
{
	const struct process_run *p = &x->m->runs[x->m->threads[x->life].process];

	bool safepoint =
		p->safepoint_seen && p->safepoint_begin < x->end && p->safepoint_end > x->begin;

	if (safepoint && mostly_in(x, p->safepoint_begin, p->safepoint_end))
		return false;
	return gc ? !mostly_in(x, p->gc_begin, p->gc_end) : safepoint;
}

/*
 * Whom the end of a stop wakes may wait again, for a lock that the VM's operating thread, off its
 * CPU meanwhile, still holds: it has not waited for another operation since.
 */
static bool stop_lasts(const struct waiting *x)
{
	const struct process_run *p = &x->m->runs[x->m->threads[x->life].process];

	return woken_by_vm(x) && p->safepoint_seen && p->safepoint_end <= x->begin &&
	       waker_of(x)->awake <= p->safepoint_end;
}

/* A Java thread that the VM itself keeps waiting. */
static enum model_reason_kind why_vm(const struct waiting *x)
{
	const struct process_run *p = &x->m->runs[x->m->threads[x->life].process];
	bool gc = during_gc(x);

	if (!gc && stop_lasts(x)) {
		x->r->name = p->safepoint_name;
		gc = p->gc_seen && p->gc_end > p->safepoint_begin;
		return gc ? MODEL_WAIT_GC : MODEL_WAIT_SAFEPOINT;
	}
	if ((!gc && !woken_by_vm(x)) || waited_before(x, gc))
		return MODEL_WAIT_VM;
	x->r->name = safepoint_during(x->m, x->m->threads[x->life].process, x->begin, x->end);
	return gc ? MODEL_WAIT_GC : MODEL_WAIT_SAFEPOINT;
}

/* Without words and calls: the VM lets a Java thread go on, and was in a stop meanwhile. */
static bool stopped_by_vm(const struct waiting *x)
{
	return x->w->java && !x->disk && woken_by_vm(x) && !waited_before(x, during_gc(x)) &&
	       (during_gc(x) ||
		safepoint_during(x->m, x->m->threads[x->life].process, x->begin, x->end));
}

/* Another thread initialises @class (0: not known which) that this one needs; it wakes it. */
static void why_class(const struct waiting *x, uint32_t class)
{
	char text[2 * JIS_STRING_MAX] = "class initialisation";

	if (class)
		snprintf(text, sizeof(text), "class initialisation: %s", model_name(x->m, class));
	x->r->name = name_intern(x->m, text, strlen(text));
}

/* From its wake-up until it tells, a thread may have to wait for a CPU. */
#define CLASS_TOLD_NS 200000000u

/* The words of Object.wait. */
static enum model_reason_kind why_object(const struct waiting *x)
{
	uint32_t class = class_wait_of(x->m, x->life, x->end, CLASS_TOLD_NS);
	enum model_reason_kind kind;

	if (!class && !would_tell(x, JWAIT_OBJECT))
		return MODEL_WAIT_OBJECT;
	kind = why_vm(x);
	if (kind == MODEL_WAIT_VM)
		why_class(x, class);
	return kind;
}

/* Without words: the thread tells soon that it has waited for a class. An inference. */
static bool class_was_told(const struct waiting *x)
{
	const struct why *waker = waker_of(x);
	uint32_t class;

	if (!x->w->java || (waker && !waker->java)) /* who has initialised it runs Java code */
		return false;
	class = class_wait_of(x->m, x->life, x->end, CLASS_TOLD_NS);
	if (!class)
		return false;
	why_class(x, class);
	x->r->sampled = true;
	return true;
}

/*
 * The VM's own locks have the same words as a program's waits: its monitors those of a park (for a
 * VM operation that the thread has asked for), the wait for a class that another thread initialises
 * those of Object.wait. Where the thread tells its own waits, one that it has not told is such.
 */
static enum model_reason_kind why_words(const struct waiting *x)
{
	switch (x->w->os_state) {
	case OS_MONITOR:
		return MODEL_WAIT_MONITOR;
	case OS_OBJECT:
		return why_object(x);
	case OS_SLEEPING:
		return MODEL_WAIT_SLEEP;
	case OS_CONDITION:
		/* the VM's operating thread unparks nobody */
		return would_tell(x, JWAIT_PARK) || woken_by_vm(x) ? why_vm(x) : MODEL_WAIT_PARK;
	default:
		return why_vm(x);
	}
}

/* Of some JDKs 21: who waits for a class that another thread initialises waits there. */
static bool lock_of_class(const struct model *m, uint32_t lock)
{
	return !strcmp(model_name(m, lock), "InstanceKlassInitMonitor_lock");
}

/* Whose lock the futex is that a Java thread is recorded to wait on; NULL: not known. */
static const struct model_futex *futex_waited(const struct waiting *x, enum call_class class)
{
	const struct why *w = x->w;

	if (class != CALL_FUTEX || w->call < 0 || !w->java || w->role)
		return NULL;
	return futex_of(x->m, x->m->threads[x->life].process, w->size, x->end);
}

/*
 * It is one of the VM, or of what runs in it below Java, and has a name: no wait of a program's has
 * such. What the thread then waits for may still be a stop, or a class, of which more is known than
 * the lock.
 */
static bool why_lock(const struct waiting *x, enum call_class class)
{
	const struct model_futex *lock = futex_waited(x, class);

	if (!lock)
		return false;
	x->r->kind = lock->from == JIS_FUTEX_VM ? why_vm(x) : MODEL_WAIT_VM;
	if (x->r->kind == MODEL_WAIT_VM &&
	    !(lock_of_class(x->m, lock->name) && class_was_told(x))) {
		x->r->name = lock->name;
		x->r->sampled = false;
	}
	return true;
}

/* A futex, and the thread itself has said nothing of a wait. */
static enum model_reason_kind why_futex(const struct waiting *x)
{
	const struct why *w = x->w;

	if (w->role)
		return MODEL_WAIT_VM_IDLE;
	switch (vm_state(w)) {
	case VM_BLOCKED:
		x->r->sampled = true;
		return why_words(x);
	case VM_IN_VM:
		x->r->sampled = true;
		return why_vm(x);
	case VM_NATIVE:
		return MODEL_WAIT_FUTEX;
	case VM_JAVA:
		model_conflict_count(x->m, MODEL_CONFLICT_IN_JAVA, who_is(x->m, x->life));
		return MODEL_WAIT_FUTEX;
	}
	/* Without words: who wakes a Java thread tells of a stop. */
	if (w->java && woken_by_vm(x))
		return why_vm(x);
	return class_was_told(x) || lock_passed_on(x) ? MODEL_WAIT_VM : MODEL_WAIT_FUTEX;
}

/* Reading from, or writing to, a descriptor: what it is says what it waits for. */
static enum model_reason_kind why_descriptor(const struct waiting *x, bool reads)
{
	const struct fd *f = fd_find(x->m, x->m->threads[x->life].process, x->r->fd);
	enum model_reason_kind kind = f ? fd_kind(f, reads) : MODEL_WAIT_UNKNOWN;

	if (kind != MODEL_WAIT_UNKNOWN)
		return kind;
	return x->w->flags & WHY_IOWAIT ? MODEL_WAIT_DISK : MODEL_WAIT_SYSCALL;
}

/* The kernel blocked it and it was in no call: then it was in a fault, or on its way out. */
static enum model_reason_kind why_user_mode(const struct waiting *x)
{
	if (x->m->lives[x->life].flags & LIFE_EXITING)
		return MODEL_WAIT_EXIT;
	x->r->sampled = true;
	return x->disk ? MODEL_WAIT_PAGE_FAULT : MODEL_WAIT_UNKNOWN;
}

static enum model_reason_kind why_call(const struct waiting *x, enum call_class class)
{
	static const uint8_t simple[] = {
		[CALL_RECEIVE] = MODEL_WAIT_SOCKET_READ, [CALL_SEND] = MODEL_WAIT_SOCKET_WRITE,
		[CALL_ACCEPT] = MODEL_WAIT_ACCEPT,	 [CALL_CONNECT] = MODEL_WAIT_CONNECT,
		[CALL_POLL] = MODEL_WAIT_POLL,		 [CALL_FILE] = MODEL_WAIT_FILE,
		[CALL_SLEEP] = MODEL_WAIT_TIMER,	 [CALL_PROCESS] = MODEL_WAIT_PROCESS,
		[CALL_SIGNAL] = MODEL_WAIT_SIGNAL,	 [CALL_EXEC] = MODEL_WAIT_FILE,
		[CALL_LAST] = MODEL_WAIT_EXIT,
	};
	bool iowait = x->w->flags & WHY_IOWAIT;

	switch (class) {
	case CALL_NONE:
		return why_user_mode(x);
	case CALL_UNKNOWN:
		if (x->w->role && !x->disk)
			return MODEL_WAIT_VM_IDLE;
		if (stopped_by_vm(x))
			return why_vm(x);
		if (!x->disk && (class_was_told(x) || lock_passed_on(x)))
			return MODEL_WAIT_VM;
		return iowait ? MODEL_WAIT_DISK : MODEL_WAIT_UNKNOWN;
	case CALL_READ:
	case CALL_WRITE:
		return why_descriptor(x, class == CALL_READ);
	case CALL_FUTEX:
		return why_futex(x);
	case CALL_MEMORY:
		return iowait ? MODEL_WAIT_DISK : MODEL_WAIT_MEMORY;
	case CALL_OTHER:
	case CALL_YIELD:
		return iowait ? MODEL_WAIT_DISK : MODEL_WAIT_SYSCALL;
	default:
		return (enum model_reason_kind)simple[class];
	}
}

/* The connection whose bytes ended the wait says more than the descriptor it is registered with. */
static void poll_peer(const struct waiting *x)
{
	uint32_t name = conn_ended_poll(x->m, x->life, x->w->fd);

	if (name)
		x->r->name = name;
}

/* A descriptor that was told of after the call on it began may say since when it is that. */
static uint32_t name_since(const struct waiting *x)
{
	const struct fd *f = fd_find(x->m, x->m->threads[x->life].process, x->w->fd);

	return f && f->since <= x->w->entered ? f->name : 0;
}

/* Which call it is blocked in: the recorded one; else what the switch said. */
static enum call_class call_of(const struct waiting *x)
{
	const struct why *w = x->w;
	bool left = w->flags & WHY_LEFT;

	if (w->call >= 0) {
		if (left && w->syscall >= 0 && w->syscall != w->call)
			model_conflict_count(x->m, MODEL_CONFLICT_OTHER_CALL,
					     who_is(x->m, x->life));
		x->r->syscall = w->call;
		x->r->fd = w->fd;
		x->r->name = w->name ? w->name : name_since(x);
		return call_class(x->m, w->call);
	}
	x->r->syscall = left ? w->syscall : JIS_SYSCALL_UNKNOWN;
	return call_class(x->m, x->r->syscall);
}

/* Can a thread that waits for @kind be seen in such an OS state? */
static bool words_agree(uint8_t kind, uint8_t os_state)
{
	static const uint8_t own[NR_JWAITS] = {
		[JWAIT_MONITOR] = OS_MONITOR,
		[JWAIT_OBJECT] = OS_OBJECT,
		[JWAIT_PARK] = OS_CONDITION,
		[JWAIT_SLEEP] = OS_SLEEPING,
	};

	if (os_state == own[kind] || kind == JWAIT_JOIN || kind == JWAIT_POOL)
		return true;
	/* Sleeping is done on a condition; a wait ends by entering its monitor again; a join is
	 * whatever it holds. */
	if (kind == JWAIT_OBJECT)
		return os_state == OS_MONITOR;
	return kind == JWAIT_SLEEP && os_state == OS_CONDITION;
}

/*
 * The Java thread said it waits, and is in a futex or in a call of which nothing is known: is that
 * what it waits for? The VM's words may tell that it is not, at this moment: what is inside wins.
 */
static bool why_java(const struct waiting *x, const struct jwait *w)
{
	const struct why *why = x->w;

	switch (vm_state(why)) {
	case VM_BLOCKED:
		if (why->os_state == OS_RUNNABLE) {
			x->r->kind = why_vm(x);
			return false;
		}
		if (words_agree(w->kind, why->os_state))
			return true;
		model_conflict_count(x->m, MODEL_CONFLICT_WORDS, who_is(x->m, x->life));
		x->r->kind = why_futex(x);
		return false;
	case VM_IN_VM:
		x->r->kind = why_vm(x);
		return false;
	case VM_NATIVE:
		x->r->kind = MODEL_WAIT_FUTEX;
		return false;
	case VM_JAVA:
		model_conflict_count(x->m, MODEL_CONFLICT_IN_JAVA, who_is(x->m, x->life));
		break;
	}
	return true;
}

/* Can a thread be blocked there because of a Java wait? */
static bool call_fits_java(const struct waiting *x, enum call_class class)
{
	return class == CALL_FUTEX || (class == CALL_UNKNOWN && !x->disk);
}

/* ... or may it happen on the way: for memory, a fault, the scheduler. */
static bool call_on_the_way(enum call_class class)
{
	return class == CALL_NONE || class == CALL_UNKNOWN || class == CALL_MEMORY ||
	       class == CALL_OTHER || class == CALL_YIELD;
}

/*
 * A worker may do other things on its way to the next task; whoever joins a thread, and a virtual
 * thread that parks or sleeps, runs Java code before it waits, which may load a class from a file.
 */
static bool runs_java(const struct jwait *w, const struct jthread *j)
{
	return w->kind == JWAIT_POOL || w->kind == JWAIT_JOIN ||
	       (j->virtual && (w->kind == JWAIT_PARK || w->kind == JWAIT_SLEEP));
}

static void why_waiting(const struct waiting *x)
{
	struct model_reason *r = x->r;
	enum call_class class = call_of(x);
	struct jthread *j;
	struct jwait *w, *of;
	bool fits;

	if (x->w->flags & WHY_FAULT) {
		r->kind = MODEL_WAIT_PAGE_FAULT;
		r->value = x->w->address;
		return;
	}
	if (why_lock(x, class))
		return;
	w = jwait_of(x->m, x->life, x->begin, &j);
	/* Who waits for a descriptor parks. Before that it has the descriptor watched. */
	if (w && w->kind == JWAIT_DESCRIPTOR)
		w = NULL;
	fits = call_fits_java(x, class);
	if (w && !fits && !call_on_the_way(class) && !runs_java(w, j))
		model_conflict_count(x->m, MODEL_CONFLICT_CALL, who_is(x->m, x->life));
	if (!w || !fits) {
		r->kind = why_call(x, class);
		if (r->kind == MODEL_WAIT_DISK && x->w->flags & WHY_DISK)
			r->value = x->w->dev;
		else if (r->kind == MODEL_WAIT_POLL)
			poll_peer(x);
		return;
	}
	if (!why_java(x, w))
		return;
	of = jwait_reason(x->m, w, j, r);
	of->blocked += x->end - x->begin;
	of->pinned += j->virtual ? x->end - x->begin : 0;
	/* It has been notified and enters the monitor again. */
	if (w->kind == JWAIT_OBJECT && vm_state(x->w) == VM_BLOCKED && x->w->os_state == OS_MONITOR)
		r->kind = MODEL_WAIT_MONITOR;
}

static const struct model_reason *why_blocked(struct model *m, uint32_t life, bool disk,
					      uint64_t begin, uint64_t end)
{
	const struct waiting x = {
		.m = m,
		.life = life,
		.w = &m->whys[life],
		.disk = disk,
		.begin = begin,
		.end = end,
		.r = &m->reason,
	};

	m->reason = plain[MODEL_WAIT_UNKNOWN];
	why_waiting(&x);
	m->reason.pinned = x.w->mounted != NULL;
	m->whys[life].waited = (uint8_t)m->reason.kind;
	m->whys[life].awake = end;
	return &m->reason;
}

/* Taken off its CPU, or in the call that gives it up. */
static enum model_reason_kind why_preempted(const struct model *m, const struct why *w)
{
	int32_t call = w->call >= 0 ? w->call : JIS_SYSCALL_UNKNOWN;

	if (call < 0 && w->flags & WHY_LEFT)
		call = w->syscall;
	return call_class(m, call) == CALL_YIELD ? MODEL_READY_YIELDED : MODEL_READY_PREEMPTED;
}

const struct model_reason *reason_of(struct model *m, uint32_t life, enum model_state_kind kind,
				     uint64_t begin, uint64_t end)
{
	switch (kind) {
	case MODEL_RUNNING:
		return why_running(m, &m->whys[life]);
	case MODEL_READY:
		if (m->lives[life].flags & LIFE_THROTTLED)
			return &plain[MODEL_READY_THROTTLED];
		return &plain[m->lives[life].flags & LIFE_PREEMPTED
				      ? why_preempted(m, &m->whys[life])
				      : MODEL_READY_WOKEN];
	case MODEL_STOPPED:
		return &plain[MODEL_WAIT_STOPPED];
	case MODEL_BLOCKED_INTERRUPTIBLE:
	case MODEL_BLOCKED_UNINTERRUPTIBLE:
		return why_blocked(m, life, kind == MODEL_BLOCKED_UNINTERRUPTIBLE, begin, end);
	default:
		return &plain[MODEL_REASON_NONE];
	}
}
