/* SPDX-License-Identifier: MIT */
/*
 * Entry points of the agent and the phases of the JVM's life: which events and capabilities are
 * asked for, and when. Whatever goes wrong, the JVM starts and runs as without us.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent.h"
#include "doings.h"
#include "methods.h"
#include "vmlog.h"
#include "waits.h"

#define VM_VERSION_MIN 17u

struct agent agent = {.writer = JIS_WRITER_INITIALIZER(agent.writer)};

/* Messages ----------------------------------------------------------------------------------- */

/* One write(2) a line, so that lines of several threads do not mix. */
static __attribute__((format(printf, 1, 0))) void message(const char *format, va_list args)
{
	char line[1024];
	int n = snprintf(line, sizeof(line), "jis: ");

	vsnprintf(line + n, sizeof(line) - (size_t)n - 1, format, args);
	n = (int)strlen(line);
	line[n++] = '\n';
	(void)!write(STDERR_FILENO, line, (size_t)n);
}

void agent_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	message(format, args);
	va_end(args);
}

void agent_debug(const char *format, ...)
{
	va_list args;

	if (!agent.debug)
		return;
	va_start(args, format);
	message(format, args);
	va_end(args);
}

/* The JVM's phases --------------------------------------------------------------------------- */

static void event_enable(jvmtiEvent event)
{
	jvmtiError error =
		(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, event, NULL);

	if (error)
		recorder_note("JVMTI event %d cannot be had: error %d", event, error);
}

static void phase_write(__u32 phase)
{
	struct jis_ev_vm_phase record = {phase};

	agent_write(JIS_EV_vm_phase, &record, sizeof(record));
}

static void JNICALL on_vm_start(jvmtiEnv *jvmti, JNIEnv *env)
{
	if (!agent_recording())
		return;
	phase_write(JIS_VM_START);
	hooks_define(env);
}

static void JNICALL on_vm_init(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	phase_write(JIS_VM_INIT);
	life_live(env);
	recorder_begin_wait(); /* main() is recorded from its begin */
}

static void JNICALL on_vm_death(jvmtiEnv *jvmti, JNIEnv *env)
{
	life_vm_death();
	vmlogs_read();
	phase_write(JIS_VM_DEATH);
}

/* Starting up -------------------------------------------------------------------------------- */

/* Copies the value of KEY= in a comma-separated option string; 0 when it is not there. */
static int option_value(const char *options, const char *key, char *out, size_t size)
{
	size_t length = strlen(key), n;

	while (options && *options) {
		n = strcspn(options, ",");
		if (n >= length && !strncmp(options, key, length) && n - length < size) {
			memcpy(out, options + length, n - length);
			out[n - length] = 0;
			return 1;
		}
		options += n + (options[n] == ',');
	}
	return 0;
}

static void property(const char *name, char *out, size_t size)
{
	char *value = NULL;

	out[0] = 0;
	if ((*agent.jvmti)->GetSystemProperty(agent.jvmti, name, &value) || !value)
		return;
	snprintf(out, size, "%s", value);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)value);
}

/* Which JVM this is: "1.8" is 8, "17" and "21" are themselves. */
static void vm_identify(void)
{
	char text[JIS_AGENT_TEXT_MAX / 2 - 1], name[JIS_AGENT_TEXT_MAX / 2];
	const char *p = text;

	property("java.vm.specification.version", text, sizeof(text));
	if (!strncmp(p, "1.", 2))
		p += 2;
	for (agent.vm_version = 0; *p >= '0' && *p <= '9' && agent.vm_version < 1000; p++)
		agent.vm_version = agent.vm_version * 10 + (unsigned int)(*p - '0');
	property("java.vm.name", name, sizeof(name));
	property("java.vm.version", text, sizeof(text));
	snprintf(agent.vm_name, sizeof(agent.vm_name), "%s %s", name, text);
	agent.hotspot = !strstr(name, "OpenJ9") && vmstructs_present();
}

/* jvmti.h may be older than the JVM: there is room for events it does not know. */
union callbacks {
	jvmtiEventCallbacks known;
	void *all[EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL + 1];
};

