/* SPDX-License-Identifier: MIT */
/*
 * java.lang.JProbe$, the class that rewritten JDK methods call, and the hook on Thread.setName. Its
 * natives here are hooks: ordinary JNI, which clear any exception they cause and throw none.
 *
 * The JVM finds them by their exported names in the agent library. A hook is installed only after
 * its native has been called once, as an unbound native would throw into the application.
 */
#include "agent.h"
#include "classfile.h"

#define PROBE_CLASS "java/lang/JProbe$"
#define SET_NAME "setName"
#define SET_NAME_TYPE "(Ljava/lang/Thread;Ljava/lang/String;)V"

static jclass probe_class; /* global reference */
static int set_name_hooked;

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_setName(JNIEnv *env, jclass class,
							   jthread thread, jstring string);

static void exception_clear(JNIEnv *env)
{
	if ((*env)->ExceptionCheck(env))
		(*env)->ExceptionClear(env);
}

JNIEXPORT void JNICALL Java_java_lang_JProbe_00024_setName(JNIEnv *env, jclass class,
							   jthread thread, jstring string)
{
	struct jis_ev_java_thread_name fixed;
	char name[NAME_UTF8_MAX];
	int length;

	if (!thread || !string || agent_is_dormant())
		return;
	length = name_of_string(env, string, name);
	fixed.java_tid = (__u64)(*env)->GetLongField(env, thread, agent.thread_tid);
	fixed.by_tid = agent_tid();
	exception_clear(env);
	if (length >= 0)
		dict_write(JIS_EV_java_thread_name, &fixed,
			   offsetof(struct jis_ev_java_thread_name, name_length), name,
			   (size_t)length);
}

/* Defines the class in the boot loader; 0 or -errno. For the start phase. */
int hooks_define(JNIEnv *env)
{
	static const struct jis_native_method natives[] = {{SET_NAME, SET_NAME_TYPE}};
	struct jis_bytes bytes = {0};
	jclass class = NULL;

	jis_class_of_natives(&bytes, PROBE_CLASS, natives, sizeof(natives) / sizeof(natives[0]));
	if (!bytes.failed)
		class = (*env)->DefineClass(env, PROBE_CLASS, NULL, (const jbyte *)bytes.data,
					    (jsize)bytes.size);
	exception_clear(env);
	jis_bytes_free(&bytes);
	if (class) {
		probe_class = (*env)->NewGlobalRef(env, class);
		(*env)->DeleteLocalRef(env, class);
	}
	if (probe_class)
		return 0;
	recorder_note("%s cannot be defined: later names of threads are not recorded", PROBE_CLASS);
	return -ENOENT;
}

/* Calls the native with nothing to do: 0 when the JVM has bound it. */
static int set_name_try(JNIEnv *env)
{
	jmethodID method = (*env)->GetStaticMethodID(env, probe_class, SET_NAME, SET_NAME_TYPE);
	int bound = 0;

	if (method) {
		(*env)->CallStaticVoidMethod(env, probe_class, method, NULL, NULL);
		bound = !(*env)->ExceptionCheck(env);
	}
	exception_clear(env);
	return bound ? 0 : -ENOENT;
}

void hooks_install(JNIEnv *env)
{
	jvmtiError error = JVMTI_ERROR_INTERNAL;
	jclass class;

	if (set_name_try(env) < 0) {
		recorder_note(
			"a native of %s is not bound: later names of threads are not recorded",
			PROBE_CLASS);
		return;
	}
	class = (*env)->FindClass(env, "java/lang/Thread");
	exception_clear(env);
	if (!class)
		return;
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE,
					   JVMTI_EVENT_CLASS_FILE_LOAD_HOOK, NULL);
	error = (*agent.jvmti)->RetransformClasses(agent.jvmti, 1, &class);
	exception_clear(env);
	(*env)->DeleteLocalRef(env, class);
	if (error || !__atomic_load_n(&set_name_hooked, __ATOMIC_ACQUIRE))
		recorder_note("java.lang.Thread cannot be rewritten (JVMTI error %d): "
			      "later names of threads are not recorded",
			      error);
}

static int thread_rewrite(const unsigned char *data, jint length, struct jis_bytes *out)
{
	struct jis_entry_hook hook = {
		.method = "setName",
		.descriptor = "(Ljava/lang/String;)V",
		.probe_class = PROBE_CLASS,
		.probe_method = SET_NAME,
		.probe_descriptor = SET_NAME_TYPE,
		.nr_locals = 2,
		.locals = {0, 1},
	};
	int n = jis_class_hook_entries(data, (size_t)length, &hook, out);

	if (n == 1)
		return 0;
	recorder_note("Thread.setName cannot be rewritten: %s", hook.why ? hook.why
								: n < 0	 ? strerror(-n)
									 : "no such method");
	return -ENOENT;
}

void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
				const char *name, jobject domain, jint length,
				const unsigned char *data, jint *new_length,
				unsigned char **new_data)
{
	struct jis_bytes out = {0};

	if (!name || loader || strcmp(name, "java/lang/Thread") || agent_is_dormant())
		return;
	if (thread_rewrite(data, length, &out) == 0 &&
	    !(*jvmti)->Allocate(jvmti, (jlong)out.size, new_data)) {
		memcpy(*new_data, out.data, out.size);
		*new_length = (jint)out.size;
		__atomic_store_n(&set_name_hooked, 1, __ATOMIC_RELEASE);
	}
	jis_bytes_free(&out);
}
