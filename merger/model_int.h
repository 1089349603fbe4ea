/* SPDX-License-Identifier: MIT */
/*
 * The inside of the model: the functions its files share, and the way for tests to feed it event by
 * event. model_data.h has what they work on. Nothing outside of merger/ and its unit tests includes
 * this.
 */
#ifndef JIS_MERGER_MODEL_INT_H
#define JIS_MERGER_MODEL_INT_H

#include "model_data.h"

/* model_core.c: life of a model, whatever feeds it ------------------------------------------- */

/**
 * model_new - a model over @manifest, which stays the caller's and must outlive it.
 * @streams, @nr: the cursors events will come from; told apart by their address.
 * Returns 0, -ENOMEM or -EINVAL.
 */
int model_new(const struct manifest *manifest, const struct model_options *options,
	      const struct stream_cursor *streams, uint32_t nr, struct model **out);
void model_free(struct model *m);
/* Tells the sinks of the beginning. Returns 0 or a sink's error. */
int model_begin(struct model *m, const struct model_sink *const *sinks, uint32_t nr_sinks);
/* A packet of cursor @c begins: as struct stream_observer. */
void model_packet(struct model *m, const struct stream_cursor *c,
		  const struct jis_packet_header *header);
/* Cursor @c stands on the next event of the merge. Returns 0 or the error that ends the run. */
int model_feed(struct model *m, const struct stream_cursor *c);
/* Ends all open states. Returns 0 or the first error of the run. */
int model_finish(struct model *m);

/* Does what --thread @wanted pass @name or @id (NONE: it has none)? */
bool name_selected(const char *wanted, const char *name, uint32_t id);

/* model_threads.c ---------------------------------------------------------------------------- */

int model_threads_init(struct model *m);
void model_threads_fini(struct model *m);
/* The last life of @tid before that of time @t; NONE where the tables have none. */
uint32_t thread_advance(struct model *m, uint32_t life, uint64_t t);
/*
 * exec_swap - the kernel has exchanged the tids of a dying leader and a thread of it that calls
 * exec: until the tables' new life of the leader's tid begins, either's tid means the other.
 */
void exec_swap(struct model *m, uint32_t leader, uint32_t thread);
/* Is @life one that the exec of a thread which was not the leader has begun? */
bool exec_born(const struct model *m, uint32_t life);
/* A record of @tid on a CPU that @here holds under another tid: looks whether an exec is why. */
void exec_notice(struct model *m, uint32_t here, uint32_t tid, uint64_t t);
/* Life of process @process that is @tid inside of it at @t, or NONE. */
uint32_t thread_inside(struct model *m, uint32_t process, uint32_t tid, uint64_t t);
/* Index in manifest->foreigners of @tid at @t, or NONE. */
uint32_t foreign_at(const struct model *m, uint32_t tid, uint64_t t);

/* Life of kernel thread @tid at @t, or NONE when it is no target's. */
static inline uint32_t thread_at(struct model *m, uint32_t tid, uint64_t t)
{
	const uint32_t *page =
		tid >> TID_PAGE_BITS < m->nr_tid_pages ? m->tid_pages[tid >> TID_PAGE_BITS] : NULL;
	uint32_t life = page ? page[tid & ((1u << TID_PAGE_BITS) - 1)] : NONE;

	if (life == NONE)
		return NONE;
	if (m->lives[life].next_first <= t)
		life = thread_advance(m, life, t);
	if (__builtin_expect(m->lives[life].flags & LIFE_SWAPPED, 0))
		return m->lives[life].other;
	return m->lives[life].first <= t ? life : NONE;
}

/* model_hosts.c ------------------------------------------------------------------------------ */

int hosts_init(struct model *m);
void hosts_fini(struct model *m);
/* Nothing that @host does is recorded from @t on, or it is again. */
void host_pause(struct model *m, uint32_t host, uint64_t t);
void host_resume(struct model *m, uint32_t host);
/* The recording of @host, one of several, ends. */
void host_stop(struct model *m, uint32_t host, uint64_t t);
/* Records of a CPU of @host are missing until @until. */
void host_doubt(struct model *m, uint32_t host, uint64_t until);
/* On which machine @process is: two hosts of the trace may be sessions of one. */
uint32_t machine_of(const struct model *m, uint32_t process);
/* How many ns times of two processes at @t may be wrong in relation to each other; UINT64_MAX: not
 * known. */
