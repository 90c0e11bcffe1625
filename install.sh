#!/bin/sh
# Installs faraday for one user, without root: picks the binary of this machine, checks it against
# SHA256SUMS, and puts it in place in one step. Anything in doubt ends it with the old one in place.
set -eu

usage() {
  cat <<'EOF'
usage: install.sh --from DIRECTORY-OR-URL [--prefix DIRECTORY]

  --from    where the files of a release are: a directory, or an http(s) address of one;
            without it, the directory that this script is in
  --prefix  faraday is installed to DIRECTORY/bin (default: ~/.local)

example: sh install.sh --from ./dist/release --prefix ~/tools
EOF
}

die() { # MESSAGE [HINT]
  echo "install.sh: $1" >&2
  [ $# -lt 2 ] || echo "hint: $2" >&2
  exit 1
}

from=$(dirname "$0")
prefix=${HOME:+$HOME/.local}
while [ $# -gt 0 ]; do
  case $1 in
    --from | --prefix)
      [ $# -ge 2 ] || { usage >&2; exit 2; }
      [ -n "$2" ] || { usage >&2; exit 2; }
      if [ "$1" = --from ]; then from=$2; else prefix=$2; fi
      shift 2
      ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
done
[ -n "$prefix" ] || die 'HOME is not set' 'name a directory with --prefix'
from=${from%/}

[ "$(uname -s)" = Linux ] || die "faraday runs on Linux, not on $(uname -s)"
case $(uname -m) in
  x86_64 | amd64) name=faraday-linux-x64 ;;
  aarch64 | arm64) name=faraday-linux-arm64 ;;
  *) die "there is no faraday for $(uname -m)" 'it is made for x86_64 and aarch64' ;;
esac

if command -v sha256sum >/dev/null 2>&1; then
  checksum() { sha256sum "$1" | cut -d ' ' -f 1; }
elif command -v busybox >/dev/null 2>&1; then
  checksum() { busybox sha256sum "$1" | cut -d ' ' -f 1; }
else
  die 'nothing here can compute SHA-256' 'install coreutils'
fi

fetch() { # FILE TARGET
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null 2>&1; then
        curl --fail --silent --show-error --location --output "$2" -- "$from/$1"
      elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$2" -- "$from/$1"
      else
        die 'neither curl nor wget is installed' 'fetch the files yourself and use --from DIRECTORY'
      fi
      ;;
    *) cp -- "$from/$1" "$2" ;;
  esac
}

bin=$prefix/bin
mkdir -p -- "$bin" 2>/dev/null || die "cannot make $bin" 'name another directory with --prefix'
# In the target directory, so that the last step is a rename within one file system.
work=$(mktemp -d "$bin/.faraday-install-XXXXXX" 2>/dev/null) ||
  die "cannot write to $bin" 'name another directory with --prefix'
trap 'rm -rf -- "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

fetch SHA256SUMS "$work/SHA256SUMS" || die "there is no SHA256SUMS at $from"
# A compressed file is half the way or less; the sum is that of what was transferred.
file=$name
case $from in
  http://* | https://*) if command -v gzip >/dev/null 2>&1; then file=$name.gz; fi ;;
esac
want=$(awk -v name="$file" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
case $want in
  *[!0-9a-f]* | '') die "SHA256SUMS has no single sum for $file" 'is this a release of faraday?' ;;
esac
[ ${#want} -eq 64 ] || die "SHA256SUMS has no single sum for $file" 'is this a release of faraday?'
fetch "$file" "$work/$file" || die "cannot get $file from $from"
got=$(checksum "$work/$file")
[ "$got" = "$want" ] ||
  die "$file is not what SHA256SUMS says: $got instead of $want" 'nothing was installed; try again'
[ "$file" = "$name" ] || gzip -d "$work/$file"
chmod 755 "$work/$name"
# It has to run here before it takes the place of one that does.
version=$("$work/$name" --version 2>/dev/null) ||
  die "$name does not run on this machine" 'it needs glibc (not musl) and a 64-bit kernel'
mv -f -- "$work/$name" "$bin/faraday"
echo "installed $version to $bin/faraday"
case ":${PATH:-}:" in
  *":$bin:"*) ;;
  *) echo "hint: $bin is not in PATH" ;;
esac
