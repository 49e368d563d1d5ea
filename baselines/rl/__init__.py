"""Policies that learn by reward: DRRN, GATA, A2C, SB3's learners and cloning."""
