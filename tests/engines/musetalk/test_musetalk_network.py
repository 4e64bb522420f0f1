"""What of the network can be judged without PyTorch; `tests/engines_extra/test_musetalk.py` runs the real one."""

from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest

from duologue.engines.musetalk.musetalk_network import check_belonging, fill
from duologue.errors import StartFailed

UNET = SimpleNamespace(cross_attention_dim=384, in_channels=8, out_channels=4)
VAE = SimpleNamespace(latent_channels=4)
WHISPER = SimpleNamespace(d_model=384)


class Network:
    def __init__(self):
        self.values = {"a": numpy.zeros(2), "b": numpy.zeros((2, 3))}

    def state_dict(self):
        return self.values

    def load_state_dict(self, values):
        self.values = values


def test_networks_that_were_trained_together_are_accepted():
    check_belonging(UNET, VAE, WHISPER)


def test_a_larger_whisper_is_a_sentence():
    with pytest.raises(StartFailed, match=r"has 512\. Put whisper-tiny"):
        check_belonging(UNET, VAE, SimpleNamespace(d_model=512))


def test_another_vae_is_a_sentence():
    with pytest.raises(StartFailed, match=r"makes 16\. Put sd-vae-ft-mse"):
        check_belonging(UNET, SimpleNamespace(latent_channels=16), WHISPER)


def test_values_are_filled_in_only_if_all_of_them_fit():
    network = Network()
    values = {"a": numpy.ones(2), "b": numpy.ones((2, 3))}
    fill(network, values, Path("unet.pth"))
    assert network.values is values
    with pytest.raises(StartFailed, match="1 values are missing, 2 are unknown and 1 have another shape"):
        fill(network, {"a": numpy.ones(3), "c": numpy.ones(1), "d": numpy.ones(1)}, Path("unet.pth"))
