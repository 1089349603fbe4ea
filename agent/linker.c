/* SPDX-License-Identifier: MIT */
/*
 * Calls of C that the JVM makes itself, without a line of its code being changed: by its foreign
 * linker, as java.lang.foreign has it for functions said to be critical (JDK 21 to 25). The thread
 * stays "in Java", so that nothing is paid for a change of state.
 *
 * java.lang.foreign itself would not do: it runs hundreds of classes' code, interpreted too slowly,
 * and of methods that may be traced. So java.lang.invoke.JProbe$ calls what it ends in,
 * MethodHandle.linkToNative, which HotSpot resolves to a jump to the stub it has made for functions
 * of these arguments. The stub takes the function's address as its first.
 *
 *   public static void enter(int number) { MethodHandle.linkToNative(ADDRESS, number, entry); }
 *
 * linkToNative is for that package alone, so the class is one of it. @entry, a NativeEntryPoint, is
 * marked as Stable: compilers take it for a constant.
 */
#include "compat.h"

#include "classfile.h"
#include "methods.h"
#include "waits.h"

#ifdef __x86_64__

/* Whose stubs are made so; 21 and 25 are tested. */
#define VERSION_MIN 21
#define VERSION_MAX 25

#define ABI "jdk/internal/foreign/abi/"
#define ABI_CLASS ABI "x64/sysv/CallArranger"
#define ABI_FIELD "CSysV"
#define ENTRY_CLASS ABI "NativeEntryPoint"
#define STORAGE "L" ABI "VMStorage;"
#define STUB_TYPE "(JI)V" /* the function's address, and its argument */
#define ENTRY_FIELD "entry"
#define OBJECT "Ljava/lang/Object;"

enum constant {
	TAG_LONG = 5,
	TAG_CLASS = 7,
	TAG_FIELDREF = 9,
	TAG_METHODREF = 10,
	TAG_NAME_AND_TYPE = 12,
};

enum opcode {
	OP_LDC2_W = 20,
	OP_ILOAD_0 = 26,
	OP_RETURN = 177,
	OP_GETSTATIC = 178,
	OP_INVOKESTATIC = 184,
};

/* Places in the constant pool. */
enum place {
	THIS = 2,
	SUPER = 4,
	FIELD_NAME = 5,
	FIELD_TYPE = 6,
	FIELD = 8,
	LINK = 14,
	CODE = 15,
	METHOD_TYPE = 16,
	ANNOTATIONS = 17,
	STABLE = 18,
	FIRST_METHOD = 19, /* its name, and its function's address, which takes two */
	EACH_METHOD = 3,
};

static void constants_write(struct jis_bytes *b, const struct wrapper *wrappers, unsigned int n)
{
	uintptr_t address;
	unsigned int i;

	jis_bytes_u2(b, FIRST_METHOD + EACH_METHOD * n);
	jis_bytes_utf8(b, LINKED_CLASS);
	jis_bytes_constant(b, TAG_CLASS, 1, 0);
	jis_bytes_utf8(b, "java/lang/Object");
	jis_bytes_constant(b, TAG_CLASS, 3, 0);
	jis_bytes_utf8(b, ENTRY_FIELD);
	jis_bytes_utf8(b, OBJECT);
	jis_bytes_constant(b, TAG_NAME_AND_TYPE, FIELD_NAME, FIELD_TYPE);
	jis_bytes_constant(b, TAG_FIELDREF, THIS, 7);
	jis_bytes_utf8(b, "java/lang/invoke/MethodHandle"); /* 9 */
	jis_bytes_constant(b, TAG_CLASS, 9, 0);
	jis_bytes_utf8(b, "linkToNative"); /* 11 */
	jis_bytes_utf8(b, "(JI" OBJECT ")V");
	jis_bytes_constant(b, TAG_NAME_AND_TYPE, 11, 12);
	jis_bytes_constant(b, TAG_METHODREF, 10, 13);
	jis_bytes_utf8(b, "Code");
	jis_bytes_utf8(b, "(I)V");
	jis_bytes_utf8(b, "RuntimeVisibleAnnotations");
	jis_bytes_utf8(b, "Ljdk/internal/vm/annotation/Stable;");
	for (i = 0; i < n; i++) {
		address = (uintptr_t)wrappers[i].linked;
		jis_bytes_utf8(b, wrappers[i].name);
		jis_bytes_u1(b, TAG_LONG);
		jis_bytes_u4(b, (uint32_t)(address >> 32));
		jis_bytes_u4(b, (uint32_t)address);
	}
}

