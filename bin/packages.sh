# ./weft dist and ./weft new. Sourced by ./weft, with which it shares $root, $work and functions.

# ---- dist

make_dist() { # [--version V] [--check]
  local usage='usage: ./weft dist [--version V] [--check]' wanted='' check=''
  local dist=$root/target/dist again="$root/target/dist in another folder" version commit time
  while [ $# -gt 0 ]; do
    case $1 in
      --version) [ $# -gt 1 ] || die 2 "option --version needs a value; $usage" && wanted=$2 && shift ;;
      --version=*) wanted=${1#*=} ;;
      --check) check=yes ;;
      *) die 2 "unknown option '$1'; $usage" ;;
    esac
    shift
  done
  case $wanted in
    *[!0-9A-Za-z.-]* | [!0-9]* | *-) die 2 "a version begins with a digit and has digits, letters, dots and dashes, as 1.2.0 or 1.2.0-rc.1, not '$wanted'" ;;
  esac
  find_jdk
  find_origin
  version=${wanted:-$version}
  umask 022 # the jar of the Javadoc keeps the modes of its files
  make_folder "$dist" && lock
  build_packages "$dist"
  if [ -n "$check" ]; then
    TZ=XYZ-9 LC_ALL=C build_packages "$again"
    diff -r "$dist" "$again" >"$root/target/dist.diff" ||
      die 1 "two builds differ: $(head -n 1 "$root/target/dist.diff"); all differences are in $root/target/dist.diff"
    rm -rf "$again"
  fi
  unlock
  echo "weft $version, commit $commit: target/dist/repository and target/dist/weft-$version.zip${check:+, twice the same bytes}"
}

# Sets $version, $commit and $time, the time of all files in the packages: that of the commit.
find_origin() {
  find_version
  time=''
  [ ! -e "$root/.git" ] ||
    time=$(TZ=UTC0 ask_git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd)
  time=${time:-$(sed -n 's|^ *<project.build.outputTimestamp>\(.*\)<.*|\1|p' "$root/pom.xml")}
}

# Builds $version in a copy of the sources, after it has set the version in the poms there. A copy,
# so that no other build is disturbed, and no file left behind by another build gets in.
build_packages() { # FOLDER [MAVEN_OPTION…]
  local out=$1 sources=$1/sources log=$root/target/dist.log modules maven_folder old pom
  shift
  modules=$(published)
  old=$(find_version && echo "$version")
  rm -rf "$sources" "$out/repository" "$out"/weft-* && mkdir -p "$sources" &&
    (cd "$root" && tar -cf - --exclude=target pom.xml .mvn weft weft.args weft.jfc LICENSE CHANGELOG.md \
      bin template examples weft-*/pom.xml {weft-testkit,weft-cli}/src \
      $(for module in $modules; do [ ! -e "$module/src" ] || echo "$module/src"; done)) |
    tar -xf - -C "$sources" || die 1 "cannot copy the sources into $sources"
  for pom in "$sources"/pom.xml "$sources"/*/pom.xml; do # by its indent: of the project or its parent
    sed -e "s|^\( \{2,4\}<version>\)$old<|\1$version<|" -e "s|\${project.version}|$version|" "$pom" >"$pom.new" &&
      mv "$pom.new" "$pom" || exit 1
  done
  say_building
  maven_folder=$sources
  maven "$log" show_build -pl "$(echo $modules | tr ' ' ,),weft-cli" -am -P '!error-prone,!format' \
    -Dweft.dist -Dweft.commit="$commit" -Dproject.build.outputTimestamp="$time" -Dmaven.test.skip \
    "$@" package || show_errors "$log" "the packages cannot be built"
  add_wrapper "$sources/template" || die 1 "cannot add Maven's wrapper to the template"
  "$jdk/bin/java" -Duser.timezone=UTC -cp "$sources/weft-cli/target/classes" \
    dev.weft.cli.Distribution "$sources" "$out" "$version" "$commit" "$time" $modules ||
    die 1 "cannot lay out the packages in $out"
  rm -rf "$sources"
}

# The modules that users can depend on: the BOM, and those that the BOM lists.
published() {
  echo weft-bom
  sed -n 's|^.*<groupId>dev.weft</groupId><artifactId>\(.*\)</artifactId>.*|\1|p' "$root/weft-bom/pom.xml"
}

# ---- new

make_new() { # DIR
  local folder=${1-} usage='usage: ./weft new DIR' repository=$root/repository version name
  case $folder in -*) die 2 "unknown option '$folder'; $usage" ;; esac
  [ $# -eq 1 ] && [ -n "$folder" ] || die 2 "$usage"
  if [ -e "$folder" ] && { [ ! -d "$folder" ] || [ -n "$(ls -A "$folder")" ]; }; then
    die 2 "cannot make a project in $folder: it exists and is not an empty folder"
  fi
  find_jdk
  mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] || # before a build, which takes a minute
    die 1 "cannot make a project in $folder: it cannot be written"
  if is_clone; then
    repository=$work/packages/repository
    build_repository_if_changed
  fi
  version=$(ls "$repository/dev/weft/weft-bom")
  cp -R "$root/template/." "$folder" &&
    name=$(cd "$folder" && printf %s "${PWD##*/}" | tr -c 'A-Za-z0-9_.-' -) &&
    fill_in "$folder/pom.xml" && fill_in "$folder/README.md" &&
    { ! is_clone || add_wrapper "$folder"; } && # an unzipped Weft has it in its template
    copy_libraries "$repository" "$folder/lib" || die 1 "cannot write into $folder"
  echo "weft: $folder is a project with Weft $version. Now:"
  printf '  cd %q\n' "$folder"
  has_jdk "${JAVA_HOME:-$(java_on_path)}" || printf '  export JAVA_HOME=%q\n' "$jdk"
  echo "  ./mvnw test   # runs the test"
  echo "  ./mvnw        # compiles and runs the program"
}

