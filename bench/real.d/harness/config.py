"""What configuring found out, as key -> value, with the compiler's name and the build directory taken out.

Autoconf: cache variables, output variables and confdefs.h of every config.log. CMake: the cache and what it
learnt about the compiler. Two tools agree when the dictionaries are equal."""
import re

_SECTION = re.compile(r"^## (Cache variables|Output variables|confdefs\.h)\. ##$")


def _autoconf(text):
    section, found = None, {}
    for line in text.splitlines():
        if m := _SECTION.match(line):
            section = m.group(1)
        elif re.match(r"## \w.* ##$", line):
            section = None
        elif section and (m := re.match(r"(?:#define )?(\w+)(?:=| |$)(.*)", line)):
            found[f"{section.split()[0].lower()} {m.group(1)}"] = m.group(2)
    return found


def _cmake_cache(text):
    return {f"cache {m.group(1)}": m.group(2) for m in re.finditer(r"^([^#/\s][^:=]*):\w+=(.*)$", text, re.M)}


def _cmake_compiler(text):
    return {f"compiler {m.group(1)}": m.group(2) for m in re.finditer(r"^set\((\w+) (.*)\)$", text, re.M)}


_READERS = (("config.log", _autoconf), ("CMakeCache.txt", _cmake_cache), ("CMakeCCompiler.cmake", _cmake_compiler),
            ("CMakeCXXCompiler.cmake", _cmake_compiler))

# The compiler's own name, split over keys by CMake.
_NAMES = {"CMAKE_C_COMPILER", "CMAKE_C_COMPILER_ARG1", "CMAKE_CXX_COMPILER", "CMAKE_CXX_COMPILER_ARG1"}


def neutral(value, replace):
    """Quotes depend on whether the compiler's name has a blank in it; CMake prefers binutils that end as that name does, in -19."""
    for text, name in replace:
        value = value.replace(text, name)
    value = re.sub(r"(/(?:llvm-\w+|ld\.lld))-19\b", r"\1", value)
    return re.sub(r"^'(.*)'$", r"\1", value)


def collect(top, replace):
    """replace: pairs (text, placeholder), applied in order."""
    found = {}
    for pattern, reader in _READERS:
        for path in sorted(top.rglob(pattern)):
            where = path.relative_to(top)
            if "CMakeScratch" in where.parts:
                continue
            for key, value in reader(path.read_text(errors="replace")).items():
                if key.split()[-1] in _NAMES:
                    continue
                found[f"{where}: {key}"] = neutral(value, replace)
    return found


def difference(plain, other):
    """Lines 'key: plain | other' for what is not equal."""
    keys = sorted(set(plain) | set(other))
    return [f"{k}: {plain.get(k, '(none)')} | {other.get(k, '(none)')}" for k in keys if plain.get(k) != other.get(k)]