static void method_write(struct jis_bytes *b, unsigned int place)
{
	jis_bytes_u2(b, 0x0009); /* public static */
	jis_bytes_u2(b, place);
	jis_bytes_u2(b, METHOD_TYPE);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, CODE);
	jis_bytes_u4(b, 12 + 11);
	jis_bytes_u2(b, 4); /* stack */
	jis_bytes_u2(b, 1); /* locals */
	jis_bytes_u4(b, 11);
	jis_bytes_u1(b, OP_LDC2_W);
	jis_bytes_u2(b, place + 1);
	jis_bytes_u1(b, OP_ILOAD_0);
	jis_bytes_u1(b, OP_GETSTATIC);
	jis_bytes_u2(b, FIELD);
	jis_bytes_u1(b, OP_INVOKESTATIC);
	jis_bytes_u2(b, LINK);
	jis_bytes_u1(b, OP_RETURN);
	jis_bytes_u4(b, 0); /* handlers, attributes */
}

static void class_write(struct jis_bytes *b, const struct wrapper *wrappers, unsigned int n)
{
	unsigned int i;

	jis_bytes_u4(b, 0xcafebabe);
	jis_bytes_u4(b, 52);
	constants_write(b, wrappers, n);
	jis_bytes_u2(b, 0x1031); /* public final super synthetic */
	jis_bytes_u2(b, THIS);
	jis_bytes_u2(b, SUPER);
	jis_bytes_u2(b, 0);	 /* interfaces */
	jis_bytes_u2(b, 1);	 /* fields */
	jis_bytes_u2(b, 0x000a); /* private static */
	jis_bytes_u2(b, FIELD_NAME);
	jis_bytes_u2(b, FIELD_TYPE);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, ANNOTATIONS);
	jis_bytes_u4(b, 6);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, STABLE);
	jis_bytes_u2(b, 0);
	jis_bytes_u2(b, n);
	for (i = 0; i < n; i++)
		method_write(b, FIRST_METHOD + EACH_METHOD * i);
	jis_bytes_u2(b, 0);
}

/*
 * Can a thread have to interpret all it runs, as an event of JVMTI asks it to? Then HotSpot goes
 * past compiled code, and linkToNative has no other: it would throw. Only agents that were there
 * when the JVM began can have such events. It is known then that others can, too; but of fields, by
 * a flag that is as it was else.
 */
static int may_interpret_only(void)
{
	jvmtiCapabilities can = {0};

	return (*agent.jvmti)->GetPotentialCapabilities(agent.jvmti, &can) ||
	       can.can_generate_single_step_events || can.can_generate_frame_pop_events ||
	       can.can_generate_method_entry_events || can.can_generate_method_exit_events ||
	       vm_flag("RewriteFrequentPairs") != 1;
}

/* Is one pending? Asked for after each call that may throw, as JNI wants it. */
static int thrown(JNIEnv *env)
{
	return (*env)->ExceptionCheck(env);
}

static jobject static_object(JNIEnv *env, jclass class, const char *name, const char *type)
{
	jfieldID id = class ? (*env)->GetStaticFieldID(env, class, name, type) : NULL;

	return id ? (*env)->GetStaticObjectField(env, class, id) : NULL;
}

static jobject object_of(JNIEnv *env, jobject object, const char *name, const char *type)
{
	jclass class = object ? (*env)->GetObjectClass(env, object) : NULL;
	jfieldID id = class ? (*env)->GetFieldID(env, class, name, type) : NULL;

	return id ? (*env)->GetObjectField(env, object, id) : NULL;
}

/* Where the ABI has a function's address, and its first argument that is an int: VMStorage[2]. */
static jobjectArray arguments_find(JNIEnv *env, jobject abi)
{
	jobject address = object_of(env, abi, "targetAddrStorage", STORAGE), first = NULL;
	jobjectArray kinds, ints = NULL;

	kinds = address ? object_of(env, abi, "inputStorage", "[[" STORAGE) : NULL;
	if (kinds && (*env)->GetArrayLength(env, kinds) > 0) {
		ints = (*env)->GetObjectArrayElement(env, kinds, 0);
		if (thrown(env))
			return NULL;
	}
	if (ints && (*env)->GetArrayLength(env, ints) > 0) {
		first = (*env)->GetObjectArrayElement(env, ints, 0);
		if (thrown(env))
			return NULL;
	}
	if (!first)
		return NULL;
	ints = (*env)->NewObjectArray(env, 2, (*env)->GetObjectClass(env, first), first);
	if (ints)
		(*env)->SetObjectArrayElement(env, ints, 0, address);
	return thrown(env) ? NULL : ints;
}