uint64_t hosts_error(const struct model *m, uint32_t process, uint32_t other, uint64_t t);

static inline bool host_paused(const struct model *m, uint32_t host)
{
	return m->paused && m->hosts[host].paused;
}

/* Are records of @host missing at @t? */
static inline bool host_doubted(const struct model *m, uint32_t host, uint64_t t)
{
	return t < m->doubt_until && t < m->hosts[host].doubt_until;
}

/* model_states.c ----------------------------------------------------------------------------- */

/* Ends the open state of @life at @t and begins @kind. MODEL_RUNNING goes through life_run(). */
void life_set(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
	      uint64_t t);
/* @life runs on @cpu from @t on; its CPU before and the CPU's former thread are seen to. */
void life_run(struct model *m, uint32_t life, uint32_t cpu, uint32_t tid, uint64_t t);
/* @life leaves its CPU at @t for @kind; @successor: the target that takes the CPU, or NONE. */
void life_leave(struct model *m, uint32_t life, enum model_state_kind kind, bool preempted,
		uint32_t successor, uint64_t t);
/* What is open is UNKNOWN, from its begin. */
void life_doubt(struct model *m, uint32_t life, uint64_t t);
/* Evidence against the open state, @error: counted, and what was open is UNKNOWN. */
void life_contradict(struct model *m, uint32_t life, enum model_error error, uint64_t t);
/*
 * life_unseen - @life is at work on @cpu at @t. Where it was ready, or about to be woken, and the
 * CPU idle or unknown, the kernel has not told of the switch to it: counted, and what was open is
 * UNKNOWN.
 */
void life_unseen(struct model *m, uint32_t life, uint32_t cpu, uint64_t t);
/* Is it blocked, and has its sched_waking come? */
bool life_waking(const struct life *l);
/* On a CPU or ready since @t, it is not known which. */
void life_runnable(struct model *m, uint32_t life, bool woken, uint64_t t);
/* What a switch tells of a LIFE_RUNNABLE life: it was READY (@cpu NONE), or running on @cpu. */
void life_resolve(struct model *m, uint32_t life, uint32_t cpu, uint64_t t);
/* @life was seen at work on @cpu: evidence of one whose state is UNKNOWN, or for life_unseen(). */
void life_seen(struct model *m, uint32_t life, uint32_t cpu, uint64_t t);
/* What @life runs is another thing from @t on. */
void life_pass(struct model *m, uint32_t life, uint64_t t);
/* What @life is in, while nothing is known of its state, is another thing from @t on. */
void life_pass_unknown(struct model *m, uint32_t life, uint64_t t);
void lives_unknown(struct model *m, uint32_t host, uint32_t cpu, uint64_t t);
void lives_finish(struct model *m);

/* model_cpu.c -------------------------------------------------------------------------------- */

void cpu_set(struct model *m, uint32_t cpu, enum model_occupant occupant, uint32_t thread,
	     uint32_t tid, uint64_t t);
/* The open interval turned out to be wrong. */
void cpu_doubt(struct model *m, uint32_t cpu);
void cpus_finish(struct model *m);
void cpu_switch(struct model *m, uint32_t cpu, const struct jis_ev_sched_switch *ev, uint64_t t);

/* The life that is @tid and works on @cpu: the CPU's own thread before the tid's present owner. */
static inline uint32_t thread_on_cpu(struct model *m, uint32_t cpu, uint32_t tid, uint64_t t)
{
	const struct cpu_run *c = &m->cpus[cpu];

	if (c->occupant == MODEL_CPU_TARGET) {
		if (c->tid == tid)
			return c->thread;
		exec_notice(m, c->thread, tid, t);
	}
	return thread_at(m, tid, t);
}

/* model_wakeups.c ---------------------------------------------------------------------------- */

void wakeup_waking(struct model *m, uint32_t cpu, const struct jis_ev_sched_waking *ev, uint64_t t);
/* @cpu: in whose run queue it is. */
void wakeup_ready(struct model *m, uint32_t tid, uint32_t cpu, bool new_thread, uint64_t t);
/* Tells the link of the wake-up that made @life ready at @ready, from a wait since @begin for
 * @reason, NULL: not known. */
void wakeup_emit(struct model *m, uint32_t life, uint64_t ready, const struct model_reason *reason,
		 uint64_t begin);

