/* SPDX-License-Identifier: MIT */
/*
 * Remote method invocation: what its natives (rmi.c) and the connections it goes over
 * (rmi_connections.c) share.
 */
#ifndef JIS_AGENT_RMI_H
#define JIS_AGENT_RMI_H

#include "waits.h"

int rmi_enable(JNIEnv *env);

/* A connection at its call that is under way. */
struct rmi_connection {
	__u32 id; /* 0: not known */
	__u32 call;
	int server;
};

/**
 * rmi_connection_get - which connection @object is; inside.
 * @begins: a call begins on it, as @server or as client: it is told of before its first one. Where
 * the first that is seen of a connection is no begin, it stays unknown.
 */
void rmi_connection_get(JNIEnv *env, jobject object, int begins, int server,
			struct rmi_connection *out);
/* Ids are of one recording. Nobody may be inside. */
void rmi_connections_forget(JNIEnv *env);

/**
 * rmi_field - a field of the class of @object or of one above it, kept in *@field from then on.
 * NULL: there is none; no exception is left.
 */
jfieldID rmi_field(JNIEnv *env, jobject object, jfieldID *field, const char *name,
		   const char *type);
/* The object in such a field, a local reference; NULL also where @object is NULL. */
jobject rmi_object(JNIEnv *env, jobject object, jfieldID *field, const char *name,
		   const char *type);

#endif /* JIS_AGENT_RMI_H */
