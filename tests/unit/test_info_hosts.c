/* SPDX-License-Identifier: MIT */
/* The tables of hosts, to the letter. */
#include <check.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/info_hosts.h"

/* Of the tool's main file. */
bool cli_quiet;
const char *cli_verb = "info";

static char *printed(const struct manifest *m)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	info_hosts_print(f, m);
	fclose(f);
	return text;
}

static struct host_entry host(const char *name, uint32_t first_cpu, uint32_t nr_cpus,
			      uint32_t clock)
{
	return (struct host_entry){
		.name = (char *)name,
		.session = (char *)"trace",
		.first_cpu = first_cpu,
		.nr_cpus = nr_cpus,
		.begin = 1000,
		.end = 3500,
		.clock = clock,
	};
}

START_TEST(hosts_and_their_clocks_are_told)
{
	struct host_entry hosts[] = {
		host("alpha", 0, 4, HOST_CLOCK_REFERENCE), host("beta\x1b", 4, 1, HOST_CLOCK_CALLS),
		host(NULL, 5, 2, HOST_CLOCK_REALTIME),	   host("delta", 7, 2, HOST_CLOCK_CALLS),
		host("alpha", 9, 4, HOST_CLOCK_SAME),
	};
	struct host_error_entry errors[] = {{1, 1000, 2100, 0},
					    {1, 2000, 14000, 0},
					    {1, 3000, 3000, 0},
					    {3, 1000, 800, 1},
					    {3, 2000, 800, 1}};
	const struct manifest m = {
		.frequency = 1000,
		.begin = 1000,
		.hosts = hosts,
		.nr_hosts = 5,
		.host_errors = errors,
		.nr_host_errors = 5,
	};
	char *text;

	hosts[1].begin = 1250;
	hosts[1].calls = 1234;
	hosts[1].offset = -3214000;
	hosts[1].drift = -120;
	hosts[1].steps = 1;
	hosts[2].offset = INT64_MIN;
	hosts[2].session = NULL;
	hosts[3].parent = 1;
	hosts[3].calls = 7;
	hosts[3].offset = 12;
	hosts[3].drift = 20001;
	text = printed(&m);
	ck_assert_str_eq(
		text,
		"\n"
		"host name                 CPUs         from [s]      to [s]  session\n"
		"0    alpha                0-3             0.000       2.500  trace\n"
		"1    beta\\x1b             4               0.250       2.500  trace\n"
		"2    ?                    5-6             0.000       2.500  ?\n"
		"3    delta                7-8             0.000       2.500  trace\n"
		"4    alpha                9-12            0.000       2.500  trace\n"
		"\n"
		"host clock by    with                     calls       ahead by  gains ppm  "
		"steps  times may be off by +-\n"
		"0    reference   -\n"
		"1    calls       alpha                     1234        -3.2 ms     -0.120  "
		"    1  2.1 us to 14.0 us\n"
		"2    time of day alpha                        0 -9223372036.855 s     +0.000  "
		"    0  not known\n"
		"3    calls       beta\\x1b                     7         +12 ns    +20.001  "
		"    0  800 ns\n"
		"4    same clock  alpha                        0           0 ns     +0.000  "
		"    0  0 ns\n");
	free(text);
}
END_TEST

START_TEST(of_one_host_nothing_is_said)
{
	const struct manifest m = {.frequency = 1000};
	char *text = printed(&m);

	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hosts in jis info");
	TCase *t = tcase_create("hosts");
	SRunner *r = srunner_create(s);
	int failed;

	tcase_add_test(t, hosts_and_their_clocks_are_told);
	tcase_add_test(t, of_one_host_nothing_is_said);
	suite_add_tcase(s, t);
	srunner_run_all(r, CK_NORMAL);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? 1 : 0;
}
