"""Fleet: processes that measure, some on each device, and what they are asked: one JSON line out,
one in. A process that dies or hangs is started again and its task tried again; the parent itself
never touches a device. worker.py is the other end. Threads: one for each process while it works."""

import collections
import json
import os
import pathlib
import subprocess
import sys
import threading

ATTEMPTS_MAX = 4   # at one task: a contender that kills its process is left out after two deaths
PATIENCE_S = 120   # for one answer


class MemberLost(Exception):
    pass


class Member:
    """One process, on one device."""

    def __init__(self, command, settings, visible, log):
        self.command = command
        self.settings = settings
        self.visible = visible  # CUDA_VISIBLE_DEVICES
        self.log = pathlib.Path(log)
        self.process = None

    def start(self):
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": self.visible}
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*self.command, json.dumps(self.settings)], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=log, text=True, env=environment)

    def ask(self, order, patience_s=PATIENCE_S):
        """The answer; MemberLost with its last words if it gave none."""
        if self.process is None:
            self.start()
        alarm = threading.Timer(patience_s, self.process.kill)
        alarm.start()
        try:
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except OSError:
            line = ""
        finally:
            alarm.cancel()
        if line:
            return json.loads(line)
        self.stop()
        raise MemberLost(self.last_words())

    def stop(self):
        """By the end of its input, or else by force."""
        if self.process is None:
            return
        process, self.process = self.process, None
        try:
            process.stdin.close()
        except OSError:
            pass
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def last_words(self):
        lines = self.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1][:200] if lines else "the process ended without a word"


def worker_command():
    return [sys.executable, "-m", "bench.compare.worker"]


class Fleet:
    def __init__(self, visible_devices, each, settings_of, folder, command=None):
        """`each` processes on each device; settings_of(number, device) are one's settings."""
        self.members = []
        for turn in range(each):
            for visible in visible_devices:
                number = len(self.members)
                self.members.append(Member(
                    command or worker_command(), settings_of(number, visible), visible,
                    pathlib.Path(folder) / f"worker-{number}.log"))
        self.leaders = self.members[:len(visible_devices)]  # one of each device

    def __enter__(self):
        for member in self.members:
            member.start()
        return self

    def __exit__(self, *_):
        self._in_threads([member.stop for member in self.members])
        return False

    def ask_leaders(self, order):
        """One answer for each device."""
        answers = [None] * len(self.leaders)

        def ask(number, member):
            answers[number] = member.ask(order)

        failures = self._in_threads([lambda n=number, m=member: ask(n, m)
                                     for number, member in enumerate(self.leaders)])
        if failures:
            raise failures[0]
        return answers

    def work(self, tasks, order_of, took, out_of_time=lambda: False):
        """Gives every task to whoever is free; took(task, answer, why) with the answer, or with
        None and why there is none. Returns the tasks that the time did not allow."""
        waiting = collections.deque(tasks)
        attempts = collections.Counter()
        lock = threading.Lock()

        def one_after_the_other(member):
            while not out_of_time():
                try:
                    task = waiting.popleft()
                except IndexError:
                    return
                try:
                    answer, why = member.ask(order_of(task)), ""
                except MemberLost as lost:
                    attempts[task] += 1
                    if attempts[task] < ATTEMPTS_MAX:
                        waiting.appendleft(task)
                        continue
                    answer, why = None, f"the process ended {ATTEMPTS_MAX} times: {lost}"
                with lock:
                    took(task, answer, why)

        failures = self._in_threads([lambda m=member: one_after_the_other(m)
                                     for member in self.members])
        if failures:
            raise failures[0]
        return list(waiting)

    @staticmethod
    def _in_threads(actions):
        """All at once; returns what they raised."""
        failures = []

        def guarded(action):
            try:
                action()
            except Exception as error:  # told by the caller, on its own thread
                failures.append(error)

        threads = [threading.Thread(target=guarded, args=(action,)) for action in actions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return failures
