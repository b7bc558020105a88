"""Numbers in words by num2words and cn2an: writes numbers.json beside this script.

python3 -m pip install num2words==0.5.14 cn2an==0.5.24 && python3 make_numbers.py
"""
import json
import random
from pathlib import Path

import cn2an
from num2words import num2words

random.seed(1)
values = {0, *range(1, 131), 1000, 1001, 1010, 1100, 10000, 10010, 10100, 100001, 101000, 110000, 2000, 2002, 20000, 22222}
values |= {10**power for power in range(15)} | {2 * 10**power for power in range(15)}
values |= {random.randrange(10**random.randrange(1, 16)) for _ in range(150)}

rows = []
for value in sorted(values):
    english = num2words(value).replace(" and ", " ").replace(",", "")
    ordinal = num2words(value, to="ordinal").replace(" and ", " ").replace(",", "")
    # cn2an knows no 两 and may leave 一十 in front; the test knows.
    rows.append([str(value), english, ordinal, cn2an.an2cn(value)])
Path(__file__).with_name("numbers.json").write_text(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).replace("],[", "],\n[") + "\n")
