"""Agents: whoever chooses the next action from an observation."""
