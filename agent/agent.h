/* SPDX-License-Identifier: MIT */
/*
 * What the agent's files share: its one state, and who does what. Nothing here may end the JVM,
 * throw into Java, or wait without bound; after an inner failure the agent goes dormant and says so
 * once.
 */
#ifndef JIS_AGENT_AGENT_H
#define JIS_AGENT_AGENT_H

/* The JDK's own header has functions declared without parameters. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include <jvmti.h>
#pragma GCC diagnostic pop

#include <sys/uio.h>

#include <jis/agent.h>
#include "libjisctl/writer.h"

struct agent {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	struct jis_writer writer;
	unsigned int vm_version; /* 17, 21, 25 */
	char vm_name[JIS_AGENT_TEXT_MAX];
	__u32 features; /* JIS_FEATURE_* the recorder wants and this JVM has */
	int hotspot;
	int debug;
	int attached;	  /* into a JVM that ran already */
	int no_rewrite;	  /* leave the JDK's classes as they are */
	int no_vm_states; /* do not say where the JVM keeps the states of threads */
	void *pool;
	size_t pool_size;
	jfieldID thread_tid;	   /* java.lang.Thread.tid */
	__u64 stack_threshold;	   /* ns; JIS_FEATURE_STACKS */
	__u64 allocation_interval; /* bytes; JIS_FEATURE_ALLOCATIONS */
	__u32 generation;	   /* number of the recording in this process, from 1 on */
	int recording;		   /* between its begin and its end; see agent_enter() */
	char *methods;		   /* JIS_FEATURE_METHODS: the list it began with */
	int methods_dry;	   /* tell them only */
	int no_vm_flags;	   /* set none that makes calls of methods cheaper to record */
	int no_patch;		   /* leave the JVM's code that calls them as it is */
	int no_link;		   /* have them not called by the JVM's foreign linker */
};

extern struct agent agent;

/* agent.c: messages. One line on stderr, "jis: ..."; debug lines only with the option debug. */
void agent_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
__u32 agent_tid(void);
/* The kernel thread that begins and ends recordings: it is not recorded itself. 0: there is none.
 */
extern __u32 agent_control_tid;
/* Is a recording under way? For who is not inside of agent_enter(): it may end at any time. */
JIS_WRITER_FAST int agent_recording(void)
{
	return __atomic_load_n(&agent.recording, __ATOMIC_ACQUIRE);
}

/* With agent.writer and agent.generation set; the writers' side of it is agent_enter(). */
JIS_WRITER_FAST void agent_recording_set(int on)
{
	__atomic_store_n(&agent.recording, on, __ATOMIC_RELEASE);
}

/* twice.c */
/**
 * agent_elsewhere - is another copy of the agent in this process that has been at work?
 * @path: gets its path; may be NULL.
 */
int agent_elsewhere(char *path, size_t n);
/* Read by other copies. */
enum { AGENT_UNUSED = 0, AGENT_AT_WORK = 1, AGENT_HAS_WORKED = 2 };
extern int jis_agent_at_work;

/* connect.c */
/**
 * recorder_connect - connects to the recorder at @path, within seconds, and maps its pool.
 * Returns 0 and sets agent.{pool,pool_size,features,writer}, or -errno with the reason in @why.
 */
int recorder_connect(const char *path, char *why, size_t n);
/* Is the recorder connected to the one at @path? */
int recorder_is(const char *path);
/* Tells the recorder at @path that there will be no recording, and why; 0 or -errno. */
int recorder_tell_failure(const char *path, const char *why);
/* Tells the recorder something for the manifest and the user; never waits. */
void recorder_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Tells it that all it wanted is in place. */
void recorder_ready(void);
/* Waits for its answer, which recorder_wait() hears on another thread, or the end, or a second. */
void recorder_begin_wait(void);
/* There is nothing to wait for any more. */
void recorder_begin_over(void);
/* Tells it what its list of methods has come to; @failed: nothing, and why. */
void recorder_methods_done(int failed, const char *text);
/* Waits until it wants an end (returns 1) or is gone (0). */
int recorder_wait(void);
void recorder_close(void);

/* life.c: a recording's begin and end, of which there may be many. */
/**
 * life_begin - connects to the recorder at @path and asks the JVM for what it wants.
 * @live: the JVM runs already: the rest is done by the control thread, as natives are bound only
 * after the caller has returned. Else life_live() is to be called when the JVM lives.
 * Returns 0; -EALREADY: that very recorder records already; or -errno with the reason in @why.
 */
