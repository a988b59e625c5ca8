"""Licences of everything that is compiled into the program, as one text: reads `cargo metadata` from the standard input."""

import json
import pathlib
import sys

NAMES = ("license", "licence", "copying", "notice", "unlicense", "copyright")


def compiled(metadata):
    """Packages that the program links or compiles, the project's own excluded."""
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting, seen = list(metadata["workspace_members"]), set()
    while waiting:
        package = waiting.pop()
        if package in seen:
            continue
        seen.add(package)
        for dependency in nodes[package]["deps"]:
            if any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    own = set(metadata["workspace_members"])
    return [p for p in metadata["packages"] if p["id"] in seen - own]


def texts(package):
    folder = pathlib.Path(package["manifest_path"]).parent
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.name.lower().startswith(NAMES):
            yield path.read_text(encoding="utf-8", errors="replace").strip()


def main():
    users = {}
    packages = sorted(compiled(json.load(sys.stdin)), key=lambda p: (p["name"], p["version"]))
    print("Atomscope contains these packages, each under the licence named:\n")
    for package in packages:
        name = f"{package['name']} {package['version']}"
        authors = ", ".join(package["authors"])
        print(f"{name}: {package['license']}" + (f" ({authors})" if authors else ""))
        for text in texts(package):
            users.setdefault(text, []).append(name)
    for text, names in users.items():
        print(f"\n{'=' * 78}\n{', '.join(names)}\n{'-' * 78}\n{text}")


main()
