"""Verifies evidence with pymerkle, which knows nothing of the code that wrote it.

The tree is grown anew from the entries of the log, in a folder or behind an address; its root must be the checkpoint's. Then every tlog-proof of the
evidence is handed to pymerkle's verifier, and so is consistency from an older checkpoint where one is given.

usage: verify.py FOLDER|URL EVIDENCE [OLDER-CHECKPOINT-FILE]
"""

import base64
import json
import pathlib
import sys
import urllib.request

from pymerkle import InclusionProof, InmemoryTree, verify_consistency, verify_inclusion


def checkpoint(text):
    """Size and root. The signature is for others to check."""
    _, size, root = text.split("\n")[:3]
    return int(size), base64.b64decode(root, validate=True)


def read(log, name):
    """One of the log's files."""
    if log.startswith("http://"):
        with urllib.request.urlopen(f"{log}/{name}") as answer:
            return answer.read()
    return (pathlib.Path(log) / name).read_bytes()


def entries(log, size):
    for first in range(0, size, 256):
        number = f"{first // 256:03}"
        assert len(number) == 3, "this reader stops at a thousand bundles"
        width = min(256, size - first)
        name = number if width == 256 else f"{number}.p/{width}"
        bundle = read(log, f"tile/entries/{name}")
        for _ in range(width):
            length = int.from_bytes(bundle[:2], "big")
            assert len(bundle) >= 2 + length, "the bundle is too short"
            yield bundle[2 : 2 + length]
            bundle = bundle[2 + length :]
        assert not bundle, "the bundle is too long"


def proof(text):
    """Index and path of a tlog-proof."""
    head = text.split("\n\n", 1)[0].split("\n")
    assert head[0] == "c2sp.org/tlog-proof@v1", "not a tlog-proof"
    assert head[1].startswith("index "), "no index"
    return int(head[1][len("index ") :]), [base64.b64decode(line, validate=True) for line in head[2:]]


def main(log, evidence, older=None):
    evidence = json.loads(pathlib.Path(evidence).read_text())
    size, root = checkpoint(evidence["checkpoint"])
    tree = InmemoryTree(algorithm="sha256")
    for entry in entries(log, size):
        tree.append_entry(entry)
    assert tree.get_root() == root, "the entries do not have the checkpoint's root"
    for logged in evidence["definitions"] + evidence["events"]:
        index, path = proof(logged["proof"])
        leaf = tree.hash_buff(logged["leaf"].encode())
        rule = tree.prove_inclusion(index + 1, size).rule
        given = InclusionProof("sha256", True, size, index + 1, rule, [leaf] + path)
        verify_inclusion(leaf, root, given, index=index + 1, size=size)
    if older:
        old_size, old_root = checkpoint(pathlib.Path(older).read_text())
        verify_consistency(old_root, root, tree.prove_consistency(old_size, size), old_size, size)
    print(f"{len(evidence['events'])} events verified")


main(*sys.argv[1:])
