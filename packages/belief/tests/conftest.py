"""Register the fake house."""

from gym_memory.testing.fake_env import register_fake

register_fake()
