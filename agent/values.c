/* SPDX-License-Identifier: MIT */
/*
 * Values of calls: the receiver and arguments that were asked for, told by natives that run before
 * the one that tells the entry, so that what they take is not in the call's time. Of an object no
 * more is told than its class and identity hash, of an array its length as well; of a string its
 * length and a hash with a secret key, and only on request its text. Runs no Java code.
 */
#include "compat.h"

#include <stdio.h>
#include <sys/random.h>

#include "siphash.h"
#include "values.h"
#include "waits.h"

#define ACC_STATIC 0x0008u
#define PROBE(name) Java_java_lang_JProbe_00024_##name

/* The second argument of each native: argument, 255 the receiver; kind; flags. */
#define WHAT_RECEIVER 255u
#define WHAT_KIND_SHIFT 8
#define WHAT_LIBRARY 0x10000u

#define HASHED_MAX 65536 /* characters of a string */
#define HASHED_PART 512
#define TEXT_MAX 1000
#define NOTES_MAX 8u

static uint64_t key[2];
static __u32 strings;
static jclass string_class; /* global reference, for good */
static __u32 nr_notes;	    /* of this recording, under methods_lock */

int values_begin(JNIEnv *env)
{
	jclass class;

	nr_notes = 0;
	if (getrandom(key, sizeof(key), GRND_NONBLOCK) != sizeof(key))
		return -EAGAIN;
	if (!string_class) {
		class = (*env)->FindClass(env, "java/lang/String");
		exception_clear(env);
		if (class) {
			string_class = (*env)->NewGlobalRef(env, class);
			(*env)->DeleteLocalRef(env, class);
		}
	}
	return string_class ? objects_enable(env) : -ENOENT;
}

void values_strings(uint32_t characters)
{
	__atomic_store_n(&strings, characters < TEXT_MAX ? characters : TEXT_MAX, __ATOMIC_RELAXED);
}

/* Records ------------------------------------------------------------------------------------ */

/* Begins a native; 0 when there is nothing to tell. */
static int value_enter(jint number, jint what)
{
	if (!number || !enter_for(JIS_EV_method_value))
		return 0;
	if (!((__u32)what & WHAT_LIBRARY) || !library_inside())
		return 1;
	agent_leave();
	return 0;
}

static void value_write(jint number, jint what, struct jis_ev_method_value *record,
			const char *text, size_t length)
{
	unsigned char bytes[sizeof(*record) + 4 + JIS_STRING_MAX];
	__u32 argument = (__u32)what & 0xff;
	size_t size = offsetof(struct jis_ev_method_value, text_length);

	record->method = (__u32)number;
	record->argument = argument == WHAT_RECEIVER ? JIS_VALUE_RECEIVER : (__s32)argument;
	if (!record->kind)
		record->kind = (__u32)what >> WHAT_KIND_SHIFT & 0xff;
	memcpy(bytes, record, size);
	size += jis_text_field(bytes + size, text, length);
	agent_write(JIS_EV_method_value, bytes, size);
}

static void number_tell(jint number, jint what, __u64 value)
{
	struct jis_ev_method_value record = {.value = value};

	if (!value_enter(number, what))
		return;
	value_write(number, what, &record, "", 0);
	agent_leave();
}

/* Strings ------------------------------------------------------------------------------------ */

static __u64 string_hash(JNIEnv *env, jstring string, jsize length)
{
	jchar part[HASHED_PART];
	struct siphash s;
	__u64 word = 0;
	jsize at, i, n;

	siphash_begin(&s, key);
	if (length > HASHED_MAX)
		length = HASHED_MAX;
	for (at = 0; at < length; at += n) {
		n = length - at < HASHED_PART ? length - at : HASHED_PART;
		(*env)->GetStringRegion(env, string, at, n, part);
		for (i = 0; i < n; i++) {
			word |= (__u64)part[i] << (at + i) % 4 * 16;
			if ((at + i) % 4 != 3)
				continue;
			siphash_word(&s, word);
			word = 0;
		}
	}
	return siphash_end(&s, word, (unsigned int)(length % 4 * 2));
}

