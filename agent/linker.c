/* SPDX-License-Identifier: MIT */
/*
 * Calls of C that the JVM makes itself, without a line of its code being changed: by its foreign
 * linker, as java.lang.foreign has it for functions said to be critical. The thread stays "in
 * Java", so that nothing is paid for a change of state.
 *
 * java.lang.foreign itself would not do: it runs hundreds of classes' code, interpreted too slowly,
 * and of methods that may be traced. So java.lang.invoke.JProbe$ calls what it ends in,
 * MethodHandle.linkToNative, which (JDK 21 to 25) HotSpot resolves to a jump to the stub it has
 * made for functions of these arguments. The stub takes the function's address as its first.
 *
 *   public static void enter(int number) {
 *           if (MethodHandle.linkToNative(ADDRESS, number, entry) != 0)
 *                   java.lang.JProbe$.enter(number);
 *   }
 *
 * 17 has no such stub: only C2 can make the call, in its own code, where address and entry are
 * constants. All else calls the native, by the way there is for it, and so does C2 where the entry
 * is no constant to it. linkToNative's first argument is what would be called else, which is never.
 * What it returns C2 takes for what the method that calls it does: so that is one of its own.
 *
 *   public static void enter(int number) { if (link_enter(number) != 0) JProbe$.enter(number); }
 *   private static int link_enter(int number) {
 *           Object e = entry;
 *           if (!MethodHandleImpl.isCompileConstant(e))
 *                   return 1;
 *           return MethodHandle.linkToNative(null, ADDRESS, number, e);
 *   }
 *
 * Both methods of the JDK are for that package alone, so the class is one of it. @entry, a
 * NativeEntryPoint, is marked as Stable: compilers take it for a constant.
 */
#include "compat.h"

#include <stdio.h>

#include "classfile.h"
#include "methods.h"
#include "waits.h"

#ifdef __x86_64__

/* Whose stubs are made so; 21 and 25 are tested. */
#define VERSION_MIN 21
#define VERSION_MAX 25
/* Of which C2 alone makes such calls. */
#define VERSION_C2 17

#define C2_ENTRY_CLASS "jdk/internal/invoke/NativeEntryPoint"
#define C2_TIER 4
#define REGISTERS 0 /* kinds of VMStorage of 17: those for ints */
#define RDI 7	    /* the numbers of the registers C has its first argument in, */
#define RAX 0	    /* and what it returns */

#define ABI "jdk/internal/foreign/abi/"
#define ABI_CLASS ABI "x64/sysv/CallArranger"
#define ABI_FIELD "CSysV"
#define ENTRY_CLASS ABI "NativeEntryPoint"
#define STORAGE "L" ABI "VMStorage;"
#define STUB_TYPE "(JI)I" /* the function's address, and its argument */
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
	OP_ACONST_NULL = 1,
	OP_ICONST_1 = 4,
	OP_LDC2_W = 20,
	OP_ILOAD_0 = 26,
	OP_ALOAD_1 = 43,
	OP_ASTORE_1 = 76,
	OP_IFEQ = 153,
	OP_IFNE = 154,
	OP_IRETURN = 172,
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
	IS_CONSTANT = 24,
	NATIVES = 26,
	LINK_TYPE = 27, /* of link_enter */
	FIRST_METHOD = 28,
	EACH_METHOD = 8,
};

/* From its first place. */
enum method_place {
	NAME = 0,
	ADDRESS = 1, /* of the function; takes two */
	NATIVE = 4,  /* the method that JNI calls */
	LINK_NAME = 5,
	LINK_METHOD = 7,
};

/* Only C2 can make the calls. */
static int by_c2(void)
{
	return agent.vm_version == VERSION_C2;
}

