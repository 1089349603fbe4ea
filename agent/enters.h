/* SPDX-License-Identifier: MIT */
/*
 * Every enter and exit of a monitor in the program's own classes: what enters.c is to others.
 */
#ifndef JIS_AGENT_ENTERS_H
#define JIS_AGENT_ENTERS_H

#include "agent.h"
#include "classfile.h"
#include "waits.h"

/* Natives of java.lang.JProbe$, ends with one without a name. */
extern const struct jis_native_method enter_natives[];

int enters_capabilities(const jvmtiCapabilities *potential, jvmtiCapabilities *wanted);
int enters_enable(JNIEnv *env);
/* With hooks on: rewrites what is loaded, and has what comes rewritten. */
void enters_install(JNIEnv *env);
/* The event of class files being on: all classes get their own bytes again. Returns whether it was
 * on for us. */
int enters_remove(JNIEnv *env);
/* A class file goes by: may replace @bytes, and returns whether it has. */
int enters_put(jobject loader, const char *name, struct jis_bytes *bytes);

#endif /* JIS_AGENT_ENTERS_H */
