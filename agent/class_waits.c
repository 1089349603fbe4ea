/* SPDX-License-Identifier: MIT */
/*
 * Which class a thread has waited for while another initialised it. JVMTI tells of the end of that
 * wait only, on the class's lock, which names no class; HotSpot keeps the class meanwhile in a
 * field of the waiting JavaThread that is in none of its tables. A trial finds it: a class of the
 * agent's own is initialised by the helper of owners.c, which looks for that class in the
 * JavaThread of who waits for it. Where exactly one word has it, and has nothing after the wait,
 * that is the field. Classes' names are read by HotSpot's tables, and tried on the same class.
 */
#include "compat.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "class_waits.h"
#include "classfile.h"
#include "waits.h"

#define CLASS_NAME "java/lang/JProbe$Held"
#define TRIAL_WAIT_S 2
#define TRIAL_STEP_MS 1
#define TRIAL_STEPS 1000
#define THREAD_SIZE_MAX 16384u

/* Places in HotSpot's structures, -1 not known. */
static struct {
	long const_method, constants, pool_holder; /* from a method to its class */
	long name, length, body;		   /* of a class, of a symbol */
	__u64 thread_size;
} layout;

static long class_offset; /* in JavaThread; 0: not known */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	jclass class;	 /* global reference, for good */
	__u64 vm_thread; /* who waits for it */
	int ready, held; /* there is a class, or -1: none will be; it is being initialised */
	int over;	 /* it has been tried: a class is initialised once */
	long found;	 /* the offset; 0: none */
} trial = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/* Names of classes --------------------------------------------------------------------------- */

static void layout_find(void)
{
	vm_field("Method", "_constMethod", &layout.const_method);
	vm_field("ConstMethod", "_constants", &layout.constants);
	vm_field("ConstantPool", "_pool_holder", &layout.pool_holder);
	vm_field("Klass", "_name", &layout.name);
	vm_field("Symbol", "_length", &layout.length);
	vm_field("Symbol", "_body", &layout.body);
	layout.thread_size = vm_type_size("JavaThread");
	if (layout.thread_size > THREAD_SIZE_MAX)
		layout.thread_size = THREAD_SIZE_MAX;
}

/* The address that is kept at @offset of @address; 0: there is none. */
static __u64 follow(__u64 address, long offset)
{
	__u64 value;

	if (!address || offset < 0 || vm_read(address + (__u64)offset, &value, sizeof(value)) < 0)
		return 0;
	return value;
}

/* HotSpot's class of a method. */
static __u64 klass_of(jmethodID method)
{
	return follow(follow(follow(follow((__u64)(uintptr_t)method, 0), layout.const_method),
			     layout.constants),
		      layout.pool_holder);
}

/* Its name as it is in class files, modified UTF-8, with a NUL; 0 or -errno. */
static int klass_name(__u64 klass, char *text, size_t n)
{
	__u64 symbol = follow(klass, layout.name);
	__u16 length;

	if (!symbol || layout.length < 0 || layout.body < 0 ||
	    vm_read(symbol + (__u64)layout.length, &length, sizeof(length)) < 0)
		return -EFAULT;
	if (!length || length >= n)
		return -ENAMETOOLONG;
	text[length] = 0;
	return vm_read(symbol + (__u64)layout.body, text, length);
}

/* Records ------------------------------------------------------------------------------------ */

void class_wait_ended(JNIEnv *env, __u64 java_tid)
{
	long offset = __atomic_load_n(&class_offset, __ATOMIC_ACQUIRE);
	struct jis_ev_class_waited record = {.java_tid = java_tid, .tid = agent_tid()};
	char name[NAME_MODIFIED_MAX], *p;
	__u64 thread = offset ? vm_thread_of(env) : 0, klass;

	if (!thread)
		return;
	/* The thread's own: it is there while the thread is. */
	klass = *(const __u64 *)(uintptr_t)(thread + (__u64)offset);
	if (!klass || klass_name(klass, name, sizeof(name)) < 0)
		return;
	for (p = name; *p; p++)
		if (*p == '/')
			*p = '.';
	record.class_name = name_intern_modified(name);
	if (record.class_name)
		dict_write(JIS_EV_class_waited, &record, sizeof(record), NULL, 0);
}

/* The trial ---------------------------------------------------------------------------------- */