# The jars and poms without Javadoc and bills of materials: a project needs no more to build. The
# version is a new one for each build, because Maven never looks again for one that it has seen.
build_repository_if_changed() {
  local sources=(pom.xml weft-cli/{pom.xml,src/main}) module version commit time
  for module in $(published); do sources+=("$module"/{pom.xml,src/main}); done
  changed packages.built "${sources[@]}" || return 0
  lock
  if changed packages.built "${sources[@]}"; then
    touch "$work/packages.building"
    find_origin
    case $version in *-SNAPSHOT) version=${version%SNAPSHOT}dev.$(date -u +%Y%m%d%H%M%S) ;; esac
    build_packages "$work/packages" -Dmaven.javadoc.skip -Dcyclonedx.skip
    mv "$work/packages.building" "$work/packages.built"
  fi
  unlock
}

# Maven's wrapper as Maven makes it, so that the address of Maven is Maven's own.
add_wrapper() { # FOLDER
  local made=$work/wrapper
  if [ ! -e "$made/mvnw" ]; then
    mkdir -p "$made" || return 1
    maven_folder=$made maven "$work/wrapper.log" show_build -N -Dtype=only-script -Dmaven=3.9.16 \
      org.apache.maven.plugins:maven-wrapper-plugin:3.3.2:wrapper ||
      show_errors "$work/wrapper.log" "Maven's wrapper cannot be made"
  fi
  cp -R "$made/." "$1"
}

fill_in() { # FILE: needs $name and $version
  sed -e "s|@name@|$name|g" -e "s|@version@|$version|g" "$1" >"$1.new" && mv "$1.new" "$1"
}

# Copies jars, sources and poms, each with one checksum: without any, Maven warns.
copy_libraries() { # REPOSITORY FOLDER
  (cd "$1" && find . -type f | grep -E '\.(jar|pom)(\.sha1)?$' | grep -v -e '-javadoc\.jar') |
    while IFS= read -r file; do
      mkdir -p "$2/${file%/*}" && cp "$1/$file" "$2/$file" || return 1
    done
}
