"""Text encoders, the models on disk that they need, and matrices of what they encoded."""

from gym_memory.memory.encoders.encoder import (
    CachedEncoder,
    HashEncoder,
    calibrated_threshold,
    make_encoder,
)
from gym_memory.memory.encoders.vectors import DEFAULT_MODEL, Encoder, unit

__all__ = ["DEFAULT_MODEL", "CachedEncoder", "Encoder", "HashEncoder", "calibrated_threshold"]
__all__ += ["make_encoder", "unit"]