static jclass held_define(JNIEnv *env)
{
	struct jis_bytes bytes = {0};
	jclass class = NULL, reference = NULL;

	jis_class_calling_native(&bytes, CLASS_NAME, "<clinit>", "hold");
	if (!bytes.failed)
		class = (*env)->DefineClass(env, CLASS_NAME, NULL, (const jbyte *)bytes.data,
					    (jsize)bytes.size);
	jis_bytes_free(&bytes);
	exception_clear(env);
	if (class) {
		reference = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	return reference;
}

/* Waits until *@flag is not 0, for a while; the lock is held. */
static void trial_wait(const int *flag)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += TRIAL_WAIT_S;
	while (!*flag)
		if (pthread_cond_timedwait(&trial.changed, &trial.lock, &until))
			return;
}

static void trial_say(int *flag, int value)
{
	pthread_mutex_lock(&trial.lock);
	*flag = value;
	pthread_cond_broadcast(&trial.changed);
	pthread_mutex_unlock(&trial.lock);
}

/* Where the JavaThread of who waits has @klass: the only place; 0: nowhere, -1: in several. */
static long thread_search(__u64 klass)
{
	static __u64 words[THREAD_SIZE_MAX / sizeof(__u64)];
	size_t size = layout.thread_size / sizeof(__u64) * sizeof(__u64), i;
	long found = 0;

	if (vm_read(trial.vm_thread, words, size) < 0)
		return -1;
	for (i = 0; i < size / sizeof(__u64); i++)
		if (words[i] == klass)
			found = found ? -1 : (long)(i * sizeof(__u64));
	return found;
}

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024Held_hold(JNIEnv *env, jclass class);

/* The helper, inside of the class's initialiser: until the other one waits for it. */
JNIEXPORT void JNICALL Java_java_lang_JProbe_00024Held_hold(JNIEnv *env, jclass class)
{
	const struct timespec step = {0, TRIAL_STEP_MS * 1000000};
	jmethodID method = (*env)->GetStaticMethodID(env, class, "hold", "()V");
	char name[sizeof(CLASS_NAME) + 1];
	__u64 klass = method ? klass_of(method) : 0;
	int i;

	exception_clear(env);
	if (trial.over || agent_tid() != owners_trial_tid)
		return;
	trial_say(&trial.held, 1);
	if (!klass || klass_name(klass, name, sizeof(name)) < 0 || strcmp(name, CLASS_NAME))
		return;
	for (i = 0; i < TRIAL_STEPS && !trial.found; i++) {
		trial.found = thread_search(klass);
		if (!trial.found)
			nanosleep(&step, NULL);
	}
}

/* Initialises the class, or waits until the other one has done so. */
static void held_initialise(JNIEnv *env)
{
	(*env)->GetStaticMethodID(env, trial.class, "hold", "()V");
	exception_clear(env);
}

void class_waits_hold(JNIEnv *env)
{
	pthread_mutex_lock(&trial.lock);
	trial_wait(&trial.ready);
	pthread_mutex_unlock(&trial.lock);
	if (trial.ready > 0)
		held_initialise(env);
}

int class_waits_trial_is(JNIEnv *env)
{
	return __atomic_load_n(&trial.vm_thread, __ATOMIC_ACQUIRE) == vm_thread_of(env) &&
	       trial.ready > 0 && !trial.over;
}

/* Returns the offset, 0: not known. */
static long trial_run(JNIEnv *env)
{
	__u64 after = 1;

	__atomic_store_n(&trial.vm_thread, vm_thread_of(env), __ATOMIC_RELEASE);
	trial_say(&trial.ready, 1);
	pthread_mutex_lock(&trial.lock);
	trial_wait(&trial.held);
	pthread_mutex_unlock(&trial.lock);
	if (!trial.held)
		return 0;
	held_initialise(env); /* waits for the helper, which has looked when it is over */
	if (trial.found <= 0 ||
	    vm_read(trial.vm_thread + (__u64)trial.found, &after, sizeof(after)) < 0)
		return 0;
	return after ? 0 : trial.found;
}

void class_waits_try(JNIEnv *env, int callable)
{
	long found = 0;

	if (trial.over)
		return;
	layout_find();
	if (vm_thread_of(env) && layout.thread_size && callable)
		trial.class = held_define(env);
	if (trial.class)
		found = trial_run(env);
	else
		trial_say(&trial.ready, -1);
	trial.over = 1;
	__atomic_store_n(&class_offset, found, __ATOMIC_RELEASE);
}

int class_waits_known(void)
{
	return __atomic_load_n(&class_offset, __ATOMIC_ACQUIRE) != 0;
}
