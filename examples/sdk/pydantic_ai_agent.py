"""An agent of PydanticAI as a policy.

pip install "pydantic-ai-slim[openai]"
gym-memory run -e Fetch -m arigraph -p "./examples/sdk/pydantic_ai_agent.py:Player?model=gpt-5"
"""

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from gym_memory.train.steps import state_prompt


class Player:
    """A player that runs the agent once a step, with the memory in the prompt."""

    def __init__(self, model="gpt-5", base_url="https://api.openai.com/v1"):
        provider = OpenAIProvider(base_url=base_url)  # the key is that of OPENAI_API_KEY
        self.agent = Agent(OpenAIChatModel(model, provider=provider))

    def act(self, obs, info):
        rules, state = state_prompt(obs)
        return self.agent.run_sync(state["content"], instructions=rules["content"]).output.strip()
