/* SPDX-License-Identifier: MIT */
/*
 * java.lang.JProbe$, the class of natives that rewritten JDK methods call, and putting the calls of
 * all wanted families into those methods and taking them out again. Its natives are ordinary JNI,
 * which clear any exception they cause and throw none.
 *
 * The JVM finds natives by their exported names in the agent library, when the library was attached
 * only after Agent_OnAttach has returned. A hook is installed only after its native has been called
 * once, as an unbound native would throw into the application. All classes are retransformed by one
 * request; what is loaded later is rewritten when it is. Class and natives stay for good: old
 * frames may still call them.
 */
#include "compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "enters.h"
#include "families.h"
#include "methods.h"
#include "retransform.h"
#include "waits.h"

#define HOOKS_MAX 128u
#define PROBES_MAX 16u
#define BOUND_WAIT_MS 5000
#define BOUND_STEP_MS 5
#define LOADING_WAIT_MS 2000
#define LOADING_STEP_MS 20

static jclass probe_class; /* global reference, for good */
static int hooks_on;	   /* classes that come by are rewritten */

/* What is known of each hook of the table, in its order. */
static struct {
	const struct agent_hook *hook;
	__u32 feature;
	int bound;   /* its native can be called; for good */
	int wanted;  /* in this recording */
	int hooked;  /* methods found and rewritten in this recording */
	int present; /* the class as it is now has the call */
} table[HOOKS_MAX];
static unsigned int nr_hooks;

static void sleep_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void table_make(void)
{
	const struct agent_hook *hook;
	unsigned int i;

	for (i = 0; i < agent_nr_families && !probe_class; i++)
		for (hook = agent_families[i].hooks;
		     hook && hook->class_name && nr_hooks < HOOKS_MAX; hook++) {
			table[nr_hooks].hook = hook;
			table[nr_hooks++].feature = agent_families[i].feature;
		}
}

/* The class ---------------------------------------------------------------------------------- */

/* Has an earlier entry the same native? */
static int probe_repeated(unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (!strcmp(table[i].hook->probe, table[n].hook->probe) &&
		    !strcmp(table[i].hook->probe_descriptor, table[n].hook->probe_descriptor))
			return 1;
	return 0;
}

static void probe_class_make(struct jis_bytes *bytes)
{
	struct jis_native_method natives[HOOKS_MAX + PROBES_MAX];
	const struct jis_native_method *probe;
	unsigned int i, n = 0;

	for (i = 0; i < nr_hooks; i++)
		if (!probe_repeated(i))
			natives[n++] = (struct jis_native_method){table[i].hook->probe,
								  table[i].hook->probe_descriptor,
								  table[i].hook->hashes};
	for (probe = probe_natives; probe->name && n < HOOKS_MAX + PROBES_MAX; probe++)
		natives[n++] = *probe;
	for (probe = enter_natives; probe->name && n < HOOKS_MAX + PROBES_MAX; probe++)
		natives[n++] = *probe;
	jis_class_of_natives(bytes, PROBE_CLASS, natives, n);
}

int hooks_define(JNIEnv *env)
{
	struct jis_bytes bytes = {0};
	jclass class = NULL;

	if (probe_class)
		return 0;
	nr_hooks = 0;
	table_make();
	probe_class_make(&bytes);
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
	recorder_note("%s cannot be defined: no JDK class is rewritten", PROBE_CLASS);
	return -ENOENT;
}

/* Calls the native with nothing to do: 0 when the JVM has bound it. */
static int probe_try(JNIEnv *env, const char *name, const char *descriptor)
{
	jmethodID method = (*env)->GetStaticMethodID(env, probe_class, name, descriptor);
	jvalue nothing[JIS_HOOK_LOCALS + JIS_HOOK_MORE + 1];
	int bound = 0;

	memset(nothing, 0, sizeof(nothing));
	if (method) {
		(*env)->CallStaticVoidMethodA(env, probe_class, method, nothing);
		bound = !(*env)->ExceptionCheck(env);
	}
	exception_clear(env);
	return bound ? 0 : -ENOENT;
}

/* Are the natives of all wanted hooks bound by now? */
static int probes_bound(JNIEnv *env)
{
	unsigned int i;
	int all = 1;

	for (i = 0; i < nr_hooks; i++) {
		if (table[i].wanted && !table[i].bound)
			table[i].bound = probe_try(env, table[i].hook->probe,
						   table[i].hook->probe_descriptor) == 0;
		all &= !table[i].wanted || table[i].bound;
	}
	return all;
}

int hooks_probe_bound(JNIEnv *env, const char *name, const char *descriptor)
{
	int ms;

	for (ms = 0; probe_class && ms < BOUND_WAIT_MS && agent_recording(); ms += BOUND_STEP_MS) {
		if (probe_try(env, name, descriptor) == 0)
			return 1;
		sleep_ms(BOUND_STEP_MS);
	}
	return 0;
}

