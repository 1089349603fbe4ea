# SPDX-License-Identifier: MIT
# Builds, tests and installs JIS. Everything made goes below build/ (BUILD=).
#
#   make            tool, libraries, agent, Java class library     make V=1   show commands
#   make setup      install what building and testing needs (Debian packages, as root)
#   make demo       record a Tomcat under load; trace and Paraver files in build/demo/
#   make check      unit and host end-to-end tests                 make lab    guest kernel tests
#   make test       setup + check + lab                            make bench  measurements
#   make soak       half an hour of a server whose methods are switched and whose application is deployed anew
#   make languages  classes and programs of Clojure, Groovy, JRuby, Kotlin and Scala; classes of Maven's and Eclipse's jars
#   make check-jdks the end-to-end tests on each JDK (in make test each takes one of 17, 21 and 25)
#   make check-jni  the end-to-end tests with -Xcheck:jni in each JVM (a few of them are in make test)
#   make kmod-check  the module under sparse and checkpatch --strict (in make check too)
#   make lab-debug  the module on kernels with KASAN and KCSAN, and the stress test (hours)
#   make lab-bench  what recording costs the kernel, in instructions of a guest
#   make lab-java   end-to-end tests of Java with the module instead of ftrace, in both guests (hours)
#   CC=clang, SAN=address,undefined or SAN=thread: other compilers and sanitizers

BUILD ?= build
# One name of a file for whoever calls, or dependencies that one wrote would not be another's.
override BUILD := $(patsubst $(CURDIR)/%,%,$(BUILD))
VERSION := $(shell cat VERSION)
PREFIX ?= /usr/local
DESTDIR ?=
SAN ?=
V ?= 0

ifeq ($(origin CC),default)
CC := gcc
endif
AR ?= ar
PKG_CONFIG ?= pkg-config
OPT ?= -O2 -g
WARN := -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes -Wno-unused-parameter \
	-Wformat=2 -Wpointer-arith
ifneq ($(WERROR),0)
WARN += -Werror
endif
BASE_CFLAGS := -std=gnu11 -D_GNU_SOURCE -DJIS_VERSION='"$(VERSION)"' -I. -Iinclude $(OPT) $(WARN) \
	-fno-strict-aliasing -fvisibility=hidden -fPIC -MMD -MP
comma := ,
ifneq ($(SAN),)
SANFLAGS := -fsanitize=$(SAN) -fno-omit-frame-pointer
# gcc warns that TSan does not see fences; what they order is single words that it does see.
ifeq ($(SAN)$(findstring clang,$(CC)),thread)
SANFLAGS += -Wno-tsan
endif
override BUILD := $(BUILD)/san-$(subst $(comma),-,$(subst undefined,ub,$(SAN)))
endif
ALL_CFLAGS = $(BASE_CFLAGS) -I$(BUILD)/gen $(SANFLAGS) $(CFLAGS)
ALL_LDFLAGS = $(SANFLAGS) $(LDFLAGS)
LIBS := $(shell $(PKG_CONFIG) --libs json-c zlib libelf 2>/dev/null || echo -ljson-c -lz -lelf) -lpthread -ldl

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @printf '  %-7s %s\n'
endif

