"""The tree of settings: names, types, limits, defaults and a description of each.

Pure data: `loader` fills it from the file, the environment and the flags. Each part of the server is passed its section
as an argument.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr

from duologue.config.database_url import database_url
from duologue.config.device import Copies, Device
from duologue.config.field_types import BasePath, HttpUrl, Positive, Seconds, UserPath
from duologue.config.machines.cluster import ClusterSettings
from duologue.config.machines.machine import MachineSettings, RaySettings
from duologue.config.machines.storage import StorageSettings
from duologue.config.machines.upstream import UpstreamSettings
from duologue.config.model_preset import PresetSettings
from duologue.config.section import Section
from duologue.config.sections.audit import AuditSettings
from duologue.config.sections.backups import BackupSettings as BackupSettings
from duologue.config.sections.batches import BatchSettings, FileSettings
from duologue.config.sections.compat import CompatSettings
from duologue.config.sections.connections import ConnectionSettings
from duologue.config.sections.key_limits import KeyLimitSettings, UsageSettings
from duologue.config.sections.lifecycle import LifecycleSettings, ModelWorkers
from duologue.config.sections.loading import LoadingSettings
from duologue.config.sections.log import Log
from duologue.config.sections.mcp import Mcp
from duologue.config.sections.recordings import RecordingSettings
from duologue.config.sections.responses import ResponseSettings
from duologue.config.sections.tracing import TracingSettings
from duologue.config.sections.ui import Ui
from duologue.config.sections.video import VideoConfig
from duologue.config.sections.voice import VoiceSettings
from duologue.values.fitting import MediaBudget

NamesOf = Callable[[str], Iterable[str]]
EngineName = Literal["llama", "remote", "scripted", "minicpmo", "qwen_omni", "transformers"]


# Ollama, LM Studio, llama-server, vLLM, tabbyAPI, KoboldCpp.
DISCOVER = tuple(f"http://127.0.0.1:{port}" for port in (11434, 1234, 8080, 8000, 5000, 5001))


def default_data() -> Path:
    """The platform's folder for a user's application data."""
    from platformdirs import user_data_path

    return user_data_path("duologue", appauthor=False)


class EngineSettings(PresetSettings):
    """What a worker loads. At the top level of the settings these are the defaults for all workers."""

    engine: EngineName | None = Field(
        default=None,
        description="The language engine; empty: `remote` with an upstream and no model, else `llama`.",
    )
    model: str = Field(
        default="", description="A GGUF file, or a name in the data folder's models; empty: the bundled one."
    )
    mmproj: str = Field(
        default="",
        description="The projector with which the model sees or hears: a GGUF file, or `none`; empty: the one beside the model.",
    )
    upstream: UpstreamSettings = UpstreamSettings()
    device: Device = Field(
        default="auto",
        description="The device of a worker's model: `auto`, `cpu`, `cuda:0` ... as `duologue doctor` lists them.",
    )
    copies: Copies = Field(
        default=1, description="Workers with the same model; `all`: one for each graphics card."
    )
    slots: Positive | None = Field(
        default=None, description="Replies generated at the same time; empty: by model size."
    )
    context: Positive | None = Field(
        default=None,
        description="Context tokens per chat; empty: the trained context, up to 16,384 and within memory.",
    )
    threads: Positive | None = Field(
        default=None,
        description="Threads of the engine; empty: one for a small model, else all cores but one.",
    )
    gpu_layers: int | None = Field(
        default=None, ge=-1, description="Layers of the model on the GPU; -1: all; empty: as many as fit."
    )
    batch: Positive | None = Field(
        default=None,
        description="Prompt tokens processed in one step; empty: by the measured speed, 0.2 s a step, or 0.05 s beside other replies.",
    )
    options: dict[str, Any] = Field(
        default={}, description="Further options of the engine, under its own names."
    )


class ModelSettings(EngineSettings):
    """What is set for one model, whichever way it is loaded."""

    aliases: tuple[str, ...] = Field(default=(), description="Alternative names of the model.")
    workers: ModelWorkers = ModelWorkers()
    idle_unload_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = Field(
        default=None,
        description="As `loading.idle_unload_s`, for this model; 0: it stays loaded; empty: that of `loading`.",
    )

    def engine_fields(self) -> dict[str, Any]:
        """The engine settings that are set here, by name."""
        own = {"aliases", "workers", "idle_unload_s"}
        return {name: getattr(self, name) for name in self.model_fields_set - own}


class WorkerSettings(EngineSettings):
    name: str = Field(
        default="", description="The worker's name in /status and the log; empty: worker_0, worker_1 ..."
    )
    # Not a setting of the whole server: DUOLOGUE_PYTHON is the Python that `make` installs it with.
    python: str = Field(
        default="",
        description="The Python of the worker's process, of an environment of its own; empty: the one that runs the server.",
    )


class WorkerEntry(WorkerSettings):
    """A worker with all inherited values filled in. An empty `model` means the bundled model."""

    engine: EngineName

    def engine_options(self) -> dict[str, object]:
        """The options passed to the engine, as plain values; unset ones are absent."""
        sizes: dict[str, object] = {"slots": self.slots, "context": self.context}
        if self.engine == "remote":
            key = self.upstream.key.get_secret_value() if self.upstream.key else None
            sizes |= {"url": self.upstream.url, "key": key, "model": self.upstream.model or None}
            sizes |= {
                "replicas": self.upstream.replicas or None,
                "modalities": self.upstream.modalities or None,
                "outputs": self.upstream.outputs or None,
            }
            for name in ("voice", "tool_format", "thoughts", "opens_thoughts"):
                sizes[name] = getattr(self.upstream, name) or None
            for name in ("connect_timeout", "first_timeout", "idle_timeout", "retries"):
                value = getattr(self.upstream, name)
                sizes[name] = value if value != UpstreamSettings.model_fields[name].default else None
        elif self.engine == "llama":
            sizes |= {"model": self.model or None, "mmproj": self.mmproj or None, "threads": self.threads}
            sizes |= {"gpu_layers": self.gpu_layers, "batch": self.batch}
            sizes |= {"device": None if self.device == "auto" else self.device, "loras": self.loras or None}
        elif self.engine in ("minicpmo", "qwen_omni", "transformers"):
            sizes |= {"model": self.model or None, "device": self.device}
            if self.engine != "minicpmo":
                sizes |= {"batch": self.batch, "threads": self.threads}
        return {name: value for name, value in sizes.items() if value is not None} | self.options


class QueueSettings(Section):
    limit: Positive = Field(
        default=1000, description="Requests that may wait for a slot; further ones are refused."
    )


class LimitSettings(Section):
    body_mb: Positive = Field(
        default=64, description="Largest chat request with its files, or socket message, in megabytes."
    )
    in_flight_mb: Positive = Field(
        default=128,
        description="Request bodies with the files they name, and socket messages, of one user that arrive or are processed at a time, in megabytes.",
    )
    text_mb: Positive = Field(
        default=1,
        description="Maximum text in one request, in megabytes; as JSON it may have six times as many bytes.",
    )
    messages: Positive = Field(
        default=10_000, description="Messages per request, including their parts and tool calls."
    )
    tools: Positive = Field(default=128, description="Tools per request.")
    choices: Positive = Field(default=16, description="Choices (`n`) per request.")
    sockets_per_user: Positive = Field(
        default=64,
        description="Open WebSockets and event streams per user; a visible page has two to four.",
    )
    blob_mb: Positive = Field(default=256, description="Largest attached file, in megabytes.")
    storage_gb: Annotated[float, Field(gt=0, allow_inf_nan=False)] = Field(
        default=20, description="Largest total of a user's files on the disk, in gigabytes."
    )
    temporary_mb: Positive = Field(
        default=256,
        description="Largest total of the files of a user's temporary chats, which are in memory, in megabytes.",
    )
    image_megapixels: Annotated[float, Field(gt=0, le=100)] = Field(
        default=4.0,
        description="Largest image passed to a model, in megapixels; larger ones are scaled down.",
    )
    request_megapixels: Annotated[float, Field(gt=0, le=1000)] = Field(
        default=64.0,
        description="Pictures and frames of one request together, in megapixels; many are scaled down further.",
    )
    video_frames: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=64,
        description="Frames that the videos of one request become for a model that sees but takes no videos.",
    )
    video_minutes: Annotated[float, Field(gt=0, le=1440)] = Field(
        default=30, description="Longest video passed to a model, in minutes."
    )
    sound_minutes: Annotated[float, Field(gt=0, le=1440)] = Field(
        default=30, description="Sound that a model hears in one request, in minutes."
    )
    document_pages: Positive = Field(
        default=50, description="Maximum pages of a document passed to a model as images."
    )
    import_mb: Positive = Field(default=256, description="Largest conversation file to import, in megabytes.")
    attachments: Positive = Field(default=32, description="Files per message.")
    media_address_mb: Annotated[int, Field(ge=0)] = Field(
        default=32,
        description="Largest total of what is fetched from addresses in one request, in megabytes; 0: none are.",
    )
    audio_mb: Positive = Field(
        default=25, description="Largest recording to transcribe or to take a voice from, in megabytes."
    )
    audio_minutes: Annotated[float, Field(gt=0, le=1440)] = Field(
        default=120, description="Longest recording to transcribe, in minutes."
    )
    voices: Positive = Field(default=20, description="Voices of their own that one user may keep.")
    avatars: Positive = Field(default=20, description="Faces of their own that one user may keep.")
    avatar_mb: Annotated[int, Field(ge=1, le=256)] = Field(
        default=64, description="Largest picture or figure to keep as a face, in megabytes."
    )
    key: KeyLimitSettings = KeyLimitSettings()

    def media_budget(self) -> MediaBudget:
        """What the pictures, sounds and videos of one request may cost."""
        return MediaBudget(
            self.image_megapixels,
            self.request_megapixels,
            self.video_frames,
            self.video_minutes,
            self.sound_minutes,
        )


class Chat(Section):
    socket: Literal["auto", "chat", "voice"] = Field(
        default="auto",
        description="The protocol of /ws/chat: `chat`, calls (`voice`), or decided by the first message (`auto`).",
    )
    first_frame_s: Seconds = Field(
        default=120, description="Seconds until a chat socket that has not sent anything is closed."
    )
    idle_s: Seconds = Field(
        default=600, description="Seconds until a chat socket that is idle between requests is closed."
    )


class RunSettings(Section):
    model_silence_s: Seconds = Field(
        default=120,
        description="Seconds without output or prompt progress from the model until a reply ends as `timeout`.",
    )
    tool_s: Seconds = Field(default=300, description="Time limit of one tool call, in seconds.")
    approval_s: Seconds = Field(
        default=24 * 3600, description="Seconds a tool call waits for approval before it counts as denied."
    )
    max_turns: Positive = Field(
        default=10,
        description="Model turns with tool calls in one reply before the user is asked whether to continue.",
    )
    parallel_calls: Positive = Field(default=4, description="Tool calls of one turn that run in parallel.")
    pending: Positive = Field(
        default=10, description="Messages that may be queued in a conversation while a reply is running."
    )
    titles: Literal["auto", "first", "model"] = Field(
        default="auto",
        description="Conversation titles: `auto` has the model write one after the first reply, but not the bundled model; `first` "
        "keeps the first words; `model` has any model write them.",
    )


class Tools(Section):
    builtin: tuple[Literal["clock", "calculator", "fetch", "search"], ...] = Field(
        default=("clock", "calculator", "fetch", "search"), description="The built-in tools to offer."
    )
    private_addresses: tuple[str, ...] = Field(
        default=(),
        description="Private hosts or networks that tools may access, such as a host name, an address or 10.0.0.0/8.",
    )


class Tls(Section):
    enabled: bool = Field(
        default=False,
        description="Serve HTTPS, with a certificate generated for this machine if none is set.",
    )
    certificate: UserPath | None = Field(default=None, description="Your own certificate chain, as PEM.")
    private_key: UserPath | None = Field(default=None, description="Its private key, as PEM.")

    @property
    def is_on(self) -> bool:
        """Whether the server uses HTTPS. A certificate in the settings switches it on."""
        return self.enabled or self.certificate is not None or self.private_key is not None


class Eta(Section):
    chat_s: Seconds = Field(
        default=15, description="Assumed seconds per chat until real durations are known."
    )
    alpha: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="How much the latest reply counts in the learned speed; lengths fade by a tenth of it.",
    )


class Settings(EngineSettings):
    """All settings. Derived values are properties."""

    host: str = Field(
        default="127.0.0.1",
        description="The address to listen on; addresses other than loopback require a key.",
    )
    port: int = Field(
        default=8006, ge=0, le=65535, description="The port of the page and the APIs; 0: any free port."
    )
    data: UserPath = Field(
        default_factory=default_data, description="The folder for everything the server writes."
    )
    database: SecretStr | None = Field(
        default=None,
        description="The database for conversations: a PostgreSQL URL; empty: the SQLite file duologue.db in `data`.",
    )
    database_password_file: UserPath | None = Field(
        default=None, description="A file that contains the password of the user in `database`."
    )
    key: SecretStr | None = Field(
        default=None,
        description="A key that clients may use; empty: the keys made with `duologue key`, or no key on loopback.",
    )
    key_file: UserPath | None = Field(default=None, description="A file that contains the key.")
    insecure_http: bool = Field(
        default=False, description="Allow plain HTTP on an address that other machines can reach."
    )
    host_names: tuple[str, ...] = Field(
        default=(), description="Host names of this server besides localhost and the machine's own."
    )
    allow_origins: tuple[str, ...] = Field(
        default=(),
        description="Additional web origins whose pages may use this server, such as https://name:port.",
    )
    base_path: BasePath = Field(
        default="", description="The path prefix of all URLs, such as /duologue; empty: none."
    )
    proxies: tuple[str, ...] = Field(
        default=(),
        description="Addresses or networks of proxies whose X-Forwarded headers are trusted, such as 10.0.0.0/8.",
    )
    supervise: bool = Field(
        default=True,
        description="Restart the gateway when it crashes; false if systemd or a container does.",
    )
    ui: Ui = Ui()
    aliases: dict[str, str] = Field(
        default={},
        description="Alternative model names: a table of alias and model; in an alias, `*` stands for any characters.",
    )
    models: dict[str, ModelSettings] = Field(
        default={},
        description="Settings of single models, by name: engine settings and `aliases`.",
    )
    loading: LoadingSettings = LoadingSettings()
    lifecycle: LifecycleSettings = LifecycleSettings()
    workers: tuple[WorkerSettings, ...] = Field(
        default=(),
        description="The workers, each with the engine settings above; empty: one for `model` or `upstream`.",
    )
    discover: tuple[HttpUrl, ...] = Field(
        default=DISCOVER,
        description="Addresses at which *Connect a server* looks for model servers; an empty list: nowhere.",
    )
    worker_port_base: int = Field(
        default=22400, ge=1024, le=65000, description="The first port workers listen on (loopback)."
    )
    pool: Literal["local", "ray"] = Field(
        default="local",
        description="What places the workers: this server, on its own machine (`local`), or `ray`, on a Ray cluster.",
    )
    ray: RaySettings = RaySettings()
    machines: MachineSettings = MachineSettings()
    cluster: ClusterSettings = ClusterSettings()
    storage: StorageSettings = StorageSettings()
    voice: VoiceSettings = VoiceSettings()
    video: VideoConfig = VideoConfig()
    queue: QueueSettings = QueueSettings()
    limits: LimitSettings = LimitSettings()
    usage: UsageSettings = UsageSettings()
    connections: ConnectionSettings = ConnectionSettings()
    chat: Chat = Chat()
    runs: RunSettings = RunSettings()
    backups: BackupSettings = BackupSettings()
    recordings: RecordingSettings = RecordingSettings()
    responses: ResponseSettings = ResponseSettings()
    files: FileSettings = FileSettings()
    batches: BatchSettings = BatchSettings()
    audit: AuditSettings = AuditSettings()
    mcp: Mcp = Mcp()
    tools: Tools = Tools()
    tls: Tls = Tls()
    compat: CompatSettings = CompatSettings()
    eta: Eta = Eta()
    log: Log = Log()
    tracing: TracingSettings = TracingSettings()

    @property
    def database_url(self) -> str | None:
        """The address of the PostgreSQL server with its password; None with SQLite. Reads the password file. Raises StartFailed."""
        return database_url(self.database, self.database_password_file)

    @property
    def worker_entries(self) -> tuple[WorkerEntry, ...]:
        """The workers to start. Without `workers`: one for the model, one for the upstream, or the bundled model."""
        return self.entries()

    def entries(self, names_of: NamesOf = lambda model: (model,)) -> tuple[WorkerEntry, ...]:
        """As `worker_entries`. `names_of` gives the names of a model by which `models` may have settings for it."""
        workers = self.workers or (WorkerSettings(),)
        if not self.workers and self.model and self.upstream.url and self.engine is None:
            workers = (WorkerSettings(engine="llama"), WorkerSettings(engine="remote"))
        return tuple(self._entry(worker, number, names_of) for number, worker in enumerate(workers))

    @property
    def all_aliases(self) -> dict[str, str]:
        """Every alias with its model: those of `models`, and those of `aliases`, which come first."""
        return {alias: name for name, own in self.models.items() for alias in own.aliases} | self.aliases

    def settings_of(self, names: Iterable[str]) -> tuple[str, ModelSettings]:
        """The first of these names that `models` has settings for, in upper or lower case, with the settings; "" and none."""
        known = {name.lower(): name for name in self.models}
        own = next((known[name.lower()] for name in names if name.lower() in known), "")
        return own, self.models.get(own, ModelSettings())

    def _entry(self, worker: WorkerSettings, number: int, names_of: NamesOf) -> WorkerEntry:
        engine = worker.engine or self._engine_of(worker)
        model = worker.model or self.model
        name, own = self.settings_of(names_of(model)) if engine != "remote" else ("", ModelSettings())
        fields = {name: getattr(self, name) for name in EngineSettings.model_fields}
        if "model" in worker.model_fields_set or own.model:  # files belong to one model
            fields |= {"loras": worker.loras} | ({} if self.mmproj == "none" else {"mmproj": worker.mmproj})
        fields |= own.engine_fields()
        fields |= {name: getattr(worker, name) for name in worker.model_fields_set}
        if own.model:
            fields["model"] = own.model
        fields["options"] = self.options | own.options | worker.options
        if name and own.model:
            fields["options"] = {"name": name, **fields["options"]}
        fields["name"] = worker.name or f"worker_{number}"
        fields["engine"] = worker.engine or own.engine or engine
        return WorkerEntry(**fields)

    def _engine_of(self, worker: WorkerSettings) -> EngineName:
        if worker.model:
            return "llama"
        if worker.upstream.url:
            return "remote"
        if self.engine:
            return self.engine
        return "remote" if self.upstream.url and not self.model else "llama"