/* The first characters in UTF-8; no half of a pair at the end. */
static size_t string_text(JNIEnv *env, jstring string, jsize length, char out[NAME_UTF8_MAX])
{
	char modified[3 * TEXT_MAX + 1];
	jsize most = (jsize)__atomic_load_n(&strings, __ATOMIC_RELAXED);
	jchar last;

	if (length > most) {
		length = most;
		if (length)
			(*env)->GetStringRegion(env, string, length - 1, 1, &last);
		if (length && last >= 0xd800 && last < 0xdc00)
			length--;
	}
	if (!length)
		return 0;
	modified[0] = 0;
	(*env)->GetStringUTFRegion(env, string, 0, length, modified);
	modified[sizeof(modified) - 1] = 0;
	return utf8_of_modified(out, modified, strlen(modified));
}

static void string_tell(JNIEnv *env, jint number, jint what, jstring string)
{
	struct jis_ev_method_value record = {.kind = JIS_VALUE_STRING};
	jsize length = (*env)->GetStringLength(env, string);
	char text[NAME_UTF8_MAX];

	record.length = (__u32)length;
	record.value = string_hash(env, string, length);
	value_write(number, what, &record, text, string_text(env, string, length, text));
}

/* Natives ------------------------------------------------------------------------------------ */

JNIEXPORT void JNICALL PROBE(valueI)(JNIEnv *env, jclass class, jint number, jint what, jint value);
JNIEXPORT void JNICALL PROBE(valueJ)(JNIEnv *env, jclass class, jint number, jint what,
				     jlong value);
JNIEXPORT void JNICALL PROBE(valueF)(JNIEnv *env, jclass class, jint number, jint what,
				     jfloat value);
JNIEXPORT void JNICALL PROBE(valueD)(JNIEnv *env, jclass class, jint number, jint what,
				     jdouble value);
JNIEXPORT void JNICALL PROBE(valueL)(JNIEnv *env, jclass class, jint number, jint what,
				     jobject value);

JNIEXPORT void JNICALL PROBE(valueI)(JNIEnv *env, jclass class, jint number, jint what, jint value)
{
	number_tell(number, what, (__u64)(__s64)value);
}

JNIEXPORT void JNICALL PROBE(valueJ)(JNIEnv *env, jclass class, jint number, jint what, jlong value)
{
	number_tell(number, what, (__u64)value);
}

JNIEXPORT void JNICALL PROBE(valueF)(JNIEnv *env, jclass class, jint number, jint what,
				     jfloat value)
{
	__u32 bits;

	memcpy(&bits, &value, sizeof(bits));
	number_tell(number, what, bits);
}

JNIEXPORT void JNICALL PROBE(valueD)(JNIEnv *env, jclass class, jint number, jint what,
				     jdouble value)
{
	__u64 bits;

	memcpy(&bits, &value, sizeof(bits));
	number_tell(number, what, bits);
}

JNIEXPORT void JNICALL PROBE(valueL)(JNIEnv *env, jclass class, jint number, jint what,
				     jobject value)
{
	struct jis_ev_method_value record = {.kind = value ? 0 : JIS_VALUE_NULL};
	struct object object;

	if (!value_enter(number, what))
		return;
	if (value && (*env)->IsInstanceOf(env, value, string_class)) {
		string_tell(env, number, what, value);
	} else {
		object_describe(env, value, &object);
		record.class_name = object.class_name;
		record.value = object.hash;
		if (value && ((__u32)what >> WHAT_KIND_SHIFT & 0xff) == JIS_VALUE_ARRAY)
			record.length = (__u32)(*env)->GetArrayLength(env, value);
		value_write(number, what, &record, "", 0);
	}
	exception_clear(env);
	agent_leave();
}

/* Rewriting ---------------------------------------------------------------------------------- */

/* Kinds by letter of the descriptor, and which native tells them. */
static const struct value_type {
	char letter;
	unsigned char kind, slots;
	const char *probe, *descriptor;
} types[] = {
	{'Z', JIS_VALUE_BOOLEAN, 1, "valueI", "(III)V"},
	{'B', JIS_VALUE_BYTE, 1, "valueI", "(III)V"},
	{'C', JIS_VALUE_CHAR, 1, "valueI", "(III)V"},
	{'S', JIS_VALUE_SHORT, 1, "valueI", "(III)V"},
	{'I', JIS_VALUE_INT, 1, "valueI", "(III)V"},
	{'J', JIS_VALUE_LONG, 2, "valueJ", "(IIJ)V"},
	{'F', JIS_VALUE_FLOAT, 1, "valueF", "(IIF)V"},
	{'D', JIS_VALUE_DOUBLE, 2, "valueD", "(IID)V"},
	{'L', JIS_VALUE_OBJECT, 1, "valueL", "(IILjava/lang/Object;)V"},
	{'[', JIS_VALUE_ARRAY, 1, "valueL", "(IILjava/lang/Object;)V"},
};

