/* SPDX-License-Identifier: MIT */
/*
 * A recording's life in the JVM, from the recorder's welcome to the moment when nothing of it is
 * left but the probes' classes and the library: there may be any number of them, one after the
 * other.
 *
 *   IDLE --life_begin()--> BEGUN --life_live()--> BEGUN --the control thread--> ENDING --> IDLE
 *
 * The control thread, one a recording, waits for the recorder and undoes everything when that is
 * gone or wants an end. It is a thread of the JVM only while it has to do with it.
 */
#include "compat.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "enters.h"
#include "families.h"
#include "methods.h"
#include "vmlog.h"

#define QUIET_MS 3000
#define ENDING_SECONDS 10

enum { IDLE, BEGUN, ENDING };

__u32 agent_control_tid;

static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER; /* of the state */
static pthread_cond_t life_changed = PTHREAD_COND_INITIALIZER;
static int life_state;
/* Held while a recording is put into a live JVM, or taken out of it. */
static pthread_mutex_t jvm_lock = PTHREAD_MUTEX_INITIALIZER;
static int vm_live, vm_dead;
static int in_jvm;	/* under jvm_lock: there is something to undo */
static int pool_left;	/* the pool's place cannot be used again: somebody was still inside */
static int in_probes;	/* threads may be in probes, told by no mark: see probes_quiet() */
static int tables_left; /* the families know what is of the last recording */

static void state_set(int state)
{
	pthread_mutex_lock(&life_lock);
	life_state = state;
	pthread_cond_broadcast(&life_changed);
	pthread_mutex_unlock(&life_lock);
}

/* From IDLE to BEGUN, after the end of the one before. Returns 0, -EALREADY or -ETIMEDOUT. */
static int state_begin(void)
{
	struct timespec limit;
	int error = 0;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += ENDING_SECONDS;
	pthread_mutex_lock(&life_lock);
	while (life_state == ENDING && !error)
		error = pthread_cond_timedwait(&life_changed, &life_lock, &limit);
	/* The end may have come at the last moment: the time is over, and yet it is not too late.
	 */
	error = life_state == IDLE ? 0 : life_state == BEGUN ? EALREADY : ETIMEDOUT;
	if (!error)
		life_state = BEGUN;
	pthread_mutex_unlock(&life_lock);
	return -error;
}

/* The pool ----------------------------------------------------------------------------------- */

#ifndef MADV_POPULATE_WRITE /* glibc 2.35 */
#define MADV_POPULATE_WRITE 23
#endif

/*
 * Page tables, so that writers seldom fault; the pages are the recorder's already. While the JVM
 * goes on: it takes a microsecond a page. In pieces, as nobody else can map anything meanwhile.
 */
static void pool_populate(void)
{
	const volatile char *pool = agent.pool;
	size_t piece = (size_t)1 << 20, at, page = (size_t)sysconf(_SC_PAGESIZE);

	for (at = 0; at < agent.pool_size; at += page) {
		if (at % piece == 0 && agent.pool_size - at >= piece &&
		    madvise((char *)agent.pool + at, piece, MADV_POPULATE_WRITE) == 0)
			at += piece - page;
		else
			(void)pool[at]; /* before Linux 5.14: a page of a memfd is mapped for both
					 */
	}
}

/*
 * Takes the pool out of the process. Where a thread is still inside, its memory is replaced and not
 * unmapped, as the thread may be in the middle of a record; the place is given back later.
 */
