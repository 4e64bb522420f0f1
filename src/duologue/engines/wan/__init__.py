"""Wan 2.2 through diffusers: base clips of avatars, rendered ahead. It takes minutes a clip on a large card, so no call waits for it; the lips of a
reply are MuseTalk's work. Needs the extra `video`."""