/* model_waits.c ------------------------------------------------------------------------------ */

void waits_init(struct model *m);
void waits_fini(struct model *m);
/* @life has become READY in the run queue of life.queue, or is READY there no more. */
void wait_begin(struct model *m, uint32_t life, uint64_t t);
void wait_end(struct model *m, uint32_t life, uint64_t t);
/* The CPU's occupant ends at @t: those who waited behind it are told. */
void waits_until(struct model *m, uint32_t cpu, uint64_t t);
/* A switch at @t says that @tid had the CPU; that was not known. */
void waits_learn(struct model *m, uint32_t cpu, uint32_t tid, uint64_t t);
void wait_migrate(struct model *m, const struct jis_ev_sched_migrate_task *ev, uint64_t t);
void group_name(struct model *m, uint32_t cpu, const struct jis_ev_cgroup_name *ev);
void group_attach(struct model *m, uint32_t life, uint32_t number, uint64_t t);
void group_throttle(struct model *m, const struct jis_ev_cgroup_throttle *ev, uint64_t t);
void cpu_stolen(struct model *m, uint32_t cpu, uint64_t stolen, uint64_t t);

/* model_kernel.c ----------------------------------------------------------------------------- */

void kernel_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void model_recorder_event(struct model *m, const struct stream_cursor *c, uint64_t t);

/* model_loss.c ------------------------------------------------------------------------------- */

/* Looks at a packet's header for what is missing before it. */
void loss_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header);
/* Notes an interval (ticks) of cursor @c; it takes effect when the time comes. */
void loss_add(struct model *m, const struct stream_cursor *c, uint64_t begin, uint64_t end,
	      uint64_t lost, const char *reason);
void loss_record(struct model *m, const struct stream_cursor *c, uint64_t t);
/* The window is over: streams may tell next what they lost in it. */
void losses_behind(struct model *m);
/* Notes that the recording of @host ends at @ticks. */
void loss_host_end(struct model *m, uint32_t host, uint64_t ticks);
/* Applies what is due at @t. */
void loss_due(struct model *m, uint64_t t);
int loss_manifest(struct model *m);

/* model_java.c, model_names.c ---------------------------------------------------------------- */

void user_packet(struct model *m, const struct stream_cursor *c,
		 const struct jis_packet_header *header);
void user_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void dict_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void model_java_fini(struct model *m);
/* Interns @text. Returns its index, or 0 after setting m->error. */
uint32_t name_intern(struct model *m, const char *text, size_t len);
/* 0: there is none. */
uint32_t name_find(const struct model *m, const char *text, size_t len);
void model_names_fini(struct names *n);

struct nest *nest_get(struct model *m, uint32_t process, uint64_t java_tid, uint32_t tid);
struct nest *nest_find(const struct model *m, uint32_t process, uint64_t java_tid, uint32_t tid);
/*
 * Records of a Java thread, or with @java_tid 0 of kernel thread @life, are missing at @t: no span
 * or marker of it is followed any further.
 */
void owner_lost(struct model *m, uint32_t process, uint64_t java_tid, uint32_t life, uint64_t t);
uint32_t string_name(const struct model *m, uint32_t process, uint32_t id);
/*
 * A string_def seen before the trace is read: records that are read late tell of a time before
 * their names were defined. An id with two meanings has none until its time comes.
 */
void string_ahead(struct model *m, uint32_t process, const struct jis_ev_string_def *ev);

/* model_jthreads.c: Java threads ------------------------------------------------------------- */

/* Records of class USER from monitor_contended_enter on. */
void jthread_event(struct model *m, const struct stream_cursor *c, uint64_t t);
/* From the dictionary. @life: kernel thread it starts on, or NONE. */
void jthread_start(struct model *m, uint32_t process, const struct jis_ev_java_thread_start *ev,
		   uint32_t life, uint64_t t);
void jthread_end(struct model *m, struct jthread *j, uint64_t t);
void jthread_free(struct model *m, struct jthread *j);
/* Records of @life are missing: nothing its Java threads said before counts any more. */
void jthreads_lost(struct model *m, uint32_t life, uint64_t t);
/* The same for all Java threads of @host, in time: jthread_fresh() does it to each. */
void jthreads_lost_all(struct model *m, uint32_t host, uint64_t t);
/* Forgets what was said before such a loss. */
void jthread_fresh(struct model *m, struct jthread *j, uint64_t t);
/* The Java thread of that id; made when there is none. NULL: no memory. */
struct jthread *jthread_get(struct model *m, uint32_t process, uint64_t java_tid);
void jthreads_finish(struct model *m);
void jthreads_fini(struct model *m);

