from duologue.values.messages import ImagePart, Message, Tool, assistant, user
from duologue.values.prefixes.prefix_digest import MEDIUM, chain, digests, opening, reading_size, size
from duologue.values.requests import ChatRequest


def request(*messages, **more):
    return ChatRequest(messages, **more)


def test_a_longer_conversation_begins_with_the_chain_of_the_shorter():
    short = chain(request(user("hello")))
    long = chain(request(user("hello"), assistant("hi"), user("how are you?")))
    assert long[:1] == short
    assert len(long) == 3


def test_another_first_message_shares_nothing():
    one = chain(request(user("a"), user("b")))
    other = chain(request(user("x"), user("b")))
    assert not set(one) & set(other)


def test_other_tools_are_another_prompt():
    assert chain(request(user("a"))) != chain(request(user("a"), tools=(Tool("clock"),)))


def test_both_digests_are_those_of_the_request():
    asked = request(user("a"), user("b"), tools=(Tool("clock"),))
    assert digests(asked) == (opening(asked), chain(asked))


def test_texts_pictures_and_every_message_make_a_request_large():
    assert size(request(user("a" * 5000))) > 5000
    assert size(request(Message("user", (ImagePart(b"a" * 5000),)))) > 5000
    assert size(request(*[user("")] * 1000)) > 50_000
    assert size(request(user("hello"))) < 1000


def raw(prompt, **more):
    return ChatRequest((), prompt, **more)


def test_a_longer_raw_prompt_begins_with_the_chain_of_the_shorter():
    short, long = chain(raw("x" * 300)), chain(raw("x" * 300 + "y" * 300))
    assert len(short) == 3
    assert long[:2] == short[:2]  # the third block was not full
    assert chain(raw(tuple(range(256))))[:1] == chain(raw(tuple(range(128))))


def test_raw_prompts_of_other_texts_or_models_share_nothing():
    assert not set(chain(raw("a" * 200))) & set(chain(raw("b" * 200)))
    assert not set(chain(raw("a" * 200))) & set(chain(raw("a" * 200, model="m")))
    assert not set(chain(raw("a" * 200, suffix="x"))[1:]) & set(chain(raw("a" * 200, suffix="y"))[2:])


def test_a_raw_prompt_is_no_conversation():
    assert opening(raw("a")) != opening(request(user("a")))


def test_a_raw_prompt_has_a_size_and_a_bounded_chain():
    assert size(raw("a" * 5000)) > 5000
    assert size(raw((1,) * 5000)) > 5000
    assert len(chain(raw("a" * 2_000_000))) == 4096


def test_half_a_surrogate_pair_has_a_digest():
    assert chain(raw("\ud83d"))


def test_what_is_read_counts_texts_and_a_picture_as_a_page_whatever_its_bytes():
    picture = Message("user", (ImagePart(b"x" * 1_000_000, "image/png"),))
    assert reading_size(request(user("hello"), picture)) == 5 + MEDIUM
    assert reading_size(request(prompt="abc", suffix="d")) == 4
