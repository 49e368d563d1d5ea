"""A LangGraph graph as a policy: it proposes once more if the game does not list its action.

pip install langgraph langchain-openai
gym-memory run -e Fetch -m arigraph -p "./examples/sdk/langgraph_agent.py:Player?model=gpt-5"
"""

from typing import Any, TypedDict

from langchain_openai import ChatOpenAI
from langgraph.graph import END, START, StateGraph

from gym_memory.train.steps import state_prompt


class State(TypedDict):
    messages: list[Any]
    valid: tuple[str, ...]
    action: str
    tries: int


class Player:
    """A player that runs the graph once a step, with the memory in the prompt."""

    def __init__(self, model="gpt-5", base_url="https://api.openai.com/v1"):
        self.model = ChatOpenAI(model=model, base_url=base_url)  # the key: OPENAI_API_KEY
        graph = StateGraph(State)
        graph.add_node("propose", self.propose)
        graph.add_edge(START, "propose")
        graph.add_conditional_edges("propose", self.again)
        self.graph = graph.compile()

    def propose(self, state):
        action = self.model.invoke(state["messages"]).text.strip()
        return {"action": action, "tries": state["tries"] + 1}

    def again(self, state):
        listed = not state["valid"] or state["action"] in state["valid"]
        return END if listed or state["tries"] > 1 else "propose"

    def act(self, obs, info):
        start = {"messages": state_prompt(obs), "valid": obs["valid_actions"]}
        return self.graph.invoke({**start, "action": "", "tries": 0})["action"]