/* model_tasks.c: tasks of executors ----------------------------------------------------------- */

/* Records of class USER that tell of tasks. @j: who wrote it, on @life. */
void task_event(struct model *m, const struct stream_cursor *c, struct jthread *j, uint32_t life,
		uint64_t t);
/* Forgets the open tasks of @j. */
void tasks_drop(struct jthread *j);
/* Records are missing: submissions of @process that have not begun may be anyone's. */
void tasks_lost(struct model *m, uint32_t process);
/* Is this object a pool that was told of? */
bool tasks_pool_known(const struct model *m, uint32_t process, uint32_t class_name, uint32_t hash);
void tasks_fini(struct model *m);

/* Is a task under way on @life? */
static inline bool tasks_open(const struct model *m, uint32_t life)
{
	const struct why *w = &m->whys[life];
	const struct jthread *j = w->mounted ? w->mounted : w->java;

	return j && j->tasks;
}
/* Has a task been submitted that is this object, and has not begun? */
bool tasks_pending(const struct model *m, uint32_t process, uint32_t class_name, uint32_t hash);

/* model_queues.c: objects that go from thread to thread --------------------------------------- */

/* JIS_EV_queue_put, JIS_EV_queue_take, by @life. */
void queue_event(struct model *m, const struct stream_cursor *c, uint32_t life, uint64_t t);
/* Records are missing: what is in queues of @process is not known any more. */
void queues_lost(struct model *m, uint32_t process);
void queues_fini(struct model *m);

/* model_remote.c, model_remote_match.c: remote calls ------------------------------------------- */

static inline bool remotes_wanted(const struct model *m)
{
	return m->on_remote.nr || m->on_remote_begin.nr || m->on_remote_end.nr || m->on_link.nr;
}

/* JIS_EV_rmi_*, of @j on @life, which may be NONE. */
void remote_event(struct model *m, const struct stream_cursor *c, struct jthread *j, uint32_t life,
		  uint64_t t);
/* JIS_EV_rmi_connection, from the dictionary. */
void remote_connection(struct model *m, uint32_t process, const struct jis_ev_rmi_connection *ev);
/* What is under way of @j is told, with @why; with that of all threads it must be by the end. */
void remote_dropped(struct model *m, struct jthread *j, enum model_remote_match why);
/* Forgets it. */
void remote_free(struct jthread *j);
/* Tells of all that still wait for their other end. */
void remotes_finish(struct model *m);
void remotes_fini(struct model *m);

/* model_holds.c: monitors that threads have -------------------------------------------------- */

/* Records of class USER; those that tell of no monitor are passed over. To be called from the first
 * JIS_EV_monitor_enter on, which makes m->holds. */
void hold_event(struct model *m, const struct stream_cursor *c, uint64_t t);
void holds_fini(struct model *m);

/* model_doings.c: safepoints, heap, classes, code, allocations -------------------------------- */

/* "Class.method" of a method_def, or 0. */
uint32_t method_name(struct model *m, uint32_t process, uint32_t id);
void doing_event(struct model *m, const struct stream_cursor *c, uint64_t t);
/* Records of @life, or (NONE) of any thread of @process, are missing: was it told there that a
 * collection or a safepoint has ended? */
void doings_lost(struct model *m, uint32_t process, uint32_t life, uint64_t t);
/* VM operation of the safepoint that @process was in at some time of [begin, end); 0: none known.
 */
uint32_t safepoint_during(const struct model *m, uint32_t process, uint64_t begin, uint64_t end);

/* model_vlist.c: which virtual threads have rows ---------------------------------------------- */

/* Adds a virtual thread to the tables; before vthreads_ready(). Times in ns. */
int vthread_add(struct model *m, uint32_t process, uint64_t java_tid, const char *name,
		uint64_t birth);
