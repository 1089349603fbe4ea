/* SPDX-License-Identifier: MIT */
/*
 * The natives that rewritten methods call at entry and exit, and the ways they are called: ordinary
 * JNI, which HotSpot can make cheaper by a flag that must be set before the JVM is up.
 *
 *   17       CriticalJNINatives: the function JavaCritical_... is called without the thread
 *            changing its state
 *   21, 25   UseSystemMemoryBarrier: the change of state needs no fence
 *
 * And, also in a JVM that runs already, a jump in the JVM's own code for the native (wrappers.c),
 * or calls of the same functions by its foreign linker (linker.c). Where none of it can be had the
 * ordinary way is right too, and dearer. The natives touch nothing of Java: they may run in any
 * state.
 */
#include "compat.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "methods.h"
#include "waits.h"

#define LIBRARY_NESTED 1024 /* of so many calls that are not told one is left to the native */
#define LOOP_SUFFIX "Loop"  /* of the class whose probes it calls */
#define LOOP_PAIRS 10000
#define LOOP_ROUNDS 40
#define LOOP_ROUNDS_MIN 16 /* so many are made before HotSpot's last compiler is done */
#define LOOP_SETTLED 4
#define LOOP_NS_MAX 30000000ull
#define C2_WAIT_NS 2000000000ull
#define C2_STEP_NS 1000000

const struct jis_native_method probe_natives[] = {
	{"enter", "(I)V", NULL},
	{"exit", "(I)V", NULL},
	{"enterLibrary", "(I)V", NULL},
	{"exitLibrary", "(I)V", NULL},
	{"valueI", "(III)V", NULL},
	{"valueJ", "(IIJ)V", NULL},
	{"valueF", "(IIF)V", NULL},
	{"valueD", "(IID)V", NULL},
	{"valueL", "(IILjava/lang/Object;)V", NULL},
	{"spanBegin", "(I)V", NULL},
	{"spanEnd", "(I)V", NULL},
	{0},
};

static unsigned int way = JIS_METHOD_WAY_JNI;
static unsigned int way_by_flag = JIS_METHOD_WAY_JNI;
static __u64 pair_picoseconds;
static const char *probe_class = PROBE_CLASS;
static int used; /* threads may call them: also those of a recording that is over */

/* Where a trial writes, as into a packet; of the thread that binds the natives. */
static struct {
	struct jis_writer writer;
	struct jis_slot slot;
	__u64 all;    /* calls that came to trial_write() */
	__u64 leaves; /* of those, BY_JAVA */
	__u32 number; /* what the last was given */
	int natives;  /* what a leaf has not written is left to the native */
	__u8 records[32768];
} trial = {.writer = JIS_WRITER_INITIALIZER(trial.writer)};

/* Natives ------------------------------------------------------------------------------------ */

enum caller {
	BY_JNI,
	BY_CRITICAL, /* the thread is in Java */
	BY_JAVA,     /* so, too: a patched wrapper or the JVM's linker */
};

/*
 * A call on trial that is not written as a recording's are: it is counted and written all the same,
 * into trial.records, which nobody reads. Places in them are told from the pool's start, as those
 * of a packet are, so that probes can be given trial.slot for theirs (trial_words()).
 */
static __attribute__((noinline)) void trial_write(jint number, enum caller by)
{
	__u64 now;

	if (!agent_enter())
		return;
	trial.leaves += by == BY_JAVA;
	trial.number = (__u32)number;
	trial.all++;
	if (JIS_WRITER_UNLIKELY(agent.writer.clock != JIS_CLOCK_TSC)) {
		now = jis_ticks(&agent.writer);
		memcpy(trial.records, &now, sizeof(now));
	} else if (!jis_write_word(&trial.writer, &trial.slot, JIS_EV_method_enter, trial.number)) {
		trial.writer.pool = agent.writer.pool;
		trial.slot.position = (uintptr_t)trial.records - (uintptr_t)agent.writer.pool;
		trial.slot.end = trial.slot.position + sizeof(trial.records);
		jis_last_set(&agent.writer, &trial.slot, jis_ticks(&agent.writer));
		trial.slot.words_until = trial.slot.last + JIS_TIME_MASK;
	}
	agent_leave();
}

