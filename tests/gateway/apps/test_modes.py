"""Why a mode cannot be used: an admin's switch first, then what the engines lack."""

import pytest

from duologue.gateway.apps.modes import APPS, Abilities, App, Reason, standing

TURNBASED, OMNI, AUDIO = APPS


def reason(app: App, enabled: bool, abilities: Abilities) -> Reason | None:
    return standing(app, enabled, abilities).reason


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


def test_a_model_that_holds_calls_by_itself_needs_no_voice():
    found = standing(AUDIO, True, Abilities(voice=False, duplex=("o",)))
    assert (found.reason, found.native, found.native_reason) == (None, ("o",), None)
    assert (found.cascade, found.cascade_reason and found.cascade_reason.code) == (False, "voice_unavailable")


def test_a_model_that_holds_calls_and_sees_nothing_is_no_omni_model():
    found = standing(OMNI, True, Abilities(voice=False, duplex=("o",)))
    assert found.reason is not None
    assert found.reason.code == "voice_unavailable"
    assert found.native_reason is not None
    assert (found.native, found.native_reason.code) == ((), "modality_unsupported")
    seeing = standing(OMNI, True, Abilities(voice=False, duplex=("o", "p"), duplex_image=("p",)))
    assert (seeing.reason, seeing.native) == (None, ("p",))


def test_without_such_a_model_calls_are_a_cascade_and_the_reason_is_said():
    found = standing(AUDIO, True, Abilities())
    assert (found.reason, found.cascade, found.native) == (None, True, ())
    assert found.native_reason is not None
    assert found.native_reason.code == "duplex_unavailable"
    assert standing(TURNBASED, True, Abilities()).native_reason is None
