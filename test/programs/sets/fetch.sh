# shellcheck shell=bash disable=SC2154 # install.sh sets the variables
# The steps of the install.sh of each test set. They use the arrays debian, npm and go, and folder.

fail() {
  printf 'test/programs/sets: %s\n' "$@" >&2
  exit 1
}

wanted=$(printf '%s\n' "${debian[@]}" "${npm[@]}" "${go[@]}")

# fetch_debian ends the script if everything is there. Otherwise it fetches and unpacks the packages of Debian.
fetch_debian() {
  local program deb
  if [[ -f $folder/installed && $(<"$folder/installed") == "$wanted" ]]; then
    printf '%s\n' "$folder"
    exit
  fi
  for program in apt-get dpkg-deb npm go; do
    command -v "$program" >/dev/null || fail "$program is needed to fetch programs, and is not here."
  done
  echo "test/programs/sets: fetching into $folder" >&2
  rm -rf "$folder"
  mkdir -p "$folder/debs" "$folder/bin" "$folder/npm"
  (cd "$folder/debs" && apt-get download "${debian[@]}" >../apt.log 2>&1) ||
    fail 'apt-get could not download the packages.' "$(tail -n 5 "$folder/apt.log")"
  for deb in "$folder/debs"/*.deb; do
    dpkg-deb -x "$deb" "$folder/root"
  done
  rm -r "$folder/debs"
}

# wrapper NAME PROGRAM ASSIGNMENT... makes a program in bin that sets variables and runs a program of the packages. It
# is for programs that look for their data only where they were installed.
wrapper() {
  local name=$1 program=$2
  shift 2
  {
    echo '#!/bin/sh'
    printf "export %s\n" "$@"
    printf "exec '%s' \"\$@\"\n" "$folder/root/$program"
  } >"$folder/bin/$name"
  chmod +x "$folder/bin/$name"
}

# fetch_others installs the packages of npm and of Go.
fetch_others() {
  local package
  if ((${#npm[@]})); then
    npm install --prefix "$folder/npm" --no-audit --no-fund --no-update-notifier --loglevel=error "${npm[@]}" \
      >"$folder/npm.log" 2>&1 || fail 'npm could not install the packages.' "$(tail -n 5 "$folder/npm.log")"
  fi
  for package in "${go[@]}"; do
    GOBIN=$folder/bin GOFLAGS='' CGO_ENABLED=0 go install "$package" >"$folder/go.log" 2>&1 ||
      fail "go could not install $package." "$(tail -n 5 "$folder/go.log")"
  done
}

# finish records that everything is there, and prints the folder.
finish() {
  printf '%s\n' "$wanted" >"$folder/installed"
  printf '%s\n' "$folder"
}