static void callbacks_set(void)
{
	jvmtiEventCallbacks callbacks;
	union callbacks all;

	memset(&callbacks, 0, sizeof(callbacks));
	callbacks.VMStart = on_vm_start;
	callbacks.VMInit = on_vm_init;
	callbacks.VMDeath = on_vm_death;
	callbacks.ThreadStart = on_thread_start;
	callbacks.ThreadEnd = on_thread_end;
	callbacks.GarbageCollectionStart = on_gc_start;
	callbacks.GarbageCollectionFinish = on_gc_finish;
	callbacks.ClassPrepare = on_class_prepare;
	callbacks.ClassFileLoadHook = on_class_file_load;
	callbacks.MonitorContendedEnter = on_contended_enter;
	callbacks.MonitorContendedEntered = on_contended_entered;
	callbacks.MonitorWait = on_wait;
	callbacks.MonitorWaited = on_waited;
	callbacks.CompiledMethodLoad = on_compiled;
	callbacks.Exception = on_exception;
	callbacks.SampledObjectAlloc = on_allocation;
	memset(&all, 0, sizeof(all));
	all.known = callbacks;
	all.all[EVENT_VIRTUAL_THREAD_START - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_vthread_start;
	all.all[EVENT_VIRTUAL_THREAD_END - JVMTI_MIN_EVENT_TYPE_VAL] = (void *)on_vthread_end;
	(*agent.jvmti)->SetEventCallbacks(agent.jvmti, &all.known, sizeof(all));
}

/* Who attaches waits for the answer longer than this (ATTACH_TIMEOUT_MS in libjisctl, and
 * AGENT_MS). */
#define VM_LIVE_MS 8000
#define VM_LIVE_STEP_MS 10

/*
 * Returns 0, -EAGAIN where the VM has not begun to live, or -ENOTSUP. HotSpot can be attached to
 * from before its start phase on, and gives nobody a JVMTI environment between OnLoad and the live
 * phase: JNI_EDETACHED.
 */
static int jvmti_try(JavaVM *vm)
{
	static const jint versions[] = {JVMTI_VERSION_11, JVMTI_VERSION_1_2, JVMTI_VERSION_1_0};
	unsigned int i;
	jint err;

	for (i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		err = (*vm)->GetEnv(vm, (void **)&agent.jvmti, versions[i]);
		if (err == JNI_OK)
			return 0;
		if (err == JNI_EDETACHED)
			return -EAGAIN;
	}
	return -ENOTSUP;
}

/* The VM goes on with its start beside the thread that attaches, which is in native code. */
static int jvmti_get(JavaVM *vm)
{
	const struct timespec step = {0, VM_LIVE_STEP_MS * 1000000};
	int ms, err = jvmti_try(vm);

	for (ms = 0; err == -EAGAIN && ms < VM_LIVE_MS; ms += VM_LIVE_STEP_MS) {
		nanosleep(&step, NULL);
		err = jvmti_try(vm);
	}
	return err;
}

static int socket_path(const char *options, char *path, size_t size)
{
	const char *env = getenv(JIS_SOCKET_ENV);

	if (option_value(options, "socket=", path, size))
		return 0;
	if (!env || !*env || strlen(env) >= size)
		return -ENOENT;
	memcpy(path, env, strlen(env) + 1);
	return 0;
}

static int disabled(void)
{
	const char *disable = getenv(JIS_DISABLE_ENV);

	return disable && !strcmp(disable, "1");
}

/* What a library needs once in its life, before its first recording. */
static int agent_load(JavaVM *vm, char *why, size_t n)
{
	int error;

	if (agent.vm)
		return 0;
	error = jvmti_get(vm);
	if (error) {
		snprintf(why, n, "%s",
			 error == -EAGAIN ? "this JVM is still starting; attach once more"
					  : "this JVM has no JVMTI");
		return error;
	}
	vm_identify();
	callbacks_set();
	error = slots_init();
	if (error)
		snprintf(why, n, "no thread-specific key left");
	else
		agent.vm = vm;
	return error;
}

/* Is the library the one that who attaches it believes it is? */
static int version_check(const char *options, char *why, size_t n)
{
	char version[32];

	if (!option_value(options, "version=", version, sizeof(version)) ||
	    !strcmp(version, JIS_VERSION))
		return 0;
	snprintf(why, n,
		 "this JVM has loaded the agent of JIS " JIS_VERSION
		 ", the recorder is JIS %s; a JVM takes one version in its life",
		 version);
	return -EPROTO;
}

/* One recording more: @env is the calling thread's where the JVM runs already. */
static int agent_start(JavaVM *vm, const char *options, JNIEnv *env, char *why, size_t n)
{
	char path[512], flag[2];
	int error;

	if (socket_path(options, path, sizeof(path)) < 0) {
		snprintf(why, n,
			 "no recorder (neither " JIS_SOCKET_ENV " nor the option socket= is set)");
		return -ENOENT;
	}
	error = version_check(options, why, n);
	if (!error)
		error = agent_load(vm, why, n);
	if (!error && agent.vm_version < VM_VERSION_MIN) {
		snprintf(why, n, "%s is older than Java 17", agent.vm_name);
		error = -ENOTSUP;
	}
	if (error)
		return error;
	agent.debug = option_value(options, "debug", flag, sizeof(flag));
	agent.no_rewrite = option_value(options, "norewrite", flag, sizeof(flag));
	agent.no_vm_flags = option_value(options, "noflags", flag, sizeof(flag));
	agent.no_patch = option_value(options, "nopatch", flag, sizeof(flag));
	agent.no_link = option_value(options, "nolink", flag, sizeof(flag));
	agent.no_vm_states = option_value(options, "novmstates", flag, sizeof(flag));
	error = life_begin(path, env, why, n);
	if (!error) {
		event_enable(JVMTI_EVENT_VM_DEATH);
		agent_debug("connected to %s, features %#x, %s", path, agent.features,
			    agent.vm_name);
	}
	return error;
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	static int tried;
	char why[1024] = "";

	if (disabled())
		return JNI_OK;
	if (jis_agent_at_work || agent_elsewhere(NULL, 0)) {
		agent_warn("loaded twice into this JVM: the second one stays out");
		return JNI_OK;
	}
	if (tried++) /* the first one failed, and has said why */
		return JNI_OK;
	if (agent_start(vm, options, NULL, why, sizeof(why)) < 0) {
		agent_warn("no recording: %s", why);
		return JNI_OK;
	}
	if (agent.features & JIS_FEATURE_METHODS)
		probes_choose();
	event_enable(JVMTI_EVENT_VM_START);
	event_enable(JVMTI_EVENT_VM_INIT);
	return JNI_OK;
}

/* Who attached hears it from the recorder; where that cannot be reached, who reads our stderr. */
static void attach_failed(const char *options, const char *why)
{
	char path[512];

	if (socket_path(options, path, sizeof(path)) < 0 || recorder_tell_failure(path, why) < 0)
		agent_warn("no recording: %s", why);
}

JNIEXPORT jint JNICALL Agent_OnAttach(JavaVM *vm, char *options, void *reserved)
{
	char why[1024] = "", path[512];
	JNIEnv *env = NULL;
	int error = -EBUSY;

	agent.attached = 1;
	if (disabled())
		snprintf(why, sizeof(why), JIS_DISABLE_ENV "=1 is in this JVM's environment");
	else if (agent_elsewhere(path, sizeof(path)))
		snprintf(why, sizeof(why), "this JVM has loaded another copy of the agent, %s",
			 path);
	else if ((*vm)->GetEnv(vm, (void **)&env, JNI_VERSION_10) != JNI_OK)
		snprintf(why, sizeof(why), "no JNI in the thread that attaches");
	else
		error = agent_start(vm, options, env, why, sizeof(why));
	/* To be attached again by the same recorder is no mistake, and all is running. */
	if (error < 0 && error != -EALREADY)
		attach_failed(options, why);
	return JNI_OK;
}

JNIEXPORT void JNICALL Agent_OnUnload(JavaVM *vm)
{
	/* Daemon threads still run: nothing is taken down (see -z nodelete). */
}
