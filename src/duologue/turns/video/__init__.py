"""How one reply of a call becomes video: as a clip, or streamed beside its sound."""
