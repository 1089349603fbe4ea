# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Sourced by a test and a bench: a program of the size that JaViz tells of, client and server, 130 methods, 521,410 calls.
# Each of 407 remote calls has 10 chains of 64 methods before it, in the client, and 10 of 64 inside of it, in the server;
# the rest are calls of one method of the client's.

javiz_methods='JavizClient.*,JavizServer.*,!**.<init>,!**.<clinit>,!**.main'
javiz_rounds=407 javiz_chains=10 javiz_pads=43

# javiz_make DIR: the program's classes. Status 1: there is no javac beside the JVM.
javiz_make() {
	local dir=$1 part i javac
	javac=$(dirname "$(readlink -f "$(command -v "${REAL_JAVA:-$JAVA}")")")/javac
	[ -x "$javac" ] || return 1
	mkdir -p "$dir/src"
	echo "public interface Quotes extends java.rmi.Remote { int serve(int x) throws java.rmi.RemoteException; }" >"$dir/src/Quotes.java"
	for part in Client Server; do
		{
			[ $part = Client ] || echo "public class JavizServer implements Quotes {
				public int serve(int x) { for (int i = 0; i < $javiz_chains; i++) x = c0(x); return x; }
				public static void main(String[] a) throws Exception {
					var server = new JavizServer();
					var registry = java.rmi.registry.LocateRegistry.createRegistry(0);
					registry.bind(\"quotes\", java.rmi.server.UnicastRemoteObject.exportObject(server, 0));
					var ref = ((java.rmi.server.RemoteObject) registry).getRef().remoteToString();
					System.out.println(\"PORT \" + ref.replaceAll(\".*:([0-9]+)\\\\].*\", \"\$1\"));
					while (System.in.read() >= 0) { }
					System.exit(0);
				}"
			[ $part = Server ] || echo "public class JavizClient {
				static int pad(int x) { return x * 3; }
				public static void main(String[] a) throws Exception {
					var quotes = (Quotes) java.rmi.registry.LocateRegistry.getRegistry(\"127.0.0.1\",
						Integer.parseInt(a[0])).lookup(\"quotes\");
					int x = 1;
					for (int r = 0; r < $javiz_rounds; r++) {
						for (int i = 0; i < $javiz_chains; i++) x = c0(x);
						x = quotes.serve(x);
					}
					for (int i = 0; i < $javiz_pads; i++) x = pad(x);
					System.out.println(\"SUM \" + x);
				}"
			for ((i = 0; i < 64; i++)); do
				echo "static int c$i(int x) { return $([ $i = 63 ] && echo "x ^ 5" || echo "c$((i + 1))(x * 31 + $i) + 1"); }"
			done
			echo "}"
		} >"$dir/src/Javiz$part.java"
	done
	"$javac" --release 17 -d "$dir" "$dir"/src/*.java
}