static void pool_release(void)
{
	if (slots_quiet(pool_left ? 0 : QUIET_MS) && !in_probes) {
		munmap(agent.pool, agent.pool_size);
		pool_left = 0;
		names_reset();
		return;
	}
	if (!pool_left &&
	    mmap(agent.pool, agent.pool_size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == MAP_FAILED)
		agent_debug("the pool stays mapped: %s", strerror(errno));
	pool_left = 1;
}

/* Nobody may follow addresses that are no longer taken back. */
static void words_clear(void)
{
	struct jis_writer *w = &agent.writer;
	__u32 i;

	for (i = 0; w->words && i < w->nr_words; i++)
		__atomic_store_n(&w->words[i].tid, 0, __ATOMIC_RELEASE);
}

/* The JVM ------------------------------------------------------------------------------------ */

/* JVMTI tells its phase to its own threads only. */
static int vm_is_live(void)
{
	return __atomic_load_n(&vm_live, __ATOMIC_ACQUIRE) &&
	       !__atomic_load_n(&vm_dead, __ATOMIC_ACQUIRE);
}

/* Makes the calling thread one of the JVM's, which must be live; NULL: cannot be. */
static JNIEnv *vm_enter(void)
{
	JavaVMAttachArgs args = {JNI_VERSION_10, (char *)"jis-control", NULL};
	JNIEnv *env = NULL;
	jint error;

	if (!vm_is_live())
		return NULL;
	error = (*agent.vm)->AttachCurrentThreadAsDaemon(agent.vm, (void **)&env, &args);
	if (error == JNI_OK)
		return env;
	agent_debug("the JVM takes no further thread: JNI error %d", error);
	return NULL;
}

static void vm_leave(JNIEnv *env)
{
	if (env)
		(*agent.vm)->DetachCurrentThread(agent.vm);
}

void life_vm_death(void)
{
	__atomic_store_n(&vm_dead, 1, __ATOMIC_RELEASE);
}

/*
 * Until then the JVM has kept no notes of what its compiled code depends on (17 and 21 were
 * measured; 25 does not do so).
 */
static void tell_first_rewrite(void)
{
	static int told;

	if (told || agent.vm_version >= 25)
		return;
	told = 1;
	recorder_note(
		"Java %u throws away compiled code at the first rewriting of a class after an "
		"attach: the program is slower until it is compiled again (--no-rewrite "
		"attaches without)",
		agent.vm_version);
}

static void capabilities_give_back(void)
{
	jvmtiCapabilities held;

	memset(&held, 0, sizeof(held));
	if (!(*agent.jvmti)->GetCapabilities(agent.jvmti, &held))
		(*agent.jvmti)->RelinquishCapabilities(agent.jvmti, &held);
}

/* With nothing recorded. Where a thread is still inside it is left to the next begin. */
static void tables_forget(JNIEnv *env)
{
	if (!tables_left || !slots_quiet(0))
		return;
	families_forget(env);
	tables_left = 0;
}

/* Takes the recording out of the JVM: classes, events, capabilities. Under jvm_lock. */
static void jvm_undo(JNIEnv *env)
{
	static const jvmtiEvent own[] = {JVMTI_EVENT_VM_START, JVMTI_EVENT_VM_INIT,
					 JVMTI_EVENT_VM_DEATH};
	unsigned int i;

	if (in_jvm)
		hooks_remove(env);
	families_events_disable();
	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_DISABLE, own[i], NULL);
	if (in_jvm)
		families_disable(env);
	capabilities_give_back();
	in_jvm = 0;
}

void life_live(JNIEnv *env)
{
	pthread_mutex_lock(&jvm_lock);
	__atomic_store_n(&vm_live, 1, __ATOMIC_RELEASE);
	if (agent_recording()) {
		in_jvm = 1;
		families_enable(env);
		families_events_enable(0);
		families_enabled(env);
		hooks_install(env);
		methods_install(env);
		enters_install(env);
		recorder_ready();
	} else {
		jvm_undo(env); /* it ended before the JVM began to live */
	}
	pthread_mutex_unlock(&jvm_lock);
}

/* On the control thread. */
void life_methods(unsigned int asked, const char *rules)
{
	char text[JIS_AGENT_TEXT_MAX] = "the JVM does not run";
	JNIEnv *env = vm_enter();
	int error = -ESRCH;

	if (env) {
		pthread_mutex_lock(&jvm_lock);
		if (in_jvm && agent_recording())
			error = methods_change(env, asked, rules, text, sizeof(text));
		pthread_mutex_unlock(&jvm_lock);
	}
	vm_leave(env);
	recorder_methods_done(error, text);
}

/* On the control thread. */
void life_methods_later(void)
{
	JNIEnv *env = vm_enter();

	if (!env)
		return;
	pthread_mutex_lock(&jvm_lock);
	if (in_jvm && agent_recording())
		methods_rewrite_later(env);
	pthread_mutex_unlock(&jvm_lock);
	vm_leave(env);
}

/*
 * With no recording under way. Probes look at nothing but their thread's words, which may be in the
 * pool: when nobody can set them any more, they are forgotten, and when nobody is in a probe that
 * saw them before, the pool may go.
 */
static void probes_end(JNIEnv *env, int ms)
{
	in_probes = !slots_quiet(ms);
	slots_forget_words();
	if (!probes_quiet(env))
		in_probes = 1;
}

/* The same for a thread that is none of the JVM's. */
static void jvm_leave_alone(void)
{
	JNIEnv *env = vm_enter();

	if (env) {
		pthread_mutex_lock(&jvm_lock);
		jvm_undo(env);
		probes_end(env, 0);
		tables_forget(env);
		pthread_mutex_unlock(&jvm_lock);
		vm_leave(env);
	} else if (vm_is_live()) {
		agent_warn("the JVM takes no further thread: its classes stay as they are");
	}
}

