"""Prints a JSON file with one value replaced: set_json.py FILE a.0.b VALUE."""

import json
import sys

path, keys, value = sys.argv[1:]
with open(path) as file:
    document = json.load(file)
place = document
*parents, last = [int(key) if key.isdigit() else key for key in keys.split(".")]
for key in parents:
    place = place[key]
place[last] = json.loads(value)
json.dump(document, sys.stdout)
