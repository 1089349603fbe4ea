# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by the demo, the lab's demo and the Tomcat tests: makes a CATALINA_BASE of its own with the
# distribution's example servlets and the demo's application, starts Tomcat's class, waits for it.

# tomcat_base DIR PORT CLASSES: fills DIR; CLASSES holds LuServlet.class and the marker classes.
tomcat_base() {
	local base=$1 port=$2 classes=$3 here i
	here=$(dirname "${BASH_SOURCE[0]}")
	mkdir -p "$base"/{conf/Catalina/localhost,logs,temp,work,webapps/demo/WEB-INF/classes}
	sed "s/@PORT@/$port/" "$here/conf/server.xml" >"$base/conf/server.xml"
	cp "$(tomcat_home_conf)"/web.xml "$base/conf/web.xml"
	printf '<Context docBase="%s"><Resources allowLinking="true"/></Context>\n' \
		"$(tomcat_examples)" >"$base/conf/Catalina/localhost/examples.xml"
	cp -r "$classes"/. "$base/webapps/demo/WEB-INF/classes/"
	cp "$here/conf/demo-web.xml" "$base/webapps/demo/WEB-INF/web.xml"
	# Static files with a long tail of sizes: 50 pages of 1-8 KiB, 50 files of 2 KiB to 1 MiB.
	for ((i = 0; i < 50; i++)); do
		head -c $((1024 + i * 149)) /dev/zero | tr '\0' 'p' >"$base/webapps/demo/page$i.html"
		head -c $((2048 * (1 + 500 / (50 - i)))) /dev/zero | tr '\0' 'f' >"$base/webapps/demo/file$i.bin"
	done
}

tomcat_home() {
	local d
	for d in /usr/share/tomcat10 /usr/share/tomcat11; do
		[ -e "$d/bin/bootstrap.jar" ] && { echo "$d"; return; }
	done
	echo "no Tomcat 10 or 11 below /usr/share: install tomcat10" >&2
	return 1
}

tomcat_home_conf() {
	local d
	for d in /etc/tomcat10 /usr/share/tomcat10/etc /etc/tomcat11 /usr/share/tomcat11/etc; do
		[ -r "$d/web.xml" ] && { echo "$d"; return; }
	done
	echo "no web.xml of Tomcat in /etc/tomcat10: install tomcat10" >&2
	return 1
}

tomcat_examples() {
	local d
	for d in /usr/share/tomcat10-examples/examples /usr/share/tomcat11-examples/examples; do
		[ -d "$d" ] && { echo "$d"; return; }
	done
	echo "no example servlets of Tomcat: install tomcat10-examples" >&2
	return 1
}

# tomcat_command BASE [JVM-OPTION...]: prints the command words, one a line.
tomcat_command() {
	local base=$1 home
	shift
	home=$(tomcat_home) || return 1
	printf '%s\n' "${JAVA:-java}" "$@" -cp "$home/bin/bootstrap.jar:$home/bin/tomcat-juli.jar" \
		"-Dcatalina.home=$home" "-Dcatalina.base=$base" "-Djava.io.tmpdir=$base/temp" \
		-Djava.security.egd=file:/dev/urandom org.apache.catalina.startup.Bootstrap start
}

# tomcat_wait PORT PID SECONDS: until the examples answer or the process is gone.
tomcat_wait() {
	local port=$1 pid=$2 end=$((SECONDS + $3))
	until curl -fsS -o /dev/null "http://127.0.0.1:$port/examples/servlets/servlet/HelloWorldExample" 2>/dev/null; do
		kill -0 "$pid" 2>/dev/null || { echo "Tomcat ended before it answered" >&2; return 1; }
		[ $SECONDS -lt $end ] || { echo "Tomcat did not answer within $3 s" >&2; return 1; }
		sleep 0.2
	done
}

# free_port: a TCP port nobody listens on now.
free_port() {
	local port
	for port in $(shuf -i 20000-32000 -n 50); do
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
	done
	return 1
}
