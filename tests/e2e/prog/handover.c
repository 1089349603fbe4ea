/* SPDX-License-Identifier: MIT */
/*
 * handover [CONNECTIONS [REQUESTS [WORKERS]]]: a server and a client that know their own
 * connections and hand-overs. The server is one process: a thread accepts, one polls with epoll,
 * takes what is ready out of it and gives it to workers, which read the request, answer, and have
 * the poller put the connection back. The client is another process, of one thread: each connection
 * makes REQUESTS requests, one after the other; all are open at once. Request N of a connection has
 * 100 + N bytes, its answer twice as many. A second port is served by a thread each connection,
 * without a poller: ten connections of three requests.
 *
 * Prints what there was, by the program's own count:
 *   connections, requests, polled (requests the poller gave to a worker), bytes to the server and
 *   back; and for each connection its port at the client's end, with its bytes.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN_CONNECTIONS 10
#define PLAIN_REQUESTS 3

static int connections = 8, requests = 5, workers = 3;
static int epoll, wake, listener, plain_listener;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A queue of descriptors under a lock. */
struct queue {
	pthread_mutex_t lock;
	pthread_cond_t more;
	int fd[4096];
	unsigned int first, nr;
};

static struct queue ready = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};
static struct queue back = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

static void queue_put(struct queue *q, int fd)
{
	pthread_mutex_lock(&q->lock);
	q->fd[(q->first + q->nr++) % 4096] = fd;
	pthread_cond_signal(&q->more);
	pthread_mutex_unlock(&q->lock);
}

static int queue_take(struct queue *q, bool wait)
{
	int fd = -1;

	pthread_mutex_lock(&q->lock);
	while (wait && !q->nr)
		pthread_cond_wait(&q->more, &q->lock);
	if (q->nr) {
		fd = q->fd[q->first++ % 4096];
		q->nr--;
	}
	pthread_mutex_unlock(&q->lock);
	return fd;
}

/* To the poller: watch it, which was watched before, or not. */
static void give_back(int fd)
{
	const uint64_t one = 1;

	queue_put(&back, fd);
	if (write(wake, &one, sizeof(one)) != sizeof(one))
		die("eventfd");
}

static int listen_on(uint16_t *port)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, size) || listen(fd, 4096) ||
	    getsockname(fd, (struct sockaddr *)&a, &size))
		die("listen");
	*port = ntohs(a.sin_port);
	return fd;
}

static void *acceptor(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "acceptor");
	for (int i = 0; i < connections; i++) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			die("accept4");
		give_back(fd);
	}
	return NULL;
}

static void *poller(void *arg)
{
	struct epoll_event got[16], ev = {.events = EPOLLIN, .data.fd = wake};
	uint64_t value;

	(void)arg;
	prctl(PR_SET_NAME, "poller");
	if (epoll_ctl(epoll, EPOLL_CTL_ADD, wake, &ev))
		die("epoll_ctl");
	for (;;) {
		int n = epoll_wait(epoll, got, 16, -1), fd;

		for (int i = 0; i < n; i++) {
			if (got[i].data.fd == wake) {
				if (read(wake, &value, sizeof(value)) != sizeof(value))
					die("eventfd");
				continue;
			}
			/* before a worker has it, who may close it */
			if (epoll_ctl(epoll, EPOLL_CTL_DEL, got[i].data.fd, NULL))
				die("epoll_ctl");
			queue_put(&ready, got[i].data.fd);
		}
		while ((fd = queue_take(&back, false)) >= 0) {
			ev = (struct epoll_event){.events = EPOLLIN, .data.fd = fd};
			if (epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev))
				die("epoll_ctl");
		}
	}
	return NULL;
}

/* Reads a request, whose first byte is its length, and answers. False: the end. */
static bool answer(int fd)
{
	static _Thread_local char buffer[512];
	ssize_t want, got = read(fd, buffer, 50), n;

	if (got <= 0)
		return false;
	want = (unsigned char)buffer[0];
	while (got < want && (n = read(fd, buffer + got, (size_t)(want - got))) > 0)
		got += n;
	if (got != want || write(fd, buffer, 2 * (size_t)want) != 2 * want)
		die("request");
	return true;
}

static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_closed = PTHREAD_COND_INITIALIZER;
static int open_connections;

