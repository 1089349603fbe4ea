/* SPDX-License-Identifier: MIT */
/*
 * Diagnostic commands of the JVM, executed from within: by the table of functions that libjvm hands
 * out to the JDK's management library (JVM_GetManagement). It needs neither the attach mechanism,
 * which can be disabled, nor a module that a small run-time image may lack. The table is HotSpot's
 * own affair: it has a version, which is raised with each change. Only known versions are used, and
 * only after the table has told its version and the names of commands.
 */
#include "vmlog.h"

#include <errno.h>
#include <stdio.h>

#include "waits.h"

#define TABLE_VERSION 2u

/* Where the functions lie in each known version. */
struct layout {
	jint version;
	unsigned int commands, execute;
};

static const struct layout layouts[] = {
	{0x20030000, 35, 38}, /* from JDK 14 on */
	{0x20040000, 36, 39}, /* from JDK 21 on */
};

typedef void *(*management_get)(jint version);
typedef jint (*version_get)(JNIEnv *env);
typedef jobjectArray (*commands_get)(JNIEnv *env);
typedef jstring (*command_execute)(JNIEnv *env, jstring command);

/* dlsym() gives a pointer to data, so does the table. */
union function {
	void *data;
	management_get management;
	version_get version;
	commands_get commands;
	command_execute execute;
};

static union function table_function(void *const *table, unsigned int n)
{
	union function f = {.data = table[n]};

	return f;
}

/* The table, and how it is laid out; NULL: of no known version. */
static void *const *table_get(JNIEnv *env, const struct layout **layout)
{
	union function get = {.data = vm_symbol("JVM_GetManagement")};
	void *const *table;
	unsigned int i;

	for (i = 0; get.data && i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		*layout = &layouts[i];
		table = get.management(layouts[i].version);
		if (table &&
		    table_function(table, TABLE_VERSION).version(env) == layouts[i].version)
			return table;
	}
	return NULL;
}

static int text_is(JNIEnv *env, jstring string, const char *wanted)
{
	const char *text = string ? (*env)->GetStringUTFChars(env, string, NULL) : NULL;
	int is = text && !strcmp(text, wanted);

	if (text)
		(*env)->ReleaseStringUTFChars(env, string, text);
	return is;
}

/* The known answer: among the names of commands is one that all JVMs have had since 9. */
static int table_try(JNIEnv *env, void *const *table, const struct layout *layout)
{
	jobjectArray names = table_function(table, layout->commands).commands(env);
	jsize i, n = names ? (*env)->GetArrayLength(env, names) : 0;
	jobject name;
	int found = 0;

	for (i = 0; i < n && !found; i++) {
		name = (*env)->GetObjectArrayElement(env, names, i);
		found = text_is(env, name, "VM.log");
		(*env)->DeleteLocalRef(env, name);
	}
	exception_clear(env);
	if (names)
		(*env)->DeleteLocalRef(env, names);
	return found;
}

static int execute(JNIEnv *env, union function function, const char *command, char *answer,
		   size_t n)
{
	jstring string = (*env)->NewStringUTF(env, command), result;
	const char *text;

	if (!string)
		return -ENOMEM;
	result = function.execute(env, string);
	if ((*env)->ExceptionCheck(env) || !result)
		return -EINVAL;
	text = (*env)->GetStringUTFChars(env, result, NULL);
	if (!text)
		return -ENOMEM;
	snprintf(answer, n, "%s", text);
	(*env)->ReleaseStringUTFChars(env, result, text);
	return 0;
}

int dcmd_execute(JNIEnv *env, const char *command, char *answer, size_t n)
{
	static union function function; /* tried */
	const struct layout *layout;
	void *const *table;
	int error;

	answer[0] = 0;
	if ((*env)->PushLocalFrame(env, 16) < 0) {
		exception_clear(env);
		return -ENOMEM;
	}
	if (!function.data && agent.hotspot) {
		table = table_get(env, &layout);
		if (table && table_try(env, table, layout))
			function = table_function(table, layout->execute);
	}
	error = function.data ? execute(env, function, command, answer, n) : -ENOTSUP;
	exception_clear(env);
	(*env)->PopLocalFrame(env, NULL);
	return error;
}