/* Those that only 17 needs are there in any case. */
static void constants_write(struct jis_bytes *b, const struct wrapper *wrappers, unsigned int n)
{
	unsigned int i, place;
	uintptr_t address;
	char link[64];

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
	jis_bytes_utf8(b, by_c2() ? "(" OBJECT "JI" OBJECT ")I" : "(JI" OBJECT ")I");
	jis_bytes_constant(b, TAG_NAME_AND_TYPE, 11, 12);
	jis_bytes_constant(b, TAG_METHODREF, 10, 13);
	jis_bytes_utf8(b, "Code");
	jis_bytes_utf8(b, "(I)V");
	jis_bytes_utf8(b, "RuntimeVisibleAnnotations");
	jis_bytes_utf8(b, "Ljdk/internal/vm/annotation/Stable;");
	jis_bytes_utf8(b, "java/lang/invoke/MethodHandleImpl"); /* 19 */
	jis_bytes_constant(b, TAG_CLASS, 19, 0);
	jis_bytes_utf8(b, "isCompileConstant"); /* 21 */
	jis_bytes_utf8(b, "(" OBJECT ")Z");
	jis_bytes_constant(b, TAG_NAME_AND_TYPE, 21, 22);
	jis_bytes_constant(b, TAG_METHODREF, 20, 23);
	jis_bytes_utf8(b, PROBE_CLASS); /* 25 */
	jis_bytes_constant(b, TAG_CLASS, 25, 0);
	jis_bytes_utf8(b, "(I)I");
	for (i = 0; i < n; i++) {
		place = FIRST_METHOD + EACH_METHOD * i;
		address = (uintptr_t)wrappers[i].linked;
		jis_bytes_utf8(b, wrappers[i].name);
		jis_bytes_u1(b, TAG_LONG);
		jis_bytes_u4(b, (uint32_t)(address >> 32));
		jis_bytes_u4(b, (uint32_t)address);
		jis_bytes_constant(b, TAG_NAME_AND_TYPE, place + NAME, METHOD_TYPE);
		jis_bytes_constant(b, TAG_METHODREF, NATIVES, place + NATIVE - 1);
		snprintf(link, sizeof(link), "link_%s", wrappers[i].name);
		jis_bytes_utf8(b, link);
		jis_bytes_constant(b, TAG_NAME_AND_TYPE, place + LINK_NAME, LINK_TYPE);
		jis_bytes_constant(b, TAG_METHODREF, THIS, place + LINK_METHOD - 1);
	}
}

/* An opcode with a place in the constant pool, or how far a branch goes. */
static void op_u2(struct jis_bytes *b, enum opcode op, unsigned int value)
{
	jis_bytes_u1(b, op);
	jis_bytes_u2(b, value);
}

static void probe_code_write(struct jis_bytes *b, unsigned int place)
{
	if (by_c2()) {
		jis_bytes_u1(b, OP_ILOAD_0);
		op_u2(b, OP_INVOKESTATIC, place + LINK_METHOD);
	} else {
		op_u2(b, OP_LDC2_W, place + ADDRESS);
		jis_bytes_u1(b, OP_ILOAD_0);
		op_u2(b, OP_GETSTATIC, FIELD);
		op_u2(b, OP_INVOKESTATIC, LINK);
	}
	op_u2(b, OP_IFEQ, 7); /* to the return */
	jis_bytes_u1(b, OP_ILOAD_0);
	op_u2(b, OP_INVOKESTATIC, place + NATIVE);
	jis_bytes_u1(b, OP_RETURN);
}

static void link_code_write(struct jis_bytes *b, unsigned int place)
{
	op_u2(b, OP_GETSTATIC, FIELD);
	jis_bytes_u1(b, OP_ASTORE_1);
	jis_bytes_u1(b, OP_ALOAD_1);
	op_u2(b, OP_INVOKESTATIC, IS_CONSTANT);
	op_u2(b, OP_IFNE, 5); /* past the next return */
	jis_bytes_u1(b, OP_ICONST_1);
	jis_bytes_u1(b, OP_IRETURN);
	jis_bytes_u1(b, OP_ACONST_NULL);
	op_u2(b, OP_LDC2_W, place + ADDRESS);
	jis_bytes_u1(b, OP_ILOAD_0);
	jis_bytes_u1(b, OP_ALOAD_1);
	op_u2(b, OP_INVOKESTATIC, LINK);
	jis_bytes_u1(b, OP_IRETURN);
}