static void connection_closed(int fd)
{
	close(fd);
	pthread_mutex_lock(&closing);
	open_connections--;
	pthread_cond_signal(&all_closed);
	pthread_mutex_unlock(&closing);
}

static void *worker(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "worker %d", (int)(intptr_t)arg);
	prctl(PR_SET_NAME, name);
	for (;;) {
		int fd = queue_take(&ready, true);

		if (answer(fd))
			give_back(fd);
		else
			connection_closed(fd);
	}
	return NULL;
}

static void *plain_worker(void *arg)
{
	int fd = (int)(intptr_t)arg;

	prctl(PR_SET_NAME, "plain worker");
	while (answer(fd))
		;
	connection_closed(fd);
	return NULL;
}

static void start(void *(*run)(void *), intptr_t arg)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, (void *)arg))
		die("pthread_create");
	pthread_detach(thread);
}

static void *plain_acceptor(void *arg)
{
	(void)arg;
	prctl(PR_SET_NAME, "plain acceptor");
	for (int i = 0; i < PLAIN_CONNECTIONS; i++) {
		int fd = accept4(plain_listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			die("accept4");
		start(plain_worker, fd);
	}
	return NULL;
}

static void serve(void)
{
	epoll = epoll_create1(EPOLL_CLOEXEC);
	wake = eventfd(0, EFD_CLOEXEC);
	if (epoll < 0 || wake < 0)
		die("epoll");
	open_connections = connections + PLAIN_CONNECTIONS;
	for (int i = 0; i < workers; i++)
		start(worker, i);
	start(poller, 0);
	start(acceptor, 0);
	start(plain_acceptor, 0);
	pthread_mutex_lock(&closing);
	while (open_connections)
		pthread_cond_wait(&all_closed, &closing);
	pthread_mutex_unlock(&closing);
}

static int open_to(uint16_t port, uint16_t *local)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				.sin_port = htons(port)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, size) ||
	    getsockname(fd, (struct sockaddr *)&a, &size))
		die("connect");
	*local = ntohs(a.sin_port);
	return fd;
}

static void request(int fd, int number)
{
	char buffer[512] = "";
	size_t size = 100 + (size_t)number % 100, got = 0;
	ssize_t n;

	buffer[0] = (char)size;
	if (write(fd, buffer, size) != (ssize_t)size)
		die("write");
	while (got < 2 * size && (n = read(fd, buffer, sizeof(buffer))) > 0)
		got += (size_t)n;
	if (got != 2 * size)
		die("answer");
}

static void use(uint16_t port, int nr, int each)
{
	int *fd = calloc((size_t)nr, sizeof(*fd));
	uint16_t *local = calloc((size_t)nr, sizeof(*local));
	unsigned long bytes = 0;

	for (int i = 0; i < nr; i++)
		fd[i] = open_to(port, &local[i]);
	for (int r = 0; r < each; r++) {
		bytes += 100 + (unsigned long)r % 100;
		for (int i = 0; i < nr; i++)
			request(fd[i], r);
	}
	for (int i = 0; i < nr; i++) {
		close(fd[i]);
		printf("connection %u %u %lu %lu %d\n", port, local[i], bytes, 2 * bytes, each);
	}
	free(fd);
	free(local);
}

int main(int argc, char **argv)
{
	uint16_t port, plain_port;
	int status;
	pid_t client;

	if (argc > 1)
		connections = atoi(argv[1]);
	if (argc > 2)
		requests = atoi(argv[2]);
	if (argc > 3)
		workers = atoi(argv[3]);
	listener = listen_on(&port);
	plain_listener = listen_on(&plain_port);
	client = fork();
	if (client < 0)
		die("fork");
	if (!client) {
		prctl(PR_SET_NAME, "client");
		close(listener);
		close(plain_listener);
		use(port, connections, requests);
		use(plain_port, PLAIN_CONNECTIONS, PLAIN_REQUESTS);
		fflush(stdout);
		_exit(0);
	}
	serve();
	if (waitpid(client, &status, 0) != client || status)
		die("client");
	printf("connections %d\nrequests %d\npolled %d\nplain %d\n",
	       connections + PLAIN_CONNECTIONS,
	       connections * requests + PLAIN_CONNECTIONS * PLAIN_REQUESTS, connections * requests,
	       PLAIN_CONNECTIONS);
	return 0;
}