static void hooks_bind(JNIEnv *env)
{
	unsigned int i;
	int ms = 0;

	while (!probes_bound(env) && ms < BOUND_WAIT_MS && agent_recording()) {
		sleep_ms(BOUND_STEP_MS);
		ms += BOUND_STEP_MS;
	}
	for (i = 0; i < nr_hooks; i++) {
		if (!table[i].wanted || table[i].bound)
			continue;
		table[i].wanted = 0;
		recorder_note("native %s of %s is not bound: %s.%s cannot be watched",
			      table[i].hook->probe, PROBE_CLASS, table[i].hook->class_name,
			      table[i].hook->method);
	}
}

/* The classes -------------------------------------------------------------------------------- */

typedef int (*hook_test)(unsigned int n);

static int is_wanted(unsigned int n)
{
	return table[n].wanted;
}

static int is_present(unsigned int n)
{
	return __atomic_load_n(&table[n].present, __ATOMIC_ACQUIRE);
}

/* Is "Ljava/lang/Thread;", of a loader that is not the boot loader if @foreign, the class of a hook
 * for which @test holds? */
static int signature_matches(const char *signature, int foreign, hook_test test)
{
	size_t length = strlen(signature), n;
	unsigned int i;

	for (i = 0; i < nr_hooks; i++) {
		n = strlen(table[i].hook->class_name);
		if (length == n + 2 && !strncmp(signature + 1, table[i].hook->class_name, n) &&
		    (!foreign || table[i].hook->any_loader) && test(i))
			return 1;
	}
	return 0;
}

static int class_matches(JNIEnv *env, jclass class, hook_test test)
{
	char *signature = NULL;
	jobject loader = NULL;
	int is;

	if ((*agent.jvmti)->GetClassSignature(agent.jvmti, class, &signature, NULL) || !signature)
		return 0;
	is = signature[0] == 'L' && signature_matches(signature, 0, test);
	if (is)
		is = !(*agent.jvmti)->GetClassLoader(agent.jvmti, class, &loader) &&
		     (!loader || signature_matches(signature, 1, test));
	if (loader)
		(*env)->DeleteLocalRef(env, loader);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)signature);
	return is;
}

/*
 * Retransforms all loaded classes with hooks for which @test holds, by one request. Returns how
 * many; @error: the JVMTI error where there are others.
 */
static int classes_retransform(JNIEnv *env, hook_test test, jvmtiError *error)
{
	jclass *classes = NULL;
	jint n = 0, i, chosen = 0, done;

	*error = JVMTI_ERROR_NONE;
	if ((*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		*error = JVMTI_ERROR_OUT_OF_MEMORY;
		return 0;
	}
	if ((*agent.jvmti)->GetLoadedClasses(agent.jvmti, &n, &classes))
		n = 0;
	if ((*env)->EnsureLocalCapacity(env, n + 16) < 0) {
		exception_clear(env);
		*error = JVMTI_ERROR_OUT_OF_MEMORY;
		n = 0;
	}
	for (i = 0; i < n; i++) {
		if (class_matches(env, classes[i], test))
			classes[chosen++] = classes[i];
		else
			(*env)->DeleteLocalRef(env, classes[i]);
	}
	if (!*error)
		done = retransform(env, classes, chosen, NULL, error);
	else
		done = 0;
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)classes);
	(*env)->PopLocalFrame(env, NULL);
	return done;
}

static void load_hook_set(jvmtiEventMode mode)
{
	(*agent.jvmti)
		->SetEventNotificationMode(agent.jvmti, mode, JVMTI_EVENT_CLASS_FILE_LOAD_HOOK,
					   NULL);
}

static int version_fits(const struct agent_hook *hook)
{
	return (!hook->vm_min || agent.vm_version >= hook->vm_min) &&
	       (!hook->vm_max || agent.vm_version <= hook->vm_max);
}

/* Chooses hooks; returns how many. */
static int hooks_choose(void)
{
	unsigned int i;
	int n = 0;

	for (i = 0; i < nr_hooks; i++) {
		table[i].wanted = (agent.features & table[i].feature) && agent.hotspot &&
				  !agent.no_rewrite && version_fits(table[i].hook);
		table[i].hooked = 0;
		n += table[i].wanted;
	}
	return n;
}

void hooks_install(JNIEnv *env)
{
	jvmtiError error;
	int n;

	if (!probe_class || !hooks_choose())
		return;
	hooks_bind(env);
	__atomic_store_n(&hooks_on, 1, __ATOMIC_RELEASE);
	load_hook_set(JVMTI_ENABLE);
	n = classes_retransform(env, is_wanted, &error);
	if (error)
		recorder_note("JDK classes cannot be rewritten (JVMTI error %d), all but %d", error,
			      n);
	agent_debug("%d JDK classes rewritten", n);
}

/* Has a class been rewritten while it was loaded, and is not there yet? */
static int is_loading(void)
{
	unsigned int i;

	for (i = 0; i < nr_hooks; i++)
		if (is_present(i))
			return 1;
	return 0;
}

