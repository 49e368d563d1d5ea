"""The memory exam: what a memory still knows of an episode, question by question.

Questions are made from the agent's own trajectory; their answers are the game's truth as far as
the agent could have seen it (``scoring/quality/observer.py``). An answer counts when what the
memory recalls for the question, within its budget, contains it. No language model takes part.

* :mod:`.account`: an episode as it was played, and what could be known of it at every step;
* :mod:`.questions`: the kinds of questions, how each is made and graded;
* :mod:`.wordings`: in what words, half of them kept from development;
* :mod:`.reading`: what a recall says, read alike for every memory, without extraction rules;
* :mod:`.session`: replays episodes into memories and asks;
* :mod:`.scores`: shares of right answers, the table's rows;
* :mod:`.report`: JSON and plots.

The idea is that of EMemBench (questions from the agent's own trajectory, answers computed from
the game); kinds, grading and code are our own.
"""

from gym_memory.evaluate.exam.account import Account, Moment, record
from gym_memory.evaluate.exam.questions import KINDS, Question, ask
from gym_memory.evaluate.exam.reading import Reading
from gym_memory.evaluate.exam.scores import ExamScore, exam_scores
from gym_memory.evaluate.exam.session import Answer, ExamConfig, examine

__all__ = [
    "KINDS",
    "Account",
    "Answer",
    "ExamConfig",
    "ExamScore",
    "Moment",
    "Question",
    "Reading",
    "ask",
    "exam_scores",
    "examine",
    "record",
]
