"""What the planner is made of: beliefs read from an observation, and a plan for each kind of aim."""
