"""The settings of object storage."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from duologue.config.machines.storage import S3Settings
from duologue.errors import StartFailed


def test_the_secret_may_be_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("of ours\n")
    assert S3Settings(secret_key_file=tmp_path / "secret").secret == "of ours"
    assert S3Settings().secret == ""
    with pytest.raises(StartFailed, match=r"secret_key_file\) cannot be read"):
        _ = S3Settings(secret_key_file=tmp_path / "none").secret


@pytest.mark.parametrize("name", ["a bucket", "a/b", "s3://users"])
def test_a_bucket_has_a_plain_name(name: str) -> None:
    with pytest.raises(ValidationError):
        S3Settings(bucket=name)
