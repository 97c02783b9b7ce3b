"""What a candidate's speed is compared with: the reference, and torch.compile of the reference.

Both run as candidates do, each in a sandboxed process of its own in which no candidate has ever been.
"""

from __future__ import annotations

from opgate.judge.sandbox.session import Session
from opgate.judge.sandbox.spawner import Spawner
from opgate.judge.sandbox.wire import Lost
from opgate.judge.speed.timed_process import TimedProcess
from opgate.judge.subject.source_file import SourceFile
from opgate.judge.truth.truth import Examination

SECONDS_OF_COMPILING = 300.0


class Opponents:
    """The processes, which are started when they are first needed and stay for the next candidate."""

    def __init__(self, source: SourceFile, spawners: dict[str, Spawner], seconds: float) -> None:
        self.source = source
        self.spawners = spawners
        self.seconds = seconds
        self.sides: dict[str, TimedProcess] = {}
        self.problems: dict[str, str] = {}

    def ready(self, examination: Examination) -> dict[str, TimedProcess]:
        """Those that work, by name, with the parameters of this examination."""
        for name, spawner in self.spawners.items():
            if name in self.problems:
                continue
            try:
                if name not in self.sides:
                    self.sides[name] = self.started(name, spawner, examination)
                elif examination.state:
                    self.sides[name].session.alter(examination.state, self.seconds)
            except Lost as lost:
                self.give_up(name, lost.evidence)
        return dict(self.sides)

    def started(self, name: str, spawner: Spawner, examination: Examination) -> TimedProcess:
        """A new process that has loaded the reference. Raises Lost."""
        session = Session(spawner, self.source, "cpu")
        side = TimedProcess(session, max(self.seconds, SECONDS_OF_COMPILING))
        head = {"seed": examination.seed, "poison": 0, "compile": name == "compiled"}
        try:
            reply = session.load(examination.init, examination.state, SECONDS_OF_COMPILING, **head)
            if "raised" in reply:
                raise Lost("raises", str(reply["raised"]))
        except Lost:
            session.end()
            raise
        return side

    def give_up(self, name: str, why: str) -> None:
        """Ends a process that cannot be timed."""
        self.problems[name] = (why.splitlines() or ["it fails"])[0][:200]
        if name in self.sides:
            self.sides.pop(name).session.end()

    def end(self) -> None:
        """Ends all processes."""
        for side in self.sides.values():
            side.session.end()
        for spawner in self.spawners.values():
            spawner.close()
