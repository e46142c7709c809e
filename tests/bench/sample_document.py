"""Documents for the tests, made up."""


def peer(ns, wrong=False, note=""):
    entry = {"ns": ns, "interval": None if ns is None else [ns * 0.99, ns * 1.01],
             "error": 0.0078, "wrong": wrong}
    return {**entry, "note": note} if note else entry


def figures(copy_ns, ours_ns, peers):
    interval = None if ours_ns is None else [ours_ns * 0.995, ours_ns * 1.005]
    return {"copy_ns": copy_ns, "copy": "driver", "ours_ns": ours_ns, "interval": interval,
            "overlaps": False, "peers": peers}


def row(dtype="bf16", rows=16384, columns=4096, warm=None, **changes):
    made = {"dtype": dtype, "rows": rows, "columns": columns, "affine": "both", "stats": "none",
            "shift": 0, "fits_l2": warm is not None, "candidate": "sub_warp threads=128",
            "max_error": 0.0156,
            "wrong": False, "warm": warm,
            **figures(64600.0, 67000.0, {"torch_eager": peer(102920.0), "liger": peer(71900.0)})}
    return {**made, **changes}


def document(rows, reference_ns=65000.0, **changes):
    made = {"format": 1, "gpu": "NVIDIA H200", "driver": "13.0 (580.1)",
            "versions": {"normd": "0.1.0", "torch": "2.11.0"}, "date": "2026-01-01T00:00:00Z",
            "command": "python3 -m bench.compare", "l2_bytes": 62914560,
            "reference_copy": {"bytes": 134217728, "ns": reference_ns}, "not_installed": {},
            "slices": [{"slice": "1/1", "date": "2026-01-01T00:00:00Z",
                        "command": "python3 -m bench.compare",
                        "reference": [{"device": "0a", "begin_ns": reference_ns,
                                       "end_ns": reference_ns}]}],
            "rows": rows}
    return {**made, **changes}