# Libraries: folder = library. Order is link order: users before what they use.
LIBDIRS := paraver-export analysis hosts calltree merger libjisctl trace
LIB_A := $(foreach d,$(LIBDIRS),$(if $(wildcard $(d)/*.c),$(BUILD)/$(d)/lib$(d).a))

JAVA_HOME ?= $(shell readlink -f "$$(command -v javac)" 2>/dev/null | sed 's,/bin/javac$$,,')
JVMTI_INC := -isystem $(JAVA_HOME)/include -isystem $(JAVA_HOME)/include/linux

src = $(wildcard $(1)/*.c)
obj = $(patsubst %.c,$(BUILD)/obj/%.o,$(call src,$(1)))

UNIT_SRC := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(UNIT_SRC))
PROG_SRC := $(wildcard tests/e2e/prog/*.c)
PROG_BIN := $(patsubst tests/e2e/prog/%.c,$(BUILD)/tests/prog/%,$(PROG_SRC))
BENCH_SRC := $(wildcard tests/bench/*.c)
BENCH_BIN := $(patsubst tests/bench/%.c,$(BUILD)/tests/bench/%,$(BENCH_SRC))
FUZZ_SRC := $(wildcard tests/fuzz/*.c)
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(BUILD)/tests/fuzz/%,$(FUZZ_SRC))
TEST_JVMTI := $(patsubst tests/e2e/jvmti/%.c,$(BUILD)/tests/lib%.so,$(wildcard tests/e2e/jvmti/*.c))
LAB_SRC := $(wildcard tests/lab/prog/*.c)
JISFUZZ_SRC := $(wildcard tests/lab/prog/jisfuzz/*.c)
LAB_BIN := $(patsubst tests/lab/prog/%.c,$(BUILD)/tests/lab/%,$(LAB_SRC)) $(BUILD)/tests/lab/jisfuzz
TEST_JAVA := $(wildcard tests/e2e/java/*.java)
MARKER_JAVA := $(wildcard agent/java/jis/*.java)
MAN_SRC := $(wildcard man/*.[1-8])

TOOL := $(BUILD)/jis
AGENT := $(BUILD)/libjisagent.so
SHLIB := $(BUILD)/libjisctl.so.0
JTA := $(BUILD)/libjista.a
JAR := $(BUILD)/jis-markers.jar

.PHONY: all tools tests guest-tests demo-classes setup demo test check lab lab-demo lab-debug bench lab-bench install \
	uninstall fmt fmt-check lint clean kmod kmod-lab kmod-check lab-java matrix unit e2e check-jdks check-jni languages soak
.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:

all: tools $(JAR)
tools: $(TOOL) $(SHLIB) $(JTA) $(AGENT)
tests: guest-tests $(UNIT_BIN) $(FUZZ_BIN)
# What tests in a guest run.
guest-tests: $(PROG_BIN) $(TEST_JVMTI) $(BENCH_BIN) $(LAB_BIN) $(BUILD)/tests/classes/.made

# Objects -------------------------------------------------------------------------------------
$(BUILD)/obj/%.o: %.c
	$(say) CC $<
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(EXTRA_$(firstword $(subst /, ,$*))) -c -o $@ $<

# Names of system calls, from the headers of linux-libc-dev.
$(BUILD)/gen/syscall_names.h: scripts/gen-syscalls.sh
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen-syscalls.sh "$(CC)" >$@
$(BUILD)/obj/trace/syscall_name.o: $(BUILD)/gen/syscall_names.h

# What each backend records, from the table in the documentation.
$(BUILD)/gen/coverage_rows.h: scripts/gen-coverage.sh docs/recording.md
	$(say) GEN $@
	$(Q)mkdir -p $(@D)
	$(Q)scripts/gen-coverage.sh docs/recording.md >$@
$(BUILD)/obj/libjisctl/coverage.o: $(BUILD)/gen/coverage_rows.h

EXTRA_agent := $(JVMTI_INC) -ftls-model=initial-exec

define library
$(BUILD)/$(1)/lib$(1).a: $(call obj,$(1))
	$(say) AR $$@
	$(Q)mkdir -p $$(@D); rm -f $$@
	$(Q)$(AR) rcs $$@ $$^
endef
$(foreach d,$(LIBDIRS),$(eval $(call library,$(d))))

$(TOOL): $(call obj,cli) $(LIB_A)
	$(say) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(call obj,cli) -Wl,--start-group $(LIB_A) -Wl,--end-group $(LIBS) -lm

$(SHLIB): $(call obj,libjisctl) $(BUILD)/trace/libtrace.a libjisctl/libjisctl.map
	$(say) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,libjisctl.so.0 \
		-Wl,--version-script=libjisctl/libjisctl.map -o $@ \
		$(call obj,libjisctl) $(BUILD)/trace/libtrace.a $(LIBS)
	$(Q)ln -sf libjisctl.so.0 $(BUILD)/libjisctl.so

# What reads trees, for programs of others.
$(JTA): $(patsubst %,$(BUILD)/obj/calltree/%.o,jta_read jta_search jta_names map64)
	$(say) AR $@
	$(Q)rm -f $@
	$(Q)$(AR) rcs $@ $^

# The agent links nothing of ours and no library but libc: it lives in other people's processes.
$(AGENT): $(call obj,agent) agent/libjisagent.map
	$(say) LD $@
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -Wl,-z,defs -Wl,-z,nodelete -Wl,--version-script=agent/libjisagent.map \
		-o $@ $(call obj,agent) -lpthread -ldl

$(JAR): $(MARKER_JAVA)
	$(say) JAR $@
	$(Q)rm -rf $(BUILD)/agent/classes; mkdir -p $(BUILD)/agent/classes
	$(Q)$(JAVA_HOME)/bin/javac -encoding UTF-8 --release 17 -Xlint:all -Werror -d $(BUILD)/agent/classes $(MARKER_JAVA)
	$(Q)$(JAVA_HOME)/bin/jar --create --file $@ -C $(BUILD)/agent/classes .

# Tests ---------------------------------------------------------------------------------------
# The class-file rewriter, and what it is asked for, need no JVM and nothing else of the agent.
CLASSFILE_OBJ := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard agent/classfile*.c agent/choice.c agent/siphash.c agent/methods_calls.c))

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(LIB_A) $(CLASSFILE_OBJ)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIB_A) -Wl,--end-group \
		$(shell $(PKG_CONFIG) --libs check) $(LIBS) -lm

# Parts of the agent with a JVM of the test's own.
AGENT_UNITS := retransform wrappers values methods_table agent_slots
$(BUILD)/tests/unit/test_retransform: $(BUILD)/obj/agent/retransform.o
$(BUILD)/tests/unit/test_wrappers: $(BUILD)/obj/agent/wrappers.o
$(BUILD)/tests/unit/test_values: $(BUILD)/obj/agent/values.o
$(BUILD)/tests/unit/test_agent_slots: $(BUILD)/obj/agent/slots.o
$(BUILD)/tests/unit/test_methods_table: $(patsubst %,$(BUILD)/obj/agent/%.o,methods_table methods_supers)

# Parts of the tool.
$(BUILD)/tests/unit/test_dump_select: $(BUILD)/obj/cli/dump_select.o
$(BUILD)/tests/unit/test_known_damages: $(BUILD)/obj/cli/known_damages.o
$(BUILD)/tests/unit/test_methods_list: $(BUILD)/obj/cli/methods_list.o $(BUILD)/obj/cli/common.o
$(BUILD)/tests/unit/test_info_hosts: $(BUILD)/obj/cli/info_hosts.o $(BUILD)/obj/cli/common.o

$(BUILD)/tests/prog/%: $(BUILD)/obj/tests/e2e/prog/%.o $(SHLIB)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -ljisctl -Wl,-rpath,'$$ORIGIN/../..' -lpthread -lm
$(BUILD)/tests/prog/rewrite_classes: $(CLASSFILE_OBJ)
# Writes traces itself.
$(BUILD)/tests/prog/impossible: $(BUILD)/obj/tests/e2e/prog/impossible.o $(LIB_A)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< -Wl,--start-group $(LIB_A) -Wl,--end-group $(LIBS) -lm

# Libraries that tests load into JVMs, beside the agent.
EXTRA_tests = $(if $(filter tests/e2e/jvmti/% $(AGENT_UNITS:%=tests/unit/test_%.c),$<),$(JVMTI_INC))
$(BUILD)/tests/lib%.so: $(BUILD)/obj/tests/e2e/jvmti/%.o
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -shared -o $@ $<

$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(LIB_A) $(CLASSFILE_OBJ)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIB_A) -Wl,--end-group $(LIBS) -lm

$(BUILD)/tests/lab/%: $(BUILD)/obj/tests/lab/prog/%.o $(LIB_A)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $< -Wl,--start-group $(LIB_A) -Wl,--end-group $(LIBS) -lm

$(BUILD)/tests/lab/jisfuzz: $(patsubst %.c,$(BUILD)/obj/%.o,$(JISFUZZ_SRC))
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lpthread

# Without the libraries it does not need: e2e/208 builds it with sanitizers.
$(BUILD)/tests/fuzz/fuzz_class: $(BUILD)/obj/tests/fuzz/fuzz_class.o $(CLASSFILE_OBJ)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lm

$(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(LIB_A) $(CLASSFILE_OBJ)
	$(say) LD $@
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) -Wl,--start-group $(LIB_A) -Wl,--end-group $(LIBS) -lm

$(BUILD)/tests/classes/.made: $(TEST_JAVA) $(JAR)
	$(say) JAVAC tests/e2e/java
	$(Q)rm -rf $(@D); mkdir -p $(@D)
	$(Q)test -z "$(TEST_JAVA)" || $(JAVA_HOME)/bin/javac -encoding UTF-8 --release 17 -cp $(JAR) -d $(@D) $(TEST_JAVA)
	$(Q)touch $@

# The demo's servlet and load generator; the servlet API is Tomcat's.
$(BUILD)/demo-classes/.made: $(wildcard scripts/demo/java/*.java) $(JAR)
	$(say) JAVAC scripts/demo
	$(Q)rm -rf $(@D); mkdir -p $(@D)/app $(@D)/load
	$(Q)$(JAVA_HOME)/bin/javac -encoding UTF-8 --release 17 -d $(@D)/app \
		-cp '$(wildcard /usr/share/tomcat10/lib/servlet-api.jar /usr/share/tomcat11/lib/servlet-api.jar):$(JAR)' \
		scripts/demo/java/LuServlet.java
	$(Q)$(JAVA_HOME)/bin/javac -encoding UTF-8 --release 17 -d $(@D)/load scripts/demo/java/SurgeLoad.java
	$(Q)cp -r $(BUILD)/agent/classes/. $(@D)/app/
	$(Q)touch $@

demo-classes: $(BUILD)/demo-classes/.made

unit: $(UNIT_BIN)
	$(Q)tests/run.sh unit $(BUILD)

e2e: all tests demo-classes
	$(Q)tests/run.sh e2e $(BUILD)

# As e2e, on each JDK and with more mutants of classes.
check-jdks: all tests demo-classes
	$(Q)JIS_TEST_JDKS=all JIS_TEST_MUTANTS=50 JIS_TEST_LIMIT=900 tests/run.sh e2e $(BUILD)

# As e2e, with -Xcheck:jni in each JVM, whose complaints fail the test.
check-jni: all tests demo-classes
	$(Q)tests/run.sh check-jni $(BUILD)

# More modules of other JDKs, the jars of other languages, whole, and programs in all of them: takes long.
languages: all tests
	$(Q)scripts/setup.sh languages
	$(Q)JIS_TEST_LANGUAGES=all JIS_TEST_LIMIT=3600 tests/run.sh e2e $(BUILD) 201
	$(Q)JIS_TEST_LANGUAGES=all JIS_TEST_LIMIT=3600 tests/run.sh e2e $(BUILD) 202
	$(Q)JIS_TEST_LANGUAGES=all JIS_TEST_LIMIT=3600 tests/run.sh e2e $(BUILD) 294

# Half an hour of a server whose methods are switched, and whose application is deployed anew, all the time.
soak: all tests demo-classes
	$(Q)SOAK_SECONDS=1800 SOAK_LOG=$(abspath $(BUILD))/soak.log JIS_TEST_LIMIT=3600 JIS_TEST_ONCE=1 tests/run.sh e2e $(BUILD) 338

check: all tests demo-classes
	$(Q)tests/run.sh check $(BUILD)

lab:
	$(Q)tests/run.sh lab $(BUILD)

# Setup first and by itself, so that what it installs is seen by the rules that follow.
test:
	$(Q)$(MAKE) --no-print-directory setup
	$(Q)tests/run.sh all $(BUILD)

bench: all tests demo-classes
	$(Q)tests/bench/run.sh $(BUILD)
	$(Q)tests/bench/tree.sh $(BUILD)
	$(Q)tests/bench/hosts.sh $(BUILD)
	$(Q)tests/bench/javiz.sh $(BUILD)
	$(Q)tests/bench/calls.sh $(BUILD)
	$(Q)tests/bench/rmi_cost.sh $(BUILD)
	$(Q)tests/bench/agent_cost.sh $(BUILD)
	$(Q)tests/bench/agent_pairs.sh $(BUILD)
	$(Q)tests/bench/methods_cost.sh $(BUILD)

lab-bench:
	$(Q)tests/bench/lab.sh

# What the end-to-end tests ask of Java, with the module, in both guests.
lab-java: demo-classes
	$(Q)for suite in bookworm trixie; do \
		scripts/lab/build.sh $$suite >/dev/null && ICOUNT=1 SMP=1 JIS_TEST_NO_SKIP=1 \
		APPEND="nvme_core.io_timeout=1000000 sysctl.kernel.hung_task_timeout_secs=0" \
		tests/lab/run.sh $$suite j480 && JIS_TEST_NO_SKIP=1 tests/lab/run.sh $$suite 472 473 || exit 1; \
	done

# Kernel module: KDIR= the headers of the kernel to build for.
KDIR ?= /lib/modules/$(shell uname -r)/build
kmod:
	$(say) KMOD $(KDIR)
	$(Q)test -d $(KDIR) || { echo "kmod: no kernel headers at $(KDIR): install linux-headers for your kernel or set KDIR=" >&2; exit 1; }
	$(Q)mkdir -p $(BUILD)/kmod
	$(Q)cp -pu kmod/*.c kmod/*.h kmod/Kbuild VERSION $(BUILD)/kmod/
	$(Q)mkdir -p $(BUILD)/kmod/include && cp -rpu include/jis $(BUILD)/kmod/include/
	$(Q)$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(BUILD)/kmod) modules

# What the lab's guests need a module for (tests/lab/kmod).
kmod-lab:
	$(say) KMOD $(KDIR) for tests
	$(Q)mkdir -p $(BUILD)/kmod-lab && cp -pu tests/lab/kmod/*.c tests/lab/kmod/Kbuild $(BUILD)/kmod-lab/
	$(Q)$(MAKE) --no-print-directory -C $(KDIR) M=$(abspath $(BUILD)/kmod-lab) modules

# The module under sparse and checkpatch --strict; KDIR= other headers than those it finds.
kmod-check:
	$(Q)scripts/kmod-check.sh $(BUILD) $(if $(filter-out undefined file,$(origin KDIR)),$(KDIR))

# Others ---------------------------------------------------------------------------------------
setup:
	$(Q)scripts/setup.sh

demo:
	$(Q)$(MAKE) --no-print-directory setup
	$(Q)$(MAKE) --no-print-directory all demo-classes
	$(Q)scripts/demo.sh $(BUILD)

lab-demo:
	$(Q)scripts/lab/demo.sh

# On kernels that check themselves; see the script.
lab-debug:
	$(Q)scripts/lab/debug.sh

# The module for every kernel Debian offers; writes docs/kernels.md.
matrix:
	$(Q)scripts/lab/matrix.sh

install: all
	$(Q)BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) scripts/install.sh

uninstall:
	$(Q)DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) scripts/install.sh --uninstall

# One list of files and one version of clang-format: those of the lint.
fmt:
	$(Q)scripts/lint.sh --format
fmt-check:
	$(Q)scripts/lint.sh --format-check
lint:
	$(Q)scripts/lint.sh $(BUILD)

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
