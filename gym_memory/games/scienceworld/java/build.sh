#!/bin/sh
# Builds fast.jar from FastServer.java: sh build.sh path/to/python (with scienceworld installed).
# Needs a JDK from version 11 on; the result runs on Java 8. A test compares the source kept in the
# jar with the one beside it.
set -e
cd "$(dirname "$0")"
engine=$("${1:-python}" -c "from scienceworld.constants import JAR_PATH; print(JAR_PATH)")
out=$(mktemp -d)
javac --release 8 -Xlint:-options -cp "$engine" -d "$out" FastServer.java
cp FastServer.java "$out/gymmemory/"
jar --create --no-manifest --file fast.jar -C "$out" gymmemory
rm -r "$out"
