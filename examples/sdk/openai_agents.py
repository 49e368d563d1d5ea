"""An agent of the OpenAI Agents SDK as a policy.

pip install openai-agents
gym-memory run -e Fetch -m arigraph -p "./examples/sdk/openai_agents.py:Player?model=gpt-5"
"""

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

from gym_memory.train.steps import state_prompt

set_tracing_disabled(True)  # nothing is sent but the prompts


class Player:
    """A player that runs the agent once a step, with the memory in the prompt."""

    def __init__(self, model="gpt-5", base_url="https://api.openai.com/v1"):
        client = AsyncOpenAI(base_url=base_url)  # the key is that of OPENAI_API_KEY
        self.agent = Agent(
            name="player", model=OpenAIChatCompletionsModel(model=model, openai_client=client)
        )

    def act(self, obs, info):
        rules, state = state_prompt(obs)
        self.agent.instructions = rules["content"]
        return Runner.run_sync(self.agent, state["content"]).final_output.strip()
