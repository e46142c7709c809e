"""The searches that libraries make at a kernel's first call, timing their choices: torch.compile
(Inductor) and Triton's autotune. They launch a lot, so they take the device's turn like everybody;
and where nothing is to be timed yet, they only compile. One thread.

These are inner parts of the libraries. Where a version has them no more, its searches are left as
they are: they may then disturb others for a moment."""


def hook_inductor(around):
    """around(time) stands in for the timing of one configuration."""
    try:
        from torch._inductor.runtime.triton_heuristics import CachingAutotuner
        original = CachingAutotuner.bench
    except (ImportError, AttributeError):
        return

    def bench(self, launcher, *arguments, **named):
        return around(lambda: original(self, launcher, *arguments, **named), None)

    CachingAutotuner.bench = bench


def hook_triton(around):
    try:
        from triton.runtime.autotuner import Autotuner
        original = Autotuner.__dict__["do_bench"]
    except (ImportError, KeyError):
        return
    timer_of = getattr(original, "fget", None) or getattr(original, "func", None)
    if timer_of is None:
        return

    def do_bench(self):
        def timed(kernel_call, quantiles):
            return around(lambda: timer_of(self)(kernel_call, quantiles=quantiles), kernel_call)
        return timed

    Autotuner.do_bench = property(do_bench)


def hold(turn):
    """Searches compile whenever they like, and time while they have the turn."""
    def around(time, compile_first):
        if compile_first is not None:
            compile_first()
        with turn:
            return time()

    hook_inductor(around)
    hook_triton(around)


def skip():
    """Every configuration is compiled, and none is better than another."""
    def around(_, compile_first):
        if compile_first is None:
            return 1.0
        compile_first()
        return [1.0, 1.0, 1.0]

    hook_inductor(around)
    hook_triton(around)
