"""All everyday tools, by subject."""

from duologue_mini.toolbox.actions import Action
from duologue_mini.toolbox.catalogue import code, days, desk, errands, house, language, machines, money, notes

ACTIONS: list[Action] = [
    action
    for part in (days, notes, house, desk, code, machines, errands, money, language)
    for action in part.ACTIONS
]
BY_DOMAIN: dict[str, list[Action]] = {
    domain: [action for action in ACTIONS if action.domain == domain]
    for domain in dict.fromkeys(action.domain for action in ACTIONS)
}


def action_named(name: str) -> Action:
    """The action whose first name this is."""
    return next(action for action in ACTIONS if action.names.split("|")[0] == name)
