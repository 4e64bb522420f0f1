"""The settings of where the files of users are kept: in the data folder, in a folder that several gateways share, or in object storage."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, SecretStr

from duologue.config.field_types import HttpUrl, UserPath
from duologue.config.section import Section
from duologue.errors import StartFailed


class S3Settings(Section):
    bucket: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._-]{1,254})?$")] = Field(
        default="", description="The bucket for the files of users; empty: none is used."
    )
    endpoint: HttpUrl = Field(
        default="", description="The address of an S3-compatible server; empty: that of Amazon."
    )
    region: str = Field(default="us-east-1", description="The bucket's region.")
    prefix: str = Field(default="", description="The prefix of the names of all objects.")
    access_key: str = Field(default="", description="The access key; empty: the environment's credentials.")
    secret_key: SecretStr | None = Field(default=None, description="The secret key.")
    secret_key_file: UserPath | None = Field(default=None, description="A file that contains the secret key.")

    @property
    def secret(self) -> str:
        """The secret key, from its setting or its file. Raises StartFailed for a file that cannot be read."""
        if self.secret_key is not None:
            return self.secret_key.get_secret_value()
        if self.secret_key_file is None:
            return ""
        try:
            return self.secret_key_file.read_text().strip()
        except OSError as error:
            raise StartFailed(
                f"The file {self.secret_key_file} (storage.s3.secret_key_file) cannot be read: {error.strerror}."
            ) from error


class StorageSettings(Section):
    folder: UserPath | None = Field(
        default=None,
        description="A folder for the files of users that all gateways of the database share; empty: each has them in its data folder.",
    )
    s3: S3Settings = S3Settings()
