// The browser's sound, begun while a person presses something: phones let nothing sound that was not asked for. Nothing
// else may be in this file: it is part of the page's first load.

type Session = { type: string };

type Use = "play-and-record" | "playback";

/** What the sound is for: a phone routes and mutes the two differently. */
export function setAudioSession(use: Use): void {
  const session = (navigator as { audioSession?: Session }).audioSession;
  if (session) session.type = use;
}

/** For a conversation, or only to listen. Null where there is no sound. */
export function openAudioContext(use: Use): AudioContext | null {
  try {
    setAudioSession(use);
    const context = new AudioContext({ latencyHint: "interactive" });
    void context.resume();
    return context;
  } catch {
    return null;
  }
}
