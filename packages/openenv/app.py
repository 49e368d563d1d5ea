"""The server of the image: uvicorn app:app --port 8000."""

import os

from gym_memory.train.openenv import make_app

app = make_app(
    os.environ.get("GYM_MEMORY_ENV", "Cooking?level=rl-1"),
    os.environ.get("GYM_MEMORY_MEMORY", "arigraph"),
    web=True,
)
