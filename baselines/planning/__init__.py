"""What the planner is made of: beliefs read from an observation, a plan for each kind of aim."""