/* The end ------------------------------------------------------------------------------------ */

static void writing_end(void)
{
	agent_recording_set(0);
	jis_writer_off(&agent.writer);
	jis_words_close_all(&agent.writer);
}

/* Nobody is inside when the JVM's part is undone, so nothing comes after it. */
static void recording_end(int asked)
{
	state_set(ENDING);
	writing_end();
	in_probes = !probes_quiet(NULL);
	if (!slots_quiet(QUIET_MS))
		agent_debug("a thread is still inside of the agent");
	jvm_leave_alone();
	methods_later_close();
	words_clear();
	pool_release();
	__atomic_store_n(&jis_agent_at_work, AGENT_HAS_WORKED, __ATOMIC_RELEASE);
	if (!asked && !__atomic_load_n(&vm_dead, __ATOMIC_ACQUIRE))
		agent_warn("the recorder is gone: this JVM is no longer recorded");
	agent_debug("the recording has ended");
}

/* @live: the JVM ran before, and has not been asked for anything yet. */
static void *control_thread(void *live)
{
	JNIEnv *env;
	int asked;

	prctl(PR_SET_NAME, "jis-control");
	agent_control_tid = agent_tid();
	pool_populate();
	if (live) {
		__atomic_store_n(&vm_live, 1, __ATOMIC_RELEASE);
		env = vm_enter();
		if (env)
			life_live(env);
		vm_leave(env);
	}
	asked = recorder_wait();
	recorder_begin_over();
	vmlogs_read();
	recording_end(asked);
	agent_control_tid = 0;
	/* In this order: who sees the end of the connection can begin anew. */
	state_set(IDLE);
	recorder_close();
	return NULL;
}

static int control_start(int live)
{
	sigset_t all, old;
	pthread_t thread;
	int error;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old); /* on Linux: of this thread */
	error = pthread_create(&thread, NULL, control_thread, live ? &vm_dead : NULL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (!error)
		pthread_detach(thread);
	return -error;
}

/* The begin ---------------------------------------------------------------------------------- */

static void vm_info_write(void)
{
	struct jis_ev_vm_info fixed = {.pid = (__u32)getpid(), .version = agent.vm_version};

	dict_write(JIS_EV_vm_info, &fixed, offsetof(struct jis_ev_vm_info, text_length),
		   agent.vm_name, strlen(agent.vm_name));
}

/* What was begun and cannot be: nothing has been asked of the JVM yet. */
static void begin_undo(JNIEnv *live)
{
	writing_end();
	probes_end(live, QUIET_MS);
	pool_release();
	recorder_close();
}

/* With the state BEGUN. */
static int begin(const char *path, JNIEnv *live, char *why, size_t n)
{
	int error;

	if (in_probes || pool_left)
		probes_end(live, 0);
	if (pool_left)
		pool_release();
	if (live)
		tables_forget(live);
	if (pool_left || tables_left) {
		snprintf(why, n, "a thread of this JVM is stuck inside of the agent");
		return -EBUSY;
	}
	slots_forget_words();
	error = recorder_connect(path, why, n);
	if (error)
		return error;
	agent.generation++;
	if (!agent.generation)
		agent.generation = 1;
	if (agent.no_vm_states)
		agent.features &= ~JIS_FEATURE_VM_STATES;
	if (!agent.hotspot)
		recorder_note("%s is not HotSpot: only standard JVMTI events are recorded",
			      agent.vm_name);
	tables_left = 1;
	agent_recording_set(1);
	__atomic_store_n(&jis_agent_at_work, AGENT_AT_WORK, __ATOMIC_RELEASE);
	vm_info_write();
	families_capabilities();
	families_events_enable(1);
	if (live && hooks_define(live) == 0 && !agent.no_rewrite)
		tell_first_rewrite();
	error = control_start(live != NULL);
	if (error) {
		snprintf(why, n, "cannot start a thread: %s", strerror(-error));
		begin_undo(live);
	}
	return error;
}

int life_begin(const char *path, JNIEnv *live, char *why, size_t n)
{
	int error = state_begin();

	if (error == -EALREADY && recorder_is(path))
		return -EALREADY;
	if (error) {
		snprintf(why, n,
			 error == -EALREADY ? "another recorder records this JVM"
					    : "the last recording of this JVM has not ended yet");
		return -EBUSY;
	}
	error = begin(path, live, why, n);
	if (error)
		state_set(IDLE);
	return error;
}