static jobject stub_type(JNIEnv *env)
{
	jclass class = (*env)->FindClass(env, "java/lang/invoke/MethodType");
	jmethodID make = NULL;
	jstring text = NULL;
	jobject type = NULL;

	if (class)
		make = (*env)->GetStaticMethodID(
			env, class, "fromMethodDescriptorString",
			"(Ljava/lang/String;Ljava/lang/ClassLoader;)Ljava/lang/invoke/MethodType;");
	if (make)
		text = (*env)->NewStringUTF(env, STUB_TYPE);
	if (text)
		type = (*env)->CallStaticObjectMethod(env, class, make, text, NULL);
	return thrown(env) ? NULL : type;
}

/* Has the JVM make the stub. An exception may be pending then. */
static jobject entry_make(JNIEnv *env)
{
	jobject type = stub_type(env), abi = NULL;
	jobjectArray arguments = NULL, none = NULL;
	jmethodID make = NULL, construct = NULL;
	jclass class = NULL, storage;
	jlong stub = 0;

	if (type)
		class = (*env)->FindClass(env, ABI_CLASS);
	if (class)
		abi = static_object(env, class, ABI_FIELD, "L" ABI "ABIDescriptor;");
	if (abi)
		arguments = arguments_find(env, abi);
	storage = arguments ? (*env)->FindClass(env, ABI "VMStorage") : NULL;
	if (storage)
		none = (*env)->NewObjectArray(env, 0, storage, NULL);
	class = none ? (*env)->FindClass(env, ENTRY_CLASS) : NULL;
	if (class)
		construct = (*env)->GetMethodID(env, class, "<init>",
						"(Ljava/lang/invoke/MethodType;J)V");
	if (construct)
		make = (*env)->GetStaticMethodID(env, class, "makeDowncallStub",
						 "(Ljava/lang/invoke/MethodType;L" ABI
						 "ABIDescriptor;[" STORAGE "[" STORAGE "ZIZ)J");
	if (make) /* no buffer for what it returns, no errno, no change of the thread's state */
		stub = (*env)->CallStaticLongMethod(env, class, make, type, abi, arguments, none,
						    JNI_FALSE, (jint)0, JNI_FALSE);
	if (thrown(env) || !stub)
		return NULL;
	return (*env)->NewObject(env, class, construct, type, stub);
}

static jclass class_define(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	jobject entry = entry_make(env);
	struct jis_bytes bytes = {0};
	jclass class = NULL;
	jfieldID id = NULL;

	if (thrown(env) || !entry)
		return NULL;
	class_write(&bytes, wrappers, n);
	if (!bytes.failed)
		class = (*env)->DefineClass(env, LINKED_CLASS, NULL, (const jbyte *)bytes.data,
					    (jsize)bytes.size);
	jis_bytes_free(&bytes);
	if (class)
		id = (*env)->GetStaticFieldID(env, class, ENTRY_FIELD, OBJECT);
	if (id)
		(*env)->SetStaticObjectField(env, class, id, entry);
	return id ? class : NULL;
}

int linker_bind(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	jclass class;
	int error;

	if (!agent.hotspot || agent.vm_version < VERSION_MIN || agent.vm_version > VERSION_MAX ||
	    vm_flag("UseCompiler") != 1 || may_interpret_only())
		return -ENOTSUP;
	if ((*env)->PushLocalFrame(env, 32) != JNI_OK) {
		exception_clear(env);
		return -ENOMEM;
	}
	class = (*env)->FindClass(env, LINKED_CLASS); /* of a former recording */
	exception_clear(env);
	if (!class)
		class = class_define(env, wrappers, n);
	error = class && static_object(env, class, ENTRY_FIELD, OBJECT) ? 0 : -ENOTSUP;
	exception_clear(env);
	(*env)->PopLocalFrame(env, NULL);
	return error;
}

#else /* !__x86_64__ */

int linker_bind(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	return -ENOTSUP;
}

#endif
