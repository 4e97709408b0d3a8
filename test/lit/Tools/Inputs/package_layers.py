# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: package_layers.py MODEL.tpn [--sources]

Prints the problem and the solution of each layer of a package, or their sources.
"""

import json
import sys
from pathlib import Path

# Package.cpp: the metadata is behind a header, which tells its size.
HEADER = 128

data = Path(sys.argv[1]).read_bytes()
size = int.from_bytes(data[16:24], "little")
for layer in json.loads(data[HEADER : HEADER + size])["layers"]:
    if "--sources" in sys.argv:
        print(layer["name"], layer["source"])
    else:
        print(layer["problem"], layer["solver"], layer["config"])