static void method_write(struct jis_bytes *b, unsigned int flags, unsigned int name,
			 unsigned int type, const struct jis_bytes *code)
{
	jis_bytes_u2(b, flags);
	jis_bytes_u2(b, name);
	jis_bytes_u2(b, type);
	jis_bytes_u2(b, 1);
	jis_bytes_u2(b, CODE);
	jis_bytes_u4(b, (uint32_t)(12 + code->size));
	jis_bytes_u2(b, 5); /* stack */
	jis_bytes_u2(b, 2); /* locals */
	jis_bytes_u4(b, (uint32_t)code->size);
	jis_bytes_put(b, code->data, code->size);
	jis_bytes_u4(b, 0); /* handlers, attributes */
	b->failed |= code->failed;
}

/* Of one native. */
static void methods_write(struct jis_bytes *b, unsigned int place)
{
	struct jis_bytes code = {0};

	probe_code_write(&code, place);
	method_write(b, 0x0009, place + NAME, METHOD_TYPE, &code); /* public static */
	jis_bytes_free(&code);
	if (!by_c2())
		return;
	link_code_write(&code, place);
	method_write(b, 0x000a, place + LINK_NAME, LINK_TYPE, &code); /* private static */
	jis_bytes_free(&code);
}

static void class_write(struct jis_bytes *b, const struct wrapper *wrappers, unsigned int n)
{
	unsigned int i;

	jis_bytes_u4(b, 0xcafebabe);
	jis_bytes_u4(b, 49); /* no stack maps */
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
	jis_bytes_u2(b, by_c2() ? 2 * n : n);
	for (i = 0; i < n; i++)
		methods_write(b, FIRST_METHOD + EACH_METHOD * i);
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

/* The first place the ABI has for ints, of those in the field @name, of VMStorage[][]. */
static jobject first_int(JNIEnv *env, jobject abi, const char *name)
{
	jobjectArray kinds = object_of(env, abi, name, "[[" STORAGE), ints = NULL;
	jobject first = NULL;

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
	return first;
}

/* VMStorage[] of @one, or two. */
static jobjectArray storages(JNIEnv *env, jobject one, jobject two)
{
	jobjectArray array = NULL;

	if (one)
		array = (*env)->NewObjectArray(env, two ? 2 : 1, (*env)->GetObjectClass(env, one),
					       one);
	if (array && two)
		(*env)->SetObjectArrayElement(env, array, 1, two);
	return thrown(env) ? NULL : array;
}

/* Where the ABI has a function's address, and its first argument that is an int: VMStorage[2]. */
static jobjectArray arguments_find(JNIEnv *env, jobject abi)
{
	jobject address = object_of(env, abi, "targetAddrStorage", STORAGE), first = NULL;

	if (address)
		first = first_int(env, abi, "inputStorage");
	return first ? storages(env, address, first) : NULL;
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

/* long[1]: a register as C2 knows it. */
static jlongArray register_for_c2(JNIEnv *env, jclass class, jmethodID encode, jint number)
{
	jlong known = (*env)->CallStaticLongMethod(env, class, encode, (jint)REGISTERS, number);
	jlongArray array = thrown(env) ? NULL : (*env)->NewLongArray(env, 1);

	if (array)
		(*env)->SetLongArrayRegion(env, array, 0, 1, &known);
	return array;
}

/* What tells C2 that there is one argument, an int, and the registers. An exception may be pending
 * then. */
static jobject entry_for_c2(JNIEnv *env)
{
	jobject type = stub_type(env);
	jclass class = type ? (*env)->FindClass(env, C2_ENTRY_CLASS) : NULL;
	jlongArray arguments = NULL, returned = NULL;
	jmethodID encode = NULL, construct = NULL;
	jstring name = NULL;

	if (class)
		encode = (*env)->GetStaticMethodID(env, class, "vmStorageToVMReg", "(II)J");
	if (encode)
		construct = (*env)->GetMethodID(
			env, class, "<init>",
			"(I[J[JZLjava/lang/invoke/MethodType;Ljava/lang/String;)V");
	if (construct)
		arguments = register_for_c2(env, class, encode, RDI);
	if (arguments)
		returned = register_for_c2(env, class, encode, RAX);
	if (returned)
		name = (*env)->NewStringUTF(env, "jis");
	if (!name)
		return NULL;
	/* no space on the stack, no change of the thread's state */
	return (*env)->NewObject(env, class, construct, (jint)0, arguments, returned, JNI_FALSE,
				 type, name);
}

/* Has the JVM make the stub. An exception may be pending then. */
static jobject entry_make(JNIEnv *env)
{
	jobject type = stub_type(env), abi = NULL;
	jobjectArray arguments = NULL, returned = NULL;
	jmethodID make = NULL, construct = NULL;
	jclass class = NULL;
	jlong stub = 0;

	if (type)
		class = (*env)->FindClass(env, ABI_CLASS);
	if (class)
		abi = static_object(env, class, ABI_FIELD, "L" ABI "ABIDescriptor;");
	if (abi)
		arguments = arguments_find(env, abi);
	if (arguments)
		returned = storages(env, first_int(env, abi, "outputStorage"), NULL);
	class = returned ? (*env)->FindClass(env, ENTRY_CLASS) : NULL;
	if (class)
		construct = (*env)->GetMethodID(env, class, "<init>",
						"(Ljava/lang/invoke/MethodType;J)V");
	if (construct)
		make = (*env)->GetStaticMethodID(env, class, "makeDowncallStub",
						 "(Ljava/lang/invoke/MethodType;L" ABI
						 "ABIDescriptor;[" STORAGE "[" STORAGE "ZIZ)J");
	if (make) /* no buffer for what it returns, no errno, no change of the thread's state */
		stub = (*env)->CallStaticLongMethod(env, class, make, type, abi, arguments,
						    returned, JNI_FALSE, (jint)0, JNI_FALSE);
	if (thrown(env) || !stub)
		return NULL;
	return (*env)->NewObject(env, class, construct, type, stub);
}

static jclass class_define(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	jobject entry = by_c2() ? entry_for_c2(env) : entry_make(env);
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

/* In code of C2 alone: who interprets, for whatever reason, calls the natives. */
static int c2_can_call(void)
{
	return vm_flag("TieredStopAtLevel") == C2_TIER && vm_flag("EnableJVMCI") != 1;
}

static int can_call(void)
{
	if (!agent.hotspot || vm_flag("UseCompiler") != 1)
		return 0;
	if (by_c2())
		return c2_can_call();
	return agent.vm_version >= VERSION_MIN && agent.vm_version <= VERSION_MAX &&
	       !may_interpret_only();
}

int linker_bind(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	jclass class;
	int result;

	if (!can_call())
		return -ENOTSUP;
	if ((*env)->PushLocalFrame(env, 32) != JNI_OK) {
		exception_clear(env);
		return -ENOMEM;
	}
	class = (*env)->FindClass(env, LINKED_CLASS); /* of a former recording */
	exception_clear(env);
	if (!class)
		class = class_define(env, wrappers, n);
	result = class && static_object(env, class, ENTRY_FIELD, OBJECT) ? by_c2() : -ENOTSUP;
	exception_clear(env);
	(*env)->PopLocalFrame(env, NULL);
	return result;
}

#else /* !__x86_64__ */

int linker_bind(JNIEnv *env, const struct wrapper *wrappers, unsigned int n)
{
	return -ENOTSUP;
}

#endif