/* The parameter at *@at of a descriptor; NULL: there is none. */
static const struct value_type *parameter_next(const char *d, size_t length, size_t *at)
{
	size_t i = *at, t;
	const char *end;
	char letter;

	if (i >= length || d[i] == ')')
		return NULL;
	letter = d[i];
	while (i < length && d[i] == '[')
		i++;
	if (i == length)
		return NULL;
	if (d[i] == 'L') {
		end = memchr(d + i, ';', length - i);
		if (!end)
			return NULL;
		i = (size_t)(end - d);
	}
	*at = i + 1;
	for (t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		if (types[t].letter == letter)
			return &types[t];
	return NULL;
}

static void value_call(struct jis_call *call, const struct value_type *type, __u32 number,
		       unsigned int what, struct jis_arg value)
{
	*call = (struct jis_call){
		.places = JIS_AT_ENTRY,
		.class = PROBE_CLASS,
		.method = type->probe,
		.descriptor = type->descriptor,
		.nr_args = 3,
		.args = {{.kind = JIS_ARG_NUMBER, .value = (int32_t)number},
			 {.kind = JIS_ARG_NUMBER,
			  .value = (int32_t)(what | (unsigned int)type->kind << WHAT_KIND_SHIFT)},
			 value},
	};
}

static int is_wanted(const struct choice_values *v, unsigned int argument)
{
	unsigned int i;

	for (i = 0; i < v->nr_arguments; i++)
		if (v->arguments[i] == argument)
			return 1;
	return v->all;
}

/* Tells once a method what it cannot tell of its calls. */
static void values_note(const struct jis_method *m, struct traced *method, const char *what)
{
	size_t length;
	const char *class = jis_class_name(m->class, &length);

	if (method->noted || nr_notes >= NOTES_MAX)
		return;
	method->noted = 1;
	nr_notes++;
	recorder_note("calls of %.*s.%s%s: %s%s", class ? (int)length : 0, class ? class : "",
		      method->text, method->text + method->name_length + 1, what,
		      nr_notes == NOTES_MAX ? "; further ones are not told of" : "");
}

static unsigned int receiver_call(const struct jis_method *m, struct traced *method,
				  unsigned int flags, struct jis_call *call)
{
	static const struct jis_arg receiver = {.kind = JIS_ARG_THIS};

	if (m->flags & ACC_STATIC) {
		values_note(m, method, "a static method has no receiver");
		return 0;
	}
	if (jis_class_utf8_is(m->class, m->name, "<init>")) {
		values_note(m, method,
			    "the receiver is not told, it is no object yet where a constructor "
			    "begins");
		return 0;
	}
	value_call(call, &types[8], method->number, flags | WHAT_RECEIVER, receiver);
	return 1;
}

unsigned int values_calls(const struct jis_method *m, const struct choice_values *values,
			  struct traced *method, int library, struct jis_call *calls)
{
	unsigned int flags = library ? WHAT_LIBRARY : 0, n = 0, found = 0, argument;
	unsigned int slot = m->flags & ACC_STATIC ? 0 : 1;
	const struct value_type *type;
	size_t length, at = 1;
	const char *d = jis_class_utf8(m->class, m->descriptor, &length);

	if (values->receiver)
		n += receiver_call(m, method, flags, &calls[n]);
	for (argument = 0; d && (type = parameter_next(d, length, &at)); argument++) {
		if (is_wanted(values, argument)) {
			found++;
			if (n < CHOICE_VALUES_MAX)
				value_call(&calls[n++], type, method->number, flags | argument,
					   (struct jis_arg){.kind = JIS_ARG_LOCAL,
							    .value = (int32_t)slot});
			else
				values_note(m, method, "only 8 values are told");
		}
		slot += type->slots;
	}
	if (!values->all && found < values->nr_arguments)
		values_note(m, method,
			    "there are not as many arguments as asked for; the first "
			    "has number 0");
	return n;
}