int life_begin(const char *path, JNIEnv *live, char *why, size_t n);
/* All that needs a live JVM. */
void life_live(JNIEnv *env);
/* The recorder wants other methods traced, by rules that come behind those there are. */
void life_methods(unsigned int asked, const char *text);
/* Classes are to be rewritten that have come up meanwhile. */
void life_methods_later(void);
/* The JVM ends: from now on nothing is undone. */
void life_vm_death(void);

/*
 * slots.c: what the agent keeps of each thread that writes, from its first record to its end.
 */
struct agent_thread {
	struct jis_slot *slot; /* in the pool of recording @generation */
	__u32 generation;
	/* How often it is inside, and whether within a record of a probe: the thread writes, who
	 * ends a recording reads. */
	__u32 inside, writing;
	struct jis_slot **words; /* its agent_words */
	int on_trial;		 /* agent_words is probes.c's own */
	struct peer *peer;	 /* of recording @peer_generation, see waits.h */
	__u32 peer_generation;
	/* probes.c: calls of library methods under way, in recording @library_generation, and those
	 * of the carrier itself while it has a virtual thread on it */
	__u32 library_depth, carrier_library_depth, library_generation;
	__u32 library_nested; /* counts, from anywhere, probes of such calls inside of another */
	struct agent_thread *next, **link;
};

/* Always full. */
extern struct jis_slot agent_no_words;
/*
 * Where the thread's probes write while that is open for words: its slot if that is of the
 * recording under way, by the processor's counter, else agent_no_words, as of a thread that is not
 * known. A thread that a probe is in may be told by "inside" or "writing", or by being in Java:
 * then probes_quiet() sees to it that it is in none.
 */
extern __thread struct jis_slot *agent_words __attribute__((tls_model("initial-exec")));
extern __thread struct agent_thread *agent_self __attribute__((tls_model("initial-exec")));
int slots_init(void);
/* Makes agent_self; NULL: no memory. */
struct agent_thread *slot_thread(void);
/* Says where @self's probes write, unless they are on trial; inside, or where it has no slot. */
void slot_words(struct agent_thread *self);
/* No thread's probes write anywhere. With no writer on; who is inside all the same may set its own.
 */
void slots_forget_words(void);
/* Gives @self a slot of the running recording's pool, or NULL; to be called inside. */
struct jis_slot *slot_of_thread(struct agent_thread *self);
void slot_give_back(void);
/* Is nobody inside any more? Waits until so, up to @ms; for after agent.recording is 0. */
int slots_quiet(int ms);

/*
 * Begins a callback, hook or native that writes: 0 when nothing is recorded, and then there is
 * nothing to do. Between it and agent_leave() the recording's pool and names stay what they are:
 * ids of names that were interned between are right, and no recording ends while any thread is
 * there, so it must not wait for other threads for long. Calls may nest. Not for signal handlers
 * before the thread's first call.
 */
JIS_WRITER_FAST void agent_leave(void)
{
	struct agent_thread *self = agent_self;

	__atomic_store_n(&self->inside, self->inside - 1, __ATOMIC_RELEASE);
}

