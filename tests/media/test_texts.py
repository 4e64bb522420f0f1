"""Text of any encoding, and what is no text."""

import os
import zlib

import pytest

from duologue.media.texts import decode_text, is_text

TEXTS = [
    ("cp1252", "Grüße aus München, das Wetter ist schön und wir trinken Äpfelsaft."),
    ("cp1252", "Name;Ort\nMüller;Köln\n"),
    ("cp1252", "L'élève a mangé une crêpe à la fête, où il était déjà venu. Ça va très bien, merci!"),
    ("cp1252", "Der Preis beträgt 5 € für “gute” Ware – schön."),
    ("cp1252", "Perché non può venire? È già tardi, però così va bene. Città."),
    ("cp1252", "Rødgrød med fløde på en ø, og så går vi hjem."),
    ("cp1250", "Zażółć gęślą jaźń, dzisiaj jest ładna pogoda i idziemy do parku."),
    ("cp1250", "Dobrý den, můžete mi říct, kde je nádraží? Děkuji, na shledanou večer."),
    ("cp1250", "Jó napot kívánok, hogyan érzi magát? Az időjárás gyönyörű ősszel."),
    ("cp1254", "Bugün hava çok güzel, parka yürüyüşe gidiyoruz. İstanbul ışık."),
    ("cp1251", "Привет, как дела? Сегодня хорошая погода, и мы идём гулять в парк."),
    ("koi8-r", "Привет, как дела? Сегодня хорошая погода, и мы идём гулять в парк."),
    ("cp1253", "Καλημέρα, τι κάνετε; Σήμερα ο καιρός είναι πολύ καλός."),
    ("cp1255", "שלום, מה שלומך היום? מזג האוויר יפה מאוד."),
    ("cp1256", "مرحبا، كيف حالك اليوم؟ الطقس جميل جدا."),
    ("shift_jis", "こんにちは、今日はとても良い天気ですね。公園へ散歩に行きましょう。"),
    ("euc-jp", "こんにちは、今日はとても良い天気ですね。公園へ散歩に行きましょう。"),
    ("iso2022_jp", "こんにちは、今日はとても良い天気ですね。"),
    ("gb18030", "你好，今天天气很好，我们去公园散步吧。中国的首都是北京。"),
    ("big5", "你好，今天天氣很好，我們去公園散步吧。台灣的首都是台北。"),
    ("euc-kr", "안녕하세요, 오늘은 날씨가 아주 좋네요. 공원에 산책하러 갑시다."),
    ("utf-8", "Grüße, привет, 你好, 🎈"),
    ("utf-8-sig", "Grüße, привет"),
    ("utf-16", "Grüße, привет, 🎈"),
    ("utf-16-le", "Hello there, how are you?"),
    ("utf-16-be", "Hello there, how are you?"),
    ("utf-32", "Grüße, привет, 🎈"),
]


@pytest.mark.parametrize(("encoding", "text"), TEXTS)
def test_text_is_read_in_the_encoding_it_was_written_in(encoding, text):
    data = text.encode(encoding)
    assert decode_text(data)[0] == text
    assert is_text(data)


def test_the_encoding_is_named():
    assert decode_text("Grüße".encode("cp1252"))[1] == "cp1252"
    assert decode_text("Grüße".encode("utf-16"))[1] == "utf-16-le"


def test_line_ends_become_one_kind():
    assert decode_text(b"one\r\ntwo\rthree\n")[0] == "one\ntwo\nthree\n"


def test_nothing_is_text():
    assert is_text(b"")
    assert decode_text(b"") == ("", "utf-8")


def test_a_character_cut_at_the_end_does_not_make_it_another_encoding():
    data = ("ä" * 40_000).encode()[:65_537]
    text, encoding = decode_text(data)
    assert encoding == "utf-8"
    assert text == "ä" * 32_768 + "\ufffd"


def test_a_broken_byte_far_in_the_file_does_not_change_the_rest():
    text, encoding = decode_text("Grüße ".encode() * 20_000 + b"\xff end")
    assert encoding == "utf-8"
    assert text.endswith("Grüße \ufffd end")


@pytest.mark.parametrize(
    "data",
    [
        zlib.compress(b"hello" * 1000),
        b"\x7fELF\x02\x01\x01" + bytes(9),
        b"text at first\0\0\0\0 and then not",
        bytes(range(1, 256)) * 20,
    ],
)
def test_what_is_no_text_is_told(data):
    assert not is_text(data)


def test_noise_is_no_text():
    assert not is_text(os.urandom(4096))


def test_a_log_with_colours_is_text():
    assert is_text(b"\x1b[32mok\x1b[0m 12 passed\n" * 100)


def test_every_text_can_be_written_again():
    assert "\0" not in decode_text("a\0b".encode("utf-16"))[0]
