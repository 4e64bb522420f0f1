from itertools import pairwise, product

import pytest

from duologue.engines.qwen_omni.speech.speech_groups import GroupRule, GroupSize, SpeechGroup, SpeechGroups

BLOCKS = GroupRule(
    samples=480,
    left=24,
    first=(GroupSize(10, 2), GroupSize(10, 4)),
    later=GroupSize(24, 12),
    block=12,
    fade=120,
)
"""As Qwen2.5-Omni has it."""
BACKWARD = GroupRule(
    samples=1920,
    left=10,
    first=(GroupSize(4), GroupSize(4)),
    later=GroupSize(8),
    missing=555,
    fade=120,
)
"""As Qwen3-Omni has it."""


def groups_of(rule: GroupRule, codes: int) -> list[SpeechGroup]:
    """The groups of a reply whose codes come one by one."""
    groups = SpeechGroups(rule)
    found = [group for count in range(1, codes + 1) if (group := groups.take(count)) is not None]
    last = groups.finish(codes)
    return found if last is None else [*found, last]


def new_samples(rule: GroupRule, group: SpeechGroup) -> range:
    """The samples of the reply that a group gives."""
    return range(group.begin * rule.samples + group.first, group.begin * rule.samples + group.last)


ODD_RULES = [
    GroupRule(samples, left, first, GroupSize(size, ahead), block, missing, fade)
    for samples, left, first, size, ahead, block, missing, fade in product(
        (4,), (0, 3), ((), (GroupSize(2, 1),)), (3, 6), (0, 1, 4), (1, 3), (0, 5), (0, 2)
    )
]


@pytest.mark.parametrize("rule", [BLOCKS, BACKWARD, *ODD_RULES])
def test_every_sample_of_a_reply_of_any_length_is_given_once_and_in_order(rule: GroupRule) -> None:
    for codes in range(0, 90, 1 if rule.samples < 9 else 7):
        given = [sample for group in groups_of(rule, codes) for sample in new_samples(rule, group)]
        assert given == list(range(max(0, codes * rule.samples - rule.missing)))


@pytest.mark.parametrize("rule", [BLOCKS, BACKWARD, *ODD_RULES])
def test_a_window_has_the_sound_that_is_taken_of_it(rule: GroupRule) -> None:
    for codes in range(0, 90, 1 if rule.samples < 9 else 7):
        for group in groups_of(rule, codes):
            assert 0 <= group.begin < group.end <= codes
            assert 0 <= group.first <= group.last <= group.kept
            assert group.kept <= (group.end - group.begin) * rule.samples - rule.missing


@pytest.mark.parametrize("rule", [BLOCKS, BACKWARD, *ODD_RULES])
def test_a_seam_is_blended_where_sound_was_kept_for_it(rule: GroupRule) -> None:
    groups = groups_of(rule, 80)
    assert groups[0].blend == 0
    for before, after in pairwise(groups):
        assert after.blend <= before.kept - before.last
        assert after.blend == min(rule.fade, after.last - after.first)


@pytest.mark.parametrize("rule", [BLOCKS, BACKWARD, *ODD_RULES])
def test_codes_that_no_window_begins_before_may_be_forgotten(rule: GroupRule) -> None:
    groups = SpeechGroups(rule)
    forgotten = 0
    for codes in range(1, 120):
        group = groups.take(codes)
        if group is not None:
            assert group.begin >= forgotten
            assert groups.oldest >= forgotten
            forgotten = groups.oldest
    # What is remembered has a bound, however long the reply.
    most = (
        rule.left + 2 * (rule.later.codes + rule.later.ahead + rule.block) + rule.missing // rule.samples + 2
    )
    assert forgotten > 120 - most


def test_windows_begin_at_blocks_with_the_codes_before_and_later_groups_end_there() -> None:
    groups = groups_of(BLOCKS, 200)
    ends = [new_samples(BLOCKS, group).stop // BLOCKS.samples for group in groups]
    assert ends[:5] == [10, 20, 36, 60, 84]
    for group in groups:
        assert group.begin % BLOCKS.block == 0
        assert group.first >= min(BLOCKS.left, group.begin) * BLOCKS.samples
    for group in groups[2:-1]:
        assert group.end % BLOCKS.block == 0


def test_the_first_sound_needs_few_codes() -> None:
    assert groups_of(BLOCKS, 12)[0].end == 12
    first = SpeechGroups(BLOCKS)
    assert first.take(11) is None
    assert first.take(12) == SpeechGroup(0, 12, 0, 4800, 4920)
    assert first.take(12) is None
    assert SpeechGroups(BACKWARD).take(4) == SpeechGroup(0, 4, 0, 7005, 7125)


def test_the_sound_that_a_window_lacks_comes_with_the_next() -> None:
    groups = SpeechGroups(BACKWARD)
    groups.take(4)
    assert groups.given == 4 * 1920 - 555 - 120
    second = groups.take(8)
    assert second is not None
    assert (second.begin, second.first) == (0, groups_of(BACKWARD, 4)[0].last)


def test_a_reply_shorter_than_a_group_is_one_window() -> None:
    assert groups_of(BACKWARD, 1) == [SpeechGroup(0, 1, 0, 1365, 1365)]
    assert groups_of(BLOCKS, 3) == [SpeechGroup(0, 3, 0, 1440, 1440)]
    assert groups_of(BACKWARD, 0) == []
