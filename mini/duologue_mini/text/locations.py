"""Random locations: ports, files, folders, server addresses, host names."""
# ruff: noqa: SIM905 (word lists read better as running text)

from random import Random

from duologue_mini.text import words

MODELS = "qwen3-4b llama-3.1-8b mistral-7b gemma-3-4b phi-4 smollm2-1.7b deepseek-r1-7b model tiny my-model big best chat".split()
QUANTISATIONS = "Q4_K_M Q8_0 Q5_K_S q4_0 f16 bf16 IQ3_XS Q6_K".split()
ROOTS = "~/models ~/Downloads ~/llm /data/models /mnt/disk /srv/models ./models models .. /opt/models ~/ai/gguf".split()
FOLDERS = "~ /data /mnt/big /srv /var/lib /opt /media/disk ~/Documents . ..".split()
ENDINGS = "example.org example.com home.example lan local net io dev house test".split()


def port(random: Random) -> str:
    """A common port, or any."""
    if random.random() < 0.35:
        return random.choice(
            "80 3000 4000 5000 7000 7777 8000 8001 8007 8010 8080 8081 8088 8888 9000 9090 9999 12345".split()
        )
    return str(random.randint(1024, 65535))


def word(random: Random) -> str:
    """A word for file and host names."""
    path = (
        words.invent_word(random)
        if random.random() < 0.6
        else random.choice(words.THINGS + words.ANIMALS + words.ADJECTIVES)
    )
    return path.capitalize() if random.random() < 0.1 else path


def model_file(random: Random) -> str:
    """The path or bare name of a GGUF file."""
    stem = random.choice(MODELS) if random.random() < 0.5 else word(random)
    if random.random() < 0.3:
        stem += f"-{random.randint(1, 90)}b"
    if random.random() < 0.4:
        stem += random.choice("-.") + random.choice(QUANTISATIONS)
    kind = random.random()
    root = random.choice(ROOTS) if kind < 0.6 else f"{random.choice(FOLDERS)}/{word(random)}"
    return f"{stem}.gguf" if kind > 0.85 else f"{root}/{stem}.gguf"


def folder(random: Random) -> str:
    """The path of a folder."""
    path = f"{random.choice(FOLDERS)}/{word(random)}"
    return f"{path}/{word(random)}" if random.random() < 0.35 else path


def domain(random: Random) -> str:
    """A host name with dots."""
    first = random.choice(["chat", "talk", "duo", "ai", word(random), word(random)]).lower()
    return (
        f"{first}.{random.choice(ENDINGS)}"
        if random.random() < 0.5
        else f"{first}.{word(random).lower()}.{random.choice(ENDINGS)}"
    )


def address(random: Random) -> str:
    """The URL of a server, as --upstream takes it."""
    kind = random.random()
    host = "127.0.0.1" if kind < 0.3 else "localhost" if kind < 0.5 else domain(random)
    if 0.5 <= kind < 0.75:
        host = f"{random.choice(['192.168', '10.0', '172.16'])}.{random.randint(0, 255)}.{random.randint(1, 254)}"
    scheme = "https" if kind > 0.85 else "http"
    place = (
        f"{scheme}://{host}"
        if kind > 0.9
        else f"{scheme}://{host}:{random.choice(['11434', '8000', '1234', port(random)])}"
    )
    return place + "/v1" if random.random() < 0.2 else place
