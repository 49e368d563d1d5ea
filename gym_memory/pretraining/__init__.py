"""Making the weights of the memory ``belief``: games are played, and an updater learns from them.

What it learns from is what the agent saw in training games, and nothing else: no reward, no score,
no engine state. Needs the extra ``rl`` (torch); playing with the weights does not.
"""
