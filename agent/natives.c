/* SPDX-License-Identifier: MIT */
/*
 * The JVM's own native methods with a function of ours around them: exact begin and end of what
 * they do, without rewriting a class. The JVM is told by RegisterNatives, as its own libraries tell
 * it; it then drops the compiled stubs of the old functions by itself.
 *
 * RegisterNatives prints a warning when a stranger rebinds a class of the JDK. We are none: the
 * call comes from a class of java.base, java.lang.JProbe$Natives, which has one method to do it.
 *
 * The function a method has is read from HotSpot's Method, behind the end of it, and is tried on
 * methods whose functions the JVM exports.
 */
#include "compat.h"

#include <dlfcn.h>
#include <time.h>

#include "classfile.h"
#include "waits.h"

#define BOUND_WAIT_MS 5000
#define BOUND_STEP_MS 5
#define CLASS_NAME "java/lang/JProbe$Natives"

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024Natives_bind0(JNIEnv *env, jclass class);

static jclass binder; /* global reference */
static jmethodID bind;
static int bound; /* the JVM has found bind0 */

/* What bind0() is to do; under the lock. */
static struct native *pending;
static unsigned int nr_pending;
static int pending_wrap;
static pthread_mutex_t pending_lock = PTHREAD_MUTEX_INITIALIZER;

static void binder_define(JNIEnv *env)
{
	struct jis_bytes bytes = {0};
	jclass class = (*env)->FindClass(env, CLASS_NAME); /* of a former attach */

	exception_clear(env);
	if (!class) {
		jis_class_calling_native(&bytes, CLASS_NAME, "bind", "bind0");
		if (!bytes.failed)
			class = (*env)->DefineClass(env, CLASS_NAME, NULL,
						    (const jbyte *)bytes.data, (jsize)bytes.size);
		jis_bytes_free(&bytes);
		exception_clear(env);
	}
	if (!class)
		return;
	binder = (*env)->NewGlobalRef(env, class);
	(*env)->DeleteLocalRef(env, class);
	bind = binder ? (*env)->GetStaticMethodID(env, binder, "bind", "()V") : NULL;
	exception_clear(env);
}

/* Has the JVM call bind0() from inside of java.base, which it finds only when Agent_OnAttach has
 * returned; 0 or -errno. */
static int binder_call(JNIEnv *env)
{
	const struct timespec step = {0, BOUND_STEP_MS * 1000000};
	int ms;

	if (!binder)
		binder_define(env);
	if (!bind)
		return -ENOENT;
	bound = 0;
	for (ms = 0; !bound && ms < BOUND_WAIT_MS; ms += BOUND_STEP_MS) {
		if (ms)
			nanosleep(&step, NULL);
		(*env)->CallStaticVoidMethod(env, binder, bind);
		exception_clear(env);
	}
	return bound ? 0 : -ENOENT;
}

static void native_bind(JNIEnv *env, struct native *native)
{
	void *function = pending_wrap ? native->wrapper : *native->original;
	JNINativeMethod method = {(char *)native->name, (char *)native->descriptor, function};
	jclass class;

	if (!*native->original || native->wrapped == pending_wrap)
		return;
	class = (*env)->FindClass(env, native->class_name);
	if (class && (*env)->RegisterNatives(env, class, &method, 1) == JNI_OK)
		native->wrapped = pending_wrap;
	exception_clear(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
}

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024Natives_bind0(JNIEnv *env, jclass class)
{
	unsigned int i;

	bound = 1;
	for (i = 0; i < nr_pending; i++)
		native_bind(env, &pending[i]);
}

/* The function behind a native method; NULL: not known. */
static void *native_function(JNIEnv *env, const struct native *native)
{
	__u64 size = vm_type_size("Method"), method, function = 0;
	jclass class = (*env)->FindClass(env, native->class_name);
	jmethodID id = NULL;
	jboolean is_native = JNI_FALSE;

	if (class)
		id = native->is_static
			     ? (*env)->GetStaticMethodID(env, class, native->name,
							 native->descriptor)
			     : (*env)->GetMethodID(env, class, native->name, native->descriptor);
	exception_clear(env);
	if (class)
		(*env)->DeleteLocalRef(env, class);
	/* Where another agent has renamed it (SetNativeMethodPrefix) this is a method of its own.
	 */
	if (id && ((*agent.jvmti)->IsMethodNative(agent.jvmti, id, &is_native) || !is_native))
		return NULL;
	if (!id || !size || vm_read((__u64)(uintptr_t)id, &method, sizeof(method)) < 0 ||
	    vm_read(method + size, &function, sizeof(function)) < 0)
		return NULL;
	return (void *)(uintptr_t)function;
}

/* Is it right of a method whose function the JVM exports? */
static int layout_try(JNIEnv *env)
{
	static const struct native known = {"java/lang/Thread", "start0", "()V", 0,
					    "JVM_StartThread",	NULL,	  NULL,	 0};
	static int tried, right;

	if (!tried)
		right = agent.hotspot && native_function(env, &known) == vm_symbol(known.symbol);
	tried = 1;
	return right;
}

/* Finds what the wrapper is to call; NULL: it cannot be known, and nothing is wrapped. */
static void original_find(JNIEnv *env, const struct native *native)
{
	void *symbol = native->symbol ? vm_symbol(native->symbol) : NULL, *function = NULL;
	Dl_info info;

	if (*native->original)
		return; /* it stays what it was */
	if (layout_try(env))
		function = native_function(env, native);
	if (function && !dladdr(function, &info))
		function = NULL;
	*native->original = function ? function : symbol;
}

static int natives_bind(JNIEnv *env, struct native *natives, unsigned int n, int wrap)
{
	unsigned int i;
	int done = 0;

	pthread_mutex_lock(&pending_lock);
	pending = natives;
	nr_pending = n;
	pending_wrap = wrap;
	if (binder_call(env) < 0)
		recorder_note("%s is of no use: natives of the JVM are not watched", CLASS_NAME);
	nr_pending = 0;
	for (i = 0; i < n; i++)
		done += natives[i].wrapped == wrap;
	pthread_mutex_unlock(&pending_lock);
	return done;
}

int natives_callable(JNIEnv *env)
{
	int error;

	pthread_mutex_lock(&pending_lock);
	error = binder_call(env);
	pthread_mutex_unlock(&pending_lock);
	return !error;
}

int natives_wrap(JNIEnv *env, struct native *natives, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		original_find(env, &natives[i]);
	return natives_bind(env, natives, n, 1);
}

void natives_unwrap(JNIEnv *env, struct native *natives, unsigned int n)
{
	natives_bind(env, natives, n, 0);
}
