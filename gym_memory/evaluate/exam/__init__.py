"""Examine what a memory still knows of an episode, question by question, without a language model.

Questions come from the agent's trajectory, answers from the part of the game that the agent could
have seen. An answer counts if the recall for the question, within its budget, contains it. The idea
is EMemBench's; kinds of questions, grading and code are our own.
"""

from gym_memory.evaluate.exam.account import Account, Moment, record
from gym_memory.evaluate.exam.questions import ExamQuestion
from gym_memory.evaluate.exam.reading import RecallReading
from gym_memory.evaluate.exam.scores import ExamScore, exam_scores
from gym_memory.evaluate.exam.session import KINDS, ExamAnswer, ExamConfig, ask, examine

__all__ = ["KINDS", "Account", "ExamAnswer", "ExamConfig", "ExamQuestion", "ExamScore", "Moment"]
__all__ += ["RecallReading", "ask", "exam_scores", "examine", "record"]
