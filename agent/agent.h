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
	int socket; /* to the recorder, -1 none */
	void *pool;
	size_t pool_size;
	jfieldID thread_tid; /* java.lang.Thread.tid */
};

extern struct agent agent;

/* agent.c: messages. One line on stderr, "jis: ..."; debug lines only with the option debug. */
void agent_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void agent_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes no more records; the pool stays mapped. Says @why, once for all calls; NULL: says nothing.
 */
void agent_dormant(const char *why);
int agent_is_dormant(void);
__u32 agent_tid(void);

/* twice.c */
/* Is another copy of the agent at work in this process? */
int agent_elsewhere(void);
/* Read by other copies: is this one at work? */
extern int jis_agent_at_work;

/* connect.c */
/**
 * recorder_connect - connects to the recorder at @path, within two seconds, and maps its pool.
 * Returns 0 and sets agent.{socket,pool,pool_size,features,writer}, or -errno after a warning.
 */
int recorder_connect(const char *path);
/* Tells the recorder something for the manifest and the user; never waits. */
void recorder_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Starts the thread that sees the recorder go; 0 or -errno. */
int recorder_watch(void);

/* slots.c: the calling thread's slot in the pool. */
extern __thread struct jis_slot *agent_slot __attribute__((tls_model("initial-exec")));
int slots_init(void);
struct jis_slot *slot_of_thread(void);
void slot_give_back(void);

/* Writes record @id, payload struct @payload, for the calling thread, now. */
JIS_WRITER_FAST void agent_write(unsigned int id, const void *payload, size_t size)
{
	struct jis_slot *slot;

	if (!jis_writer_on(&agent.writer, id))
		return;
	slot = JIS_WRITER_LIKELY(agent_slot != NULL) ? agent_slot : slot_of_thread();
	if (slot)
		jis_write(&agent.writer, slot, id, payload, size);
	else
		jis_slot_missing(&agent.writer, id);
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
/* The same with @text in modified UTF-8, NUL-terminated. */
int dict_write_modified(unsigned int id, const void *fixed, size_t size, const char *text);
/* Id of @text (UTF-8), defined in the dictionary before its first use; 0: it could not be. */
__u32 name_intern(const char *text, size_t length);
__u32 name_intern_modified(const char *text);
/* Reads a Java string, cut to what a name can hold; returns its length in UTF-8, or -1 (NULL). */
int name_of_string(JNIEnv *env, jstring string, char out[NAME_UTF8_MAX]);

/* vmstructs.c: kernel thread of a Java thread, read from the JVM's own data. */
int vmstructs_present(void);
void vmstructs_init(JNIEnv *env, jthread current);
/* Kernel tid of a live platform thread; 0: not known. */
__u32 vmstructs_tid(JNIEnv *env, jthread thread);

/* threads.c */
int threads_init(JNIEnv *env);
void threads_running(JNIEnv *env);
void JNICALL on_thread_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);
void JNICALL on_thread_end(jvmtiEnv *jvmti, JNIEnv *env, jthread thread);

/* gc.c */
void JNICALL on_gc_start(jvmtiEnv *jvmti);
void JNICALL on_gc_finish(jvmtiEnv *jvmti);

/* markers.c */
void markers_scan(JNIEnv *env);
void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class);

/* hooks.c */
int hooks_define(JNIEnv *env);
void hooks_install(JNIEnv *env);
void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
				const char *name, jobject domain, jint length,
				const unsigned char *data, jint *new_length,
				unsigned char **new_data);

#endif /* JIS_AGENT_AGENT_H */
