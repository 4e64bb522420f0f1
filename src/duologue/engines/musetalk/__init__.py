"""MuseTalk 1.5: the lips of a person in a picture or a base clip move to the sound of a reply. Needs the extra `video`, and in calls a
graphics card."""
