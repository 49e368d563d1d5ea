"""``python -m gym_memory`` is the command ``gym-memory``."""

from gym_memory.cli import main

if __name__ == "__main__":
    main()