/* Puts this thread's probes on trial: if @words, they write into trial.slot as into a slot of the
 * recording; else all come to trial_write(). */
static void trial_words(int words)
{
	trial.slot.position = trial.slot.end = trial.slot.words_until = 0;
	if (!agent_enter())
		return;
	agent_self->on_trial = 1;
	agent_words = words && agent.writer.clock == JIS_CLOCK_TSC ? &trial.slot : &agent_no_words;
	agent_leave();
}

static void trial_end(void)
{
	if (!agent_self)
		return;
	agent_self->on_trial = 0;
	agent_words = &agent_no_words;
	if (!agent_enter())
		return;
	slot_words(agent_self);
	agent_leave();
}

/* The next ones need not come here, if there is room for them. Nothing where they would anyway: by
 * another clock, in a full pool, and while recording is paused. */
static void words_open(void)
{
	const __u64 ids = 1ull << JIS_EV_method_enter | 1ull << JIS_EV_method_exit;
	struct agent_thread *self;

	if (!agent_enter())
		return;
	self = agent_self;
	if (self->slot && self->slot == agent_words && self->generation == agent.generation &&
	    self->slot->position && jis_writer_on(&agent.writer, JIS_EV_method_enter))
		jis_words_open(&agent.writer, self->slot, ids);
	agent_leave();
}

/* What is no plain record into a packet that is open: the first of a thread, a trial, a full
 * packet, the first after words' time was up or recording was paused. */
static __attribute__((noinline)) void probe_write_slow(unsigned int id, jint number, enum caller by)
{
	struct jis_ev_method_enter record = {(__u32)number};

	if (number & 0x7fffffff) {
		agent_write(id, &record, sizeof(record));
		words_open();
	} else {
		trial_write(number, by);
	}
}

/*
 * agent_write() of what a thread writes nearly always, inside or not. As agent_enter() does it, and
 * keeps others off the slot meanwhile: those that signal handlers write.
 */