void vthread_renamed(struct model *m, uint32_t process, uint64_t java_tid, const char *name);
void vthread_died(struct model *m, uint32_t process, uint64_t java_tid, uint64_t death);
/* Reads the dictionaries, and the streams with mounts, of a trace for virtual threads. */
int vthreads_scan(struct model *m, const struct trace *trace);
/* Chooses those of the window. */
int vthreads_ready(struct model *m);
void vthreads_fini(struct model *m);
/* Index in info.vthreads, or NONE. */
uint32_t vthread_row(const struct model *m, uint32_t process, uint64_t java_tid);

/* model_vthreads.c: rows of virtual threads --------------------------------------------------- */

void vthread_mount(struct model *m, struct jthread *j, uint32_t life, uint64_t t);
void vthread_unmount(struct model *m, struct jthread *j, uint64_t t);
/* An unpark of @j by Java thread @by on @waker. */
void vthread_unparked(struct model *m, struct jthread *j, uint32_t waker, uint64_t by, uint64_t t);
void vthread_began(struct model *m, struct jthread *j, bool born, uint64_t t);
void vthread_ended(struct model *m, struct jthread *j, uint64_t t);
/* What is known of @j ends at @t, without another state that is. */
void vthread_lost(struct model *m, struct jthread *j, uint64_t t);
/* The state of @life that carries @j has ended. */
void vthread_carried(struct model *m, const struct jthread *j, const struct model_state *s);
void vthreads_finish(struct model *m);

/* model_calls.c: system calls and descriptors -------------------------------------------------- */

int calls_init(struct model *m);
void calls_fini(struct model *m);
enum call_class call_class(const struct model *m, int32_t nr);
/* Records of class KERNEL that tell of system calls, descriptors, faults and disks. */
void call_event(struct model *m, uint32_t cpu, const struct stream_cursor *c, uint64_t t);
/* An address as text; one of IPv4 within IPv6 as what it is. Returns its length. */
int address_text(char *text, size_t n, uint32_t family, uint64_t a0, uint64_t a1);
/* Does it lead to the host it is used on? */
bool address_loops(uint32_t family, uint64_t a0, uint64_t a1);
/* What who reads from (or writes to) @f waits for; MODEL_WAIT_UNKNOWN: its type is not known. */
enum model_reason_kind fd_kind(const struct fd *f, bool reads);
/*
 * What who waits until @events (POLLIN, ...) of @fd are there waits for; *name: what @fd is, 0 not
 * known. MODEL_WAIT_POLL where no more is known.
 */
enum model_reason_kind fd_wait(const struct model *m, uint32_t process, int32_t fd, uint32_t events,
			       uint32_t *name);

/* The entry of @fd of @process, NULL where there is none; fd_get() makes it, NULL: no memory. */
struct fd *fd_find(const struct model *m, uint32_t process, int32_t fd);
struct fd *fd_get(struct model *m, uint32_t process, int32_t fd);

/* model_conns.c: connections, and who serves them -------------------------------------------- */

int conns_init(struct model *m);
void conns_fini(struct model *m);
/* Descriptor @f is told to be a socket of the internet since @since; or something else. */
void conn_told(struct model *m, struct fd *f, const struct jis_ev_fd_socket *ev, uint64_t since,
	       uint64_t t);
void conn_gone(struct model *m, struct fd *f, uint64_t t);
/* The call in whys[life], on descriptor @f (or NULL), begins, or call @nr ends with @result. */
void conn_enter(struct model *m, uint32_t life, const struct fd *f);
void conn_leave(struct model *m, uint32_t life, int32_t nr, int64_t result, uint64_t t);
/*
 * The name of the connection that ended @life's wait for descriptors of @epoll (-1: of any), where
 * what woke it was on top of a call that sends at the other end; 0: not known.
 */
uint32_t conn_ended_poll(const struct model *m, uint32_t life, int32_t epoll);
/* @life, which may be its process's last thread, exits. */
void conns_exit(struct model *m, uint32_t life, uint64_t t);
/* Kernel records of @host are missing; or its recording ends. */
void conns_lost(struct model *m, uint32_t host);
void conns_stop(struct model *m, uint32_t host, uint64_t t);
void conns_finish(struct model *m);

/* model_links.c ------------------------------------------------------------------------------ */

/* @life, and the virtual thread on it; NONE: nobody. */
struct model_who who_is(const struct model *m, uint32_t life);
/* @j, and the thread it is on. */
struct model_who who_writes(const struct jthread *j);
bool who_selected(const struct model *m, const struct model_who *who);
void link_emit(struct model *m, const struct model_link *link);
/* The wake-up @w of a wait the woken thread told of: its waker may give it what it waits for. */
void link_wakeup(struct model *m, const struct model_wakeup *w);
/* Wait @w of @j has ended at @t with what it was for: the last that is asked of it. */
void link_wait(struct model *m, const struct jthread *j, struct jwait *w, uint64_t t);