void hooks_remove(JNIEnv *env)
{
	jvmtiError error = JVMTI_ERROR_NONE, last = JVMTI_ERROR_NONE;
	int methods = methods_remove(env), ms;

	methods |= enters_remove(env);
	if (!__atomic_exchange_n(&hooks_on, 0, __ATOMIC_ACQ_REL)) {
		if (methods)
			load_hook_set(JVMTI_DISABLE);
		return;
	}
	/* The event stays on for it: seeing the class again tells that it has its bytes again. */
	for (ms = 0; is_loading() && ms <= LOADING_WAIT_MS; ms += LOADING_STEP_MS) {
		if (ms)
			sleep_ms(LOADING_STEP_MS);
		classes_retransform(env, is_present, &error);
		last = error ? error : last;
	}
	load_hook_set(JVMTI_DISABLE);
	if (is_loading() || last)
		agent_warn("a JDK class could not be given its bytes back (JVMTI error %d)", last);
}

/* Rewriting ---------------------------------------------------------------------------------- */

/* Puts hook @n into the class file @in; @out gets it. Returns 0, or -ENOENT: as it was. */
static int hook_put(unsigned int n, const struct jis_bytes *in, struct jis_bytes *out)
{
	const struct agent_hook *h = table[n].hook;
	struct jis_entry_hook hook = {
		.method = h->method,
		.descriptor = h->descriptor,
		.probe_class = PROBE_CLASS,
		.probe_method = h->probe,
		.probe_descriptor = h->probe_descriptor,
		.places = h->places,
		.nr_locals = h->nr_locals,
		.nr_more = h->nr_more,
		.result = h->result,
	};
	int methods;

	memcpy(hook.locals, h->locals, sizeof(hook.locals));
	memcpy(hook.more, h->more, sizeof(hook.more));
	methods = jis_class_hook_entries(in->data, in->size, &hook, out);
	if (methods > 0) {
		table[n].hooked = methods;
		return 0;
	}
	if (!h->optional || methods < 0 || hook.why)
		recorder_note("%s.%s cannot be watched: %s", h->class_name, h->method,
			      hook.why	    ? hook.why
			      : methods < 0 ? strerror(-methods)
					    : "no such method");
	return -ENOENT;
}

/* All hooks of class @name into the @bytes, which are replaced. Returns how many. */
static int hooks_put(const char *name, struct jis_bytes *bytes)
{
	struct jis_bytes out = {0};
	unsigned int i;
	int n = 0;

	for (i = 0; i < nr_hooks; i++) {
		if (strcmp(name, table[i].hook->class_name) || !table[i].wanted)
			continue;
		if (hook_put(i, bytes, &out) == 0) {
			jis_bytes_free(bytes);
			*bytes = out;
			out = (struct jis_bytes){0};
			__atomic_store_n(&table[i].present, 1, __ATOMIC_RELEASE);
			n++;
		}
		jis_bytes_free(&out);
	}
	return n;
}

/* The class is about to have the bytes it would have without us. */
static void class_restored(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_hooks; i++)
		if (!strcmp(name, table[i].hook->class_name))
			__atomic_store_n(&table[i].present, 0, __ATOMIC_RELEASE);
}

static int is_hooked_class(const char *name, int foreign)
{
	unsigned int i;

	for (i = 0; i < nr_hooks; i++)
		if (!strcmp(name, table[i].hook->class_name) &&
		    (!foreign || table[i].hook->any_loader))
			return 1;
	return 0;
}

void JNICALL on_class_file_load(jvmtiEnv *jvmti, JNIEnv *env, jclass redefined, jobject loader,
				const char *name, jobject domain, jint length,
				const unsigned char *data, jint *new_length,
				unsigned char **new_data)
{
	struct jis_bytes bytes = {0};
	int hooked = name && is_hooked_class(name, loader != NULL), changed = 0;

	if (redefined)
		stacks_redefined(redefined);
	if (!hooked && !(agent.features & (JIS_FEATURE_METHODS | JIS_FEATURE_ALL_MONITORS)))
		return;
	jis_bytes_put(&bytes, data, (size_t)length);
	if (!bytes.failed && hooked) {
		class_restored(name);
		if (__atomic_load_n(&hooks_on, __ATOMIC_ACQUIRE))
			changed = hooks_put(name, &bytes) > 0;
	}
	if (!bytes.failed)
		changed |= methods_put(env, redefined, loader, name, &bytes);
	if (!bytes.failed)
		changed |= enters_put(loader, name, &bytes);
	if (changed && (*jvmti)->Allocate(jvmti, (jlong)bytes.size, new_data) == 0) {
		memcpy(*new_data, bytes.data, bytes.size);
		*new_length = (jint)bytes.size;
	} else if (changed) {
		class_restored(name);
	}
	jis_bytes_free(&bytes);
}