JIS_WRITER_FAST int write_marked(unsigned int id, jint number)
{
	struct agent_thread *self = agent_self;
	int done = 0;

	/* Of a thread that is not known yet nobody would wait for the end of what it reads here. */
	if (JIS_WRITER_UNLIKELY(!self))
		return 0;
	__atomic_store_n(&self->writing, 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (JIS_WRITER_LIKELY(jis_writer_on_fast(&agent.writer, id)))
		done = jis_write_word(&agent.writer, agent_words, id, (__u32)number);
	__atomic_store_n(&self->writing, 0, __ATOMIC_RELEASE);
	return done;
}

/*
 * The same of a thread that is in Java: as long as it is, no recording's pool goes that its words
 * were in when it came (probes_quiet()), and of one that has ended they are closed. So that is all
 * it looks at. And no signal handler that interrupts compiled Java calls the agent.
 */
JIS_WRITER_FAST int write_in_java(unsigned int id, jint number)
{
	return JIS_WRITER_LIKELY(jis_write_word(&agent.writer, agent_words, id, (__u32)number));
}

JIS_WRITER_FAST void probe_write(unsigned int id, jint number, enum caller by)
{
	if (JIS_WRITER_UNLIKELY(by == BY_JNI ? !write_marked(id, number)
					     : !write_in_java(id, number)))
		probe_write_slow(id, number, by);
}

JIS_WRITER_FAST void enter(jint number, enum caller by)
{
	probe_write(JIS_EV_method_enter, number, by);
}

JIS_WRITER_FAST void leave(jint number, enum caller by)
{
	probe_write(JIS_EV_method_exit, number, by);
}

JIS_WRITER_FAST int enter_in_java(jint number)
{
	return write_in_java(JIS_EV_method_enter, number);
}

JIS_WRITER_FAST int leave_in_java(jint number)
{
	return write_in_java(JIS_EV_method_exit, number);
}

/* What virtual threads that are on no carrier have under way: recording and depth. */
static struct map_entry resting_entries[16384];
static struct map resting = MAP_INITIALIZER(resting_entries);

static __u32 *library_depth(void)
{
	struct agent_thread *self = agent_self;

	if (JIS_WRITER_UNLIKELY(self->library_generation != agent.generation)) {
		self->library_generation = agent.generation;
		self->library_depth = self->carrier_library_depth = 0;
	}
	return &self->library_depth;
}

int library_inside(void)
{
	return *library_depth() != 0;
}

void library_switch(__u64 java_tid, int mounted)
{
	__u32 *depth = library_depth(), *carriers = &agent_self->carrier_library_depth;
	__u64 had;

	if (mounted) {
		*carriers = *depth;
		had = java_tid && map_get(&resting, java_tid) ? map_take(&resting, java_tid) : 0;
		*depth = had >> 32 == agent.generation ? (__u32)had : 0;
	} else {
		/* Without room its calls under way are forgotten, and their exits not told. */
		if (*depth && java_tid)
			map_set(&resting, java_tid, (__u64)agent.generation << 32 | *depth);
		*depth = *carriers;
		*carriers = 0;
	}
}

/* Calls of the library inside of such a call are not told. */
JIS_WRITER_FAST void enter_library(jint number, enum caller by)
{
	if (!(number & 0x7fffffff)) {
		trial_write(number, by);
		return;
	}
	if (!agent_enter())
		return;
	if ((*library_depth())++ == 0)
		probe_write(JIS_EV_method_enter, number, by);
	agent_leave();
}

JIS_WRITER_FAST void leave_library(jint number, enum caller by)
{
	__u32 *depth;

	if (!(number & 0x7fffffff)) {
		trial_write(number, by);
		return;
	}
	if (!agent_enter())
		return;
	depth = library_depth();
	/* 0: the call began before the recording did. */
	if (*depth && --*depth == 0)
		probe_write(JIS_EV_method_exit, number, by);
	agent_leave();
}

/* Some are left to the native, though nothing is written of them: see PROBE. */
static int library_nested_in_java(struct agent_thread *self)
{
	return ++self->library_nested % LIBRARY_NESTED != 0;
}

static int enter_library_in_java(jint number)
{
	__u32 *depth;
	int done;

	/* Who is not known yet is made known by the native. */
	if (!(number & 0x7fffffff) || !agent_self || !agent_enter())
		return 0;
	depth = library_depth();
	done = *depth ? library_nested_in_java(agent_self) : enter_in_java(number);
	*depth += (__u32)done;
	agent_leave();
	return done;
}

static int leave_library_in_java(jint number)
{
	__u32 *depth;
	int done;

	if (!(number & 0x7fffffff) || !agent_self || !agent_enter())
		return 0;
	depth = library_depth();
	done = *depth == 1 ? leave_in_java(number) : library_nested_in_java(agent_self);
	if (done && *depth)
		--*depth;
	agent_leave();
	return done;
}

/* Of what a leaf has not written: is it a call on trial that is not to get to the native? */
static int trial_of_leaf(jint number)
{
	return !(number & 0x7fffffff) && !trial.natives;
}

static __attribute__((noinline)) jint linked_slow(jint number)
{
	if (!trial_of_leaf(number))
		return 1;
	trial_write(number, BY_JAVA);
	return 0;
}

/*
 * In the second half of a cache line, so that the clock is read in its last bytes, and what follows
 * begins with the next: a call takes 0.01 to 0.02 of the limit less (docs/benchmarks.md). GCC
 * aligns what it puts before the function.
 */
#ifdef __x86_64__
#define PROBE_PLACE __attribute__((aligned(64), patchable_function_entry(51, 51)))
#else
#define PROBE_PLACE
#endif

/*
 * By JNI, as a critical native, as compiled Java calls, whose first argument is C's second, and as
 * the JVM's linker does.
 *
 * The last two write what fits into the packet that is open, and leave all else to the native, as
 * if they had not been called: leaf_*_on() is the JVM's code for it, to which a leaf jumps, as
 * wrappers_patch() sees to; a linked_*() that returns 1 is followed by it. It is written there; and
 * a thread that the JVM wants to stop does so there. As compilers take calls of Java, and of
 * natives, for places where threads stop, a loop may have no other: so a thread comes by with each
 * packet.
 */
#define PROBE(name, body)                                                                          \
	JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_##name(JNIEnv *env, jclass class,       \
								  jint number);                    \
	JNIEXPORT void JNICALL JavaCritical_java_lang_JProbe_00024_##name(jint number);            \
	JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_##name(JNIEnv *env, jclass class,       \
								  jint number)                     \
	{                                                                                          \
		body(number, BY_JNI);                                                              \
	}                                                                                          \
	JNIEXPORT PROBE_PLACE void JNICALL JavaCritical_java_lang_JProbe_00024_##name(jint number) \
	{                                                                                          \
		body(number, BY_CRITICAL);                                                         \
	}                                                                                          \
	static void (*leaf_##name##_on)(long, jint);                                               \
	static __attribute__((noinline)) void leaf_##name##_slow(long unused, jint number)         \
	{                                                                                          \
		if (trial_of_leaf(number))                                                         \
			trial_write(number, BY_JAVA);                                              \
		else                                                                               \
			leaf_##name##_on(unused, number);                                          \
	}                                                                                          \
	static PROBE_PLACE void leaf_##name(long unused, jint number)                              \
	{                                                                                          \
		if (JIS_WRITER_UNLIKELY(!body##_in_java(number)))                                  \
			leaf_##name##_slow(unused, number);                                        \
	}                                                                                          \
	static PROBE_PLACE jint linked_##name(jint number)                                         \
	{                                                                                          \
		return JIS_WRITER_LIKELY(body##_in_java(number)) ? 0 : linked_slow(number);        \
	}

PROBE(enter, enter)
PROBE(exit, leave)
PROBE(enterLibrary, enter_library)
PROBE(exitLibrary, leave_library)

#define WRAPPER(native)                                                                            \
	{                                                                                          \
		.name = #native, .leaf = leaf_##native, .leaf_on = &leaf_##native##_on,            \
		.linked = linked_##native,                                                         \
		.jni = (const void *)Java_java_lang_JProbe_00024_##native,                         \
		.critical = (const void *)JavaCritical_java_lang_JProbe_00024_##native,            \
	}
static const struct wrapper wrappers[] = {
	WRAPPER(enter),
	WRAPPER(exit),
	WRAPPER(enterLibrary),
	WRAPPER(exitLibrary),
};
#define NR_WRAPPERS (sizeof(wrappers) / sizeof(wrappers[0]))

/* Ways --------------------------------------------------------------------------------------- */

void probes_choose(void)
{
	way_by_flag = JIS_METHOD_WAY_JNI;
	if (!agent.hotspot || agent.attached || agent.no_vm_flags)
		return;
	if (agent.vm_version == 17) {
		if (vm_flag_set("CriticalJNINatives") == 0)
			way_by_flag = JIS_METHOD_WAY_CRITICAL;
	} else if (agent.vm_version >= 21 &&
		   syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0) {
		if (vm_flag_set("UseSystemMemoryBarrier") == 0)
			way_by_flag = JIS_METHOD_WAY_BARRIER;
	}
}

/* What a pair costs -------------------------------------------------------------------------- */

enum opcode {
	OP_ICONST_0 = 3,
	OP_LDC = 18,
	OP_ILOAD_0 = 26,
	OP_IINC = 132,
	OP_IFLE = 158,
	OP_GOTO = 167,
	OP_RETURN = 177,
	OP_INVOKESTATIC = 184,
};

/* "class JProbe$Loop { static void pairs(int n) { while (n > 0) { enter(0); exit(1 << 31); n--; } }
 * }", of @probes, the class that has them. */
static void loop_write(struct jis_bytes *b, const char *name, const char *probes)
{
	static const uint8_t code[] = {
		OP_ILOAD_0, OP_IFLE,  0,      18,   OP_ICONST_0,     OP_INVOKESTATIC,
		0,	    11,	      OP_LDC, 16,   OP_INVOKESTATIC, 0,
		12,	    OP_IINC,  0,      0xff, OP_GOTO,	     0xff,
		0xf0,	    OP_RETURN};

	jis_bytes_u4(b, 0xcafebabe);
	jis_bytes_u4(b, 49); /* no stack maps */
	jis_bytes_u2(b, 17);
	jis_bytes_utf8(b, name); /* 1 */
	jis_bytes_constant(b, 7, 1, 0);
	jis_bytes_utf8(b, "java/lang/Object"); /* 3 */
	jis_bytes_constant(b, 7, 3, 0);
	jis_bytes_utf8(b, probes); /* 5 */
	jis_bytes_constant(b, 7, 5, 0);
	jis_bytes_utf8(b, "(I)V"); /* 7 */
	jis_bytes_utf8(b, "pairs");
	jis_bytes_constant(b, 12, 13, 7); /* 9: enter */
	jis_bytes_constant(b, 12, 14, 7);
	jis_bytes_constant(b, 10, 6, 9); /* 11 */
	jis_bytes_constant(b, 10, 6, 10);
	jis_bytes_utf8(b, "enter"); /* 13 */
	jis_bytes_utf8(b, "exit");
	jis_bytes_utf8(b, "Code"); /* 15 */
	jis_bytes_u1(b, 3);	   /* an int */
	jis_bytes_u4(b, JIS_METHOD_UNWOUND);
	jis_bytes_u2(b, 0x1031); /* public final super synthetic */
	jis_bytes_u2(b, 2);
	jis_bytes_u2(b, 4);
	jis_bytes_u4(b, 0); /* interfaces, fields */
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, 0x0008); /* static */
	jis_bytes_u2(b, 8);
	jis_bytes_u2(b, 7);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, 15);
	jis_bytes_u4(b, 12 + sizeof(code));
	jis_bytes_u2(b, 1); /* stack */
	jis_bytes_u2(b, 1); /* locals */
	jis_bytes_u4(b, sizeof(code));
	jis_bytes_put(b, code, sizeof(code));
	jis_bytes_u4(b, 0); /* handlers, attributes */
	jis_bytes_u2(b, 0); /* of the class */
}

static jclass loop_class(JNIEnv *env, const char *probes)
{
	struct jis_bytes bytes = {0};
	char name[64];
	jclass class;

	snprintf(name, sizeof(name), "%s" LOOP_SUFFIX, probes);
	class = (*env)->FindClass(env, name); /* of a former attach */
	exception_clear(env);
	if (class)
		return class;
	loop_write(&bytes, name, probes);
	if (!bytes.failed)
		class = (*env)->DefineClass(env, name, NULL, (const jbyte *)bytes.data,
					    (jsize)bytes.size);
	jis_bytes_free(&bytes);
	exception_clear(env);
	return class;
}

static jmethodID loop_method(JNIEnv *env, jclass class)
{
	jmethodID pairs = class ? (*env)->GetStaticMethodID(env, class, "pairs", "(I)V") : NULL;

	exception_clear(env);
	return pairs;
}

static __u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (__u64)t.tv_sec * 1000000000ull + (__u64)t.tv_nsec;
}

/*
 * CPU time of a pair that writes no record, but as much. The best of rounds, as the JVM compiles
 * the loop meanwhile, until some in turn were as good as it; bounded for where it does not.
 */
static void pair_measure(JNIEnv *env, const char *probes)
{
	jclass class = loop_class(env, probes);
	jmethodID pairs = loop_method(env, class);
	__u64 begin = clock_ns(CLOCK_THREAD_CPUTIME_ID), last = begin, now, best = UINT64_MAX;
	int round, settled = 0;

	trial_words(1);
	for (round = 0; pairs && round < LOOP_ROUNDS && last - begin < LOOP_NS_MAX; round++) {
		if (round >= LOOP_ROUNDS_MIN && settled >= LOOP_SETTLED)
			break;
		(*env)->CallStaticVoidMethod(env, class, pairs, (jint)LOOP_PAIRS);
		exception_clear(env);
		now = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		settled = now - last >= best - best / 20 && now - last <= best + best / 20
				  ? settled + 1
				  : 0;
		if (now - last < best)
			best = now - last;
		last = now;
	}
	trial_words(0);
	pair_picoseconds = best == UINT64_MAX ? 0 : best * 1000 / LOOP_PAIRS;
	if (class)
		(*env)->DeleteLocalRef(env, class);
}

/* The best that works ------------------------------------------------------------------------ */

enum through {
	THROUGH_LEAF,
	THROUGH_NATIVE, /* what a leaf leaves to it */
	THROUGH_EITHER,
};

/* Called from Java code that is interpreted: does each come, once, with its argument, and so? */
static int probes_answer(JNIEnv *env, const char *probes, enum through through)
{
	jclass class = (*env)->FindClass(env, probes);
	__u64 leaves, all;
	jmethodID id = NULL;
	unsigned int i;
	int good = class != NULL;

	exception_clear(env);
	for (i = 0; good && i < NR_WRAPPERS; i++) {
		leaves = trial.leaves;
		all = trial.all;
		trial.number = 0;
		id = (*env)->GetStaticMethodID(env, class, wrappers[i].name, "(I)V");
		if (id)
			(*env)->CallStaticVoidMethod(env, class, id, (jint)JIS_METHOD_UNWOUND);
		good = id && !(*env)->ExceptionCheck(env) && trial.all == all + 1 &&
		       trial.number == JIS_METHOD_UNWOUND;
		if (through != THROUGH_EITHER)
			good = good && trial.leaves - leaves == (through == THROUGH_LEAF);
		exception_clear(env);
	}
	if (class)
		(*env)->DeleteLocalRef(env, class);
	return good;
}

/* And from code that is compiled: each call? Measures them. */
static int leaves_work(JNIEnv *env, const char *probes)
{
	__u64 leaves = trial.leaves, all = trial.all;

	if (!probes_answer(env, probes, THROUGH_LEAF))
		return 0;
	pair_measure(env, probes);
	return trial.leaves - leaves == trial.all - all;
}

/* A round of the loop, each call of which came, in order? */
static int loop_works(JNIEnv *env, jclass class, jmethodID pairs)
{
	__u64 all = trial.all;

	trial.number = 0;
	(*env)->CallStaticVoidMethod(env, class, pairs, (jint)LOOP_PAIRS);
	exception_clear(env);
	return trial.all - all == 2ull * LOOP_PAIRS && trial.number == JIS_METHOD_UNWOUND;
}

/* And where only C2's code calls leaves: does each call come, once, by a leaf in the end, and by
 * the native where it leaves that to it? Waits for C2, which has other work, too. A JVM may also
 * have none: -ETIME. */
static int leaves_work_by_c2(JNIEnv *env, const char *probes)
{
	const struct timespec step = {0, C2_STEP_NS};
	jclass class = loop_class(env, probes);
	jmethodID pairs = loop_method(env, class);
	__u64 begin = clock_ns(CLOCK_MONOTONIC), leaves = trial.leaves, was;
	int good = pairs && probes_answer(env, probes, THROUGH_EITHER);

	while (good && trial.leaves - leaves < LOOP_PAIRS &&
	       clock_ns(CLOCK_MONOTONIC) - begin < C2_WAIT_NS) {
		good = loop_works(env, class, pairs);
		nanosleep(&step, NULL);
	}
	leaves = trial.leaves - leaves;
	was = trial.leaves;
	trial.natives = 1;
	good = good && loop_works(env, class, pairs) && trial.leaves == was;
	trial.natives = 0;
	if (class)
		(*env)->DeleteLocalRef(env, class);
	if (!good || !leaves)
		return good ? -ETIME : 0;
	pair_measure(env, probes);
	return 1;
}

/* And does what a leaf leaves to it come by the native? */
static int probes_work(JNIEnv *env, const char *probes)
{
	int good = leaves_work(env, probes);

	trial.natives = 1;
	good = good && probes_answer(env, probes, THROUGH_NATIVE);
	trial.natives = 0;
	return good;
}

/* Has the JVM's code for the natives jump to the leaves; taken back where they do not answer. */
static int patch_try(JNIEnv *env)
{
	int error;

	if (agent.no_patch) {
		wrappers_restore(); /* of a former recording */
		return 0;
	}
	trial.natives = 1; /* leaves are tried, of which none is to write */
	error = wrappers_patch(env, wrappers, NR_WRAPPERS);
	trial.natives = 0;
	if (error) {
		agent_debug("the code that calls natives is left as it is: %s", strerror(-error));
		return 0;
	}
	if (probes_work(env, PROBE_CLASS))
		return 1;
	wrappers_restore();
	recorder_note("patched natives do not answer as they must: they are as before");
	return 0;
}

static int link_try(JNIEnv *env)
{
	int bound = agent.no_link ? -ECANCELED : linker_bind(env, wrappers, NR_WRAPPERS), works;

	if (bound < 0) {
		agent_debug("the JVM's linker calls no natives: %s", strerror(-bound));
		return 0;
	}
	works = bound ? leaves_work_by_c2(env, LINKED_CLASS) : probes_work(env, LINKED_CLASS);
	if (works == -ETIME)
		agent_debug("C2 has compiled no call of a native");
	else if (!works)
		recorder_note("linked natives do not answer as they must: they are not called");
	return works > 0;
}

static void way_choose(JNIEnv *env)
{
	/* By another clock leaves write nothing. */
	int leaves = agent.writer.clock == JIS_CLOCK_TSC;

	probe_class = PROBE_CLASS;
	if (!leaves)
		wrappers_restore(); /* of a former recording */
	if (leaves && patch_try(env)) {
		way = JIS_METHOD_WAY_PATCH;
	} else if (leaves && link_try(env)) {
		way = JIS_METHOD_WAY_LINK;
		probe_class = LINKED_CLASS;
	} else {
		way = way_by_flag;
		pair_measure(env, PROBE_CLASS);
	}
}

const char *probes_class(void)
{
	return probe_class;
}

static int natives_are_bound(JNIEnv *env)
{
	const struct jis_native_method *native;

	for (native = probe_natives; native->name; native++)
		if (!hooks_probe_bound(env, native->name, native->descriptor)) {
			recorder_note("native %s of java.lang.JProbe$ is not bound: no methods are "
				      "traced",
				      native->name);
			return 0;
		}
	return 1;
}

int probes_bind(JNIEnv *env)
{
	int bound;

	__atomic_store_n(&used, 1, __ATOMIC_RELEASE);
	trial_words(0);
	bound = natives_are_bound(env);
	if (bound)
		way_choose(env);
	trial_end();
	return bound ? 0 : -ENOENT;
}

int probes_quiet(JNIEnv *env)
{
	jvmtiStackInfo *stacks = NULL;
	int quiet;
	jint n;

	if (!__atomic_load_n(&used, __ATOMIC_ACQUIRE))
		return 1;
	/* The stacks come with a reference to each thread. */
	if (!env || (*env)->PushLocalFrame(env, 16) != JNI_OK) {
		if (env)
			exception_clear(env);
		return 0;
	}
	quiet = (*agent.jvmti)->GetAllStackTraces(agent.jvmti, 1, &stacks, &n) == JVMTI_ERROR_NONE;
	if (quiet)
		(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)stacks);
	(*env)->PopLocalFrame(env, NULL);
	return quiet;
}

void probes_tell(void)
{
	struct jis_ev_method_probe record = {way, pair_picoseconds};

	agent_write(JIS_EV_method_probe, &record, sizeof(record));
}