/* model_methods.c: calls of traced methods --------------------------------------------------- */

/* A sink wants calls. */
int methods_init(struct model *m, bool bare);
void methods_fini(struct model *m);
/* Records of class USER that tell of calls and of what is traced. */
void method_event(struct model *m, const struct stream_cursor *c, uint64_t t);
/* JIS_EV_methods_changed. */
void methods_changed(struct model *m, uint32_t process, const struct jis_ev_methods_changed *ev,
		     uint64_t t);
/* @life was in @kind until @end: the open calls of who was on it are charged with it. */
void methods_state(struct model *m, uint32_t life, enum model_state_kind kind, uint64_t begin,
		   uint64_t end, const struct model_reason *reason);
/* What @life does is charged up to @t: who is on it changes then. */
void methods_sync(struct model *m, uint32_t life, uint64_t t);
/* Virtual thread @j comes onto @life. */
void methods_mount(struct model *m, struct jthread *j, uint32_t life, uint64_t t);
/* The same of @j, which is on no carrier: its state ends. */
void methods_rested(struct model *m, struct jthread *j, uint64_t t);
/* Records of @life's own thread, or of virtual thread @j, are missing. */
void methods_lost(struct model *m, uint32_t life, uint64_t t);
void methods_lost_virtual(struct model *m, struct jthread *j, uint64_t t);
/* The Java thread that has @life, or virtual thread @j, has ended. */
void methods_ended(struct model *m, uint32_t life, uint64_t t);
void methods_ended_virtual(struct model *m, struct jthread *j, uint64_t t);
/* A virtual thread was on @life that was not known to be: its calls are no longer the carrier's. */
void methods_disown(struct model *m, uint32_t life, uint64_t t);
void methods_finish(struct model *m);
/* The same for @host, whose states have ended at @t. */
void methods_stop(struct model *m, uint32_t host, uint64_t t);
/* model_frames.c */
void callstack_free(struct callstack *s);

/* model_contexts.c: methods and contexts ------------------------------------------------------- */

void traced_method_def(struct model *m, uint32_t process, const struct jis_ev_traced_method *ev);
/* The context of a call of @method in @parent; MODEL_NO_CONTEXT: there are too many. */
uint32_t context_child(struct model *m, uint32_t parent, uint32_t method, bool started);
/* The same, 0: there has been no such call yet. */
uint32_t context_find(const struct model *m, uint32_t parent, uint32_t method, bool started);
/* A call of it was certainly made there. */
void context_sure(struct model *m, uint32_t context);
void contexts_fini(struct model *m);

/* model_stacks.c ----------------------------------------------------------------------------- */

void method_def(struct model *m, uint32_t process, const struct jis_ev_method_def *ev);
void stack_def(struct model *m, uint32_t process, const struct jis_ev_stack_def *ev);

/* model_reason.c ----------------------------------------------------------------------------- */

/* Why @life was in @kind during [begin, end): in the plain table, or in m->reason. */
const struct model_reason *reason_of(struct model *m, uint32_t life, enum model_state_kind kind,
				     uint64_t begin, uint64_t end);
/* One of which nothing but its kind is known. */
const struct model_reason *reason_plain(enum model_reason_kind kind);
void reasons_init(struct model *m);

/* model_errors.c ----------------------------------------------------------------------------- */

/* Counts an error, or a conflict, that the record under way has shown, of @who. */
void model_error_count(struct model *m, enum model_error error, struct model_who who);
void model_conflict_count(struct model *m, enum model_conflict conflict, struct model_who who);
/* A switch or wake-up of @life that contradicts what is known of it: counted as both. */
void model_contradict(struct model *m, enum model_error error, uint32_t life);

/* Telling the sinks: model.c */
void emit_state(struct model *m, uint32_t life, enum model_state_kind kind, uint64_t begin,
		uint64_t end, uint32_t successor);
void emit_event(struct model *m, struct model_event *event);
void emit_running(struct model *m, uint64_t t);

#endif /* JIS_MERGER_MODEL_INT_H */
