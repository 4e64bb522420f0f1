"""Chooses the model of a run: asks what became of the chosen ones, and has `values/model_choice.py` decide.

Used by `service.py`, for runs and for messages that wait behind one.
"""

from __future__ import annotations

import msgspec

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.errors import ModelNotFound, Unavailable
from duologue.values.model_choice import ModelChoice, choose_model
from duologue.values.requests import ModelCard


async def chosen_model(
    dependencies: RunDependencies, user: str, own: str, preferred: str
) -> tuple[ModelChoice, ModelCard]:
    """Which model answers, and its card. `own`: the choice of the command or the conversation, `preferred` that of the user.

    Raises ModelNotFound, Unavailable."""
    choice = await _choose(dependencies, user, own, preferred)
    if not choice.model and dependencies.models is not None:
        choice = msgspec.structs.replace(choice, model=dependencies.models.coming_default)
    if choice.load:
        return choice, _unknown(choice.model)
    try:
        return choice, dependencies.resolve(choice.model)
    except (ModelNotFound, Unavailable):
        if not choice.model or dependencies.models is None:
            raise
        return choice, _unknown(choice.model)  # the start of the server is about to load it


async def _choose(dependencies: RunDependencies, user: str, own: str, preferred: str) -> ModelChoice:
    if (models := dependencies.models) is None:
        return ModelChoice(own or preferred)
    own_state = await models.state(own) if own else "gone"
    preferred_state = await models.state(preferred) if preferred and not own else "gone"
    return choose_model(own, own_state, preferred, preferred_state, may_load=models.may_load(user))


def _unknown(model: str) -> ModelCard:
    """The card of a model that is still to be loaded: nothing but its name is known."""
    return ModelCard(model, "", 0)