JIS_WRITER_FAST int agent_enter(void)
{
	struct agent_thread *self = agent_self;

	if (!__atomic_load_n(&agent.recording, __ATOMIC_RELAXED))
		return 0;
	if (JIS_WRITER_UNLIKELY(!self)) {
		self = slot_thread();
		if (!self)
			return 0;
	}
	/* The other side orders the two for us (membarrier). */
	__atomic_store_n(&self->inside, self->inside + 1, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (JIS_WRITER_LIKELY(__atomic_load_n(&agent.recording, __ATOMIC_ACQUIRE)))
		return 1;
	agent_leave();
	return 0;
}

/* Whether records @id are wanted now; to be asked inside. */
JIS_WRITER_FAST int agent_wants(unsigned int id)
{
	return jis_writer_on(&agent.writer, id);
}

/* Writes record @id, payload struct @payload, for the calling thread, now. Inside or not. */
JIS_WRITER_FAST void agent_write(unsigned int id, const void *payload, size_t size)
{
	struct jis_slot *slot;

	if (!agent_enter())
		return;
	if (agent_wants(id)) {
		slot = JIS_WRITER_LIKELY(agent_self->slot &&
					 agent_self->generation == agent.generation)
			       ? agent_self->slot
			       : slot_of_thread(agent_self);
		if (!slot)
			jis_slot_missing(&agent.writer, id);
		else if (JIS_WRITER_UNLIKELY(agent_self->writing))
			jis_write_nested(&agent.writer, slot, id);
		else
			jis_write(&agent.writer, slot, id, payload, size);
	}
	agent_leave();
}

/* names.c: text and the dictionary. */
#define NAME_UTF16_MAX (JIS_STRING_MAX + 8)	   /* characters that can matter for a name */
#define NAME_MODIFIED_MAX (3 * NAME_UTF16_MAX + 1) /* their modified UTF-8 */
#define NAME_UTF8_MAX (JIS_STRING_MAX + 8)

/**
 * utf8_of_modified - turns modified UTF-8, as JNI and JVMTI give it, into UTF-8.
 * @out: NAME_UTF8_MAX bytes; longer text is cut there, which is beyond what a record holds. U+0000
 * becomes U+2400, what is no character U+FFFD.
 * Returns the length in bytes; no NUL is added.
 */
size_t utf8_of_modified(char *out, const char *in, size_t length);
/**
 * dict_write - writes record @id to the dictionary; @text in UTF-8, NULL where the event has none.
 * Returns 0 or -errno.
 */
int dict_write(unsigned int id, const void *fixed, size_t size, const char *text, size_t length);
/* Counts a record @id as lost that cannot be, because there are too many. */
void dict_lose(unsigned int id);
/* The same as dict_write() with @text in modified UTF-8, NUL-terminated. */
int dict_write_modified(unsigned int id, const void *fixed, size_t size, const char *text);
/* Id of @text (UTF-8), defined in the dictionary before its first use; 0: it could not be. */
__u32 name_intern(const char *text, size_t length);
__u32 name_intern_modified(const char *text);
/* Forgets all names: ids are of one recording. Nobody may be inside. */
void names_reset(void);
/* Reads a Java string, cut to what a name can hold; returns its length in UTF-8, or -1 (NULL). */
int name_of_string(JNIEnv *env, jstring string, char out[NAME_UTF8_MAX]);

/* vmstructs.c: kernel thread of a Java thread, and its states, from the JVM's own data. */
struct vm_states {
	const __u32 *vm; /* enum JavaThreadState */
	const __u32 *os; /* enum ThreadState */
};
int vmstructs_present(void);
void vmstructs_init(JNIEnv *env, jthread current);
/* Kernel tid of a live platform thread; 0: not known. */
__u32 vmstructs_tid(JNIEnv *env, jthread thread);
/* Where HotSpot keeps the states of a live platform thread, until its end. Returns 0 or -errno.
 * Needs JIS_FEATURE_VM_STATES, which vmstructs_init() takes away where the layout is not known. */
int vmstructs_states(JNIEnv *env, jthread thread, struct vm_states *out);

/* The rest is for those who read more of the JVM's data, and try what they read. */
/* A symbol of libjvm; NULL: there is none. */
void *vm_symbol(const char *name);
/* Offset of a field, -1 not known; returns the address of a static one. */
const void *vm_field(const char *type, const char *field, long *offset);
/* sizeof(), 0 not known. */
__u64 vm_type_size(const char *type);
/* A flag of type bool, named in fewer than 64 characters: 0, 1, or -1: not known. */
int vm_flag(const char *name);
/* Switches it on, before the JVM has looked at it; 0, also where it was on, or -ENOENT. */
int vm_flag_set(const char *name);
/* Reads memory that may not be there; 0 or -EFAULT. */
int vm_read(__u64 address, void *out, size_t size);
/* Reads @n (<= 1024) pieces at once: local[i].iov_len is 0 of those that are not there. */
void vm_read_each(struct iovec *local, const struct iovec *remote, unsigned int n);
/* Address of a platform thread's JavaThread; 0: it has none any more, or vmstructs_init() found the
 * layout not to be the known one. */
__u64 vm_thread_read(JNIEnv *env, jthread thread);

/* threads.c */
int threads_enable(JNIEnv *env);
/* Announces the threads that run already; the calling thread is one of them. */
void threads_running(JNIEnv *env);
void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* gc.c */
int gc_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
void JNICALL on_gc_start(jvmtiEnv *jvmti);
void JNICALL on_gc_finish(jvmtiEnv *jvmti);

/* markers.c */
void markers_scan(JNIEnv *env);
void markers_disable(JNIEnv *env);
void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class);

/* hooks.c */
/* Defines java.lang.JProbe$, once; 0 or -errno. From the start phase on. */
int hooks_define(JNIEnv *env);
/* Puts the hooks of all wanted families into the JDK's classes. */
void hooks_install(JNIEnv *env);
/* Takes all of them out again. */
void hooks_remove(JNIEnv *env);
/* Is native @name of java.lang.JProbe$, with parameters @descriptor, bound? Waits until it is. */
int hooks_probe_bound(JNIEnv *env, const char *name, const char *descriptor);
void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
				const char *name, jobject domain, jint length,
				const unsigned char *data, jint *new_length,
				unsigned char **new_data);

#endif /* JIS_AGENT_AGENT_H */
