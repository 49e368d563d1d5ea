"""A model of smolagents as a policy.

pip install "smolagents[openai]"
gym-memory run -e Fetch -m arigraph -p "./examples/sdk/smolagents_agent.py:Player?model=gpt-5"
"""

from smolagents import OpenAIServerModel

from gym_memory.train.steps import state_prompt


class Player:
    """A player that calls the model once a step, with the memory in the prompt."""

    def __init__(self, model="gpt-5", base_url="https://api.openai.com/v1"):
        self.model = OpenAIServerModel(model, api_base=base_url)  # the key: OPENAI_API_KEY

    def act(self, obs, info):
        messages = [
            {"role": m["role"], "content": [{"type": "text", "text": m["content"]}]}
            for m in state_prompt(obs)
        ]
        return self.model.generate(messages).content.strip()
