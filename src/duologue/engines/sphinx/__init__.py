"""The bundled recogniser: pocketsphinx in decoder processes of its own."""
