"""Why a mode cannot be used: an admin's switch first, then what the engines lack."""

import pytest

from duologue.gateway.apps.modes import APPS, Abilities, reason

TURNBASED, OMNI, AUDIO = APPS


def test_the_apps_have_the_names_of_the_demo():
    assert [(app.id, app.route) for app in APPS] == [
        ("turnbased", "/turnbased"),
        ("omni", "/omni"),
        ("audio_duplex", "/audio_duplex"),
    ]


def test_with_all_abilities_every_app_can_be_used():
    assert [reason(app, True, Abilities()) for app in APPS] == [None, None, None]


@pytest.mark.parametrize(
    ("abilities", "codes"),
    [
        (Abilities(image=False), [None, "modality_unsupported", None]),
        (Abilities(voice=False), [None, "voice_unavailable", "voice_unavailable"]),
        (Abilities(text=False, image=False), ["model_empty", "model_empty", "model_empty"]),
    ],
)
def test_an_app_lacks_what_the_engines_cannot_do(abilities, codes):
    found = [reason(app, True, abilities) for app in APPS]
    assert [why and why.code for why in found] == codes


def test_a_switch_is_the_first_reason():
    why = reason(OMNI, False, Abilities(image=False))
    assert why is not None
    assert (why.code, why.message) == (
        "app_disabled",
        "An admin has switched off Omni Full-Duplex on this server.",
    )
