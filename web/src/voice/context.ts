// The browser's sound, begun while a person presses something: phones let nothing sound that was not asked for. Nothing
// else may be in this file: it is part of the page's first load.

type Session = { type: string };

/** For a conversation, or only to listen: a phone routes and mutes the two differently. Null where there is no sound. */
export function openSound(use: "play-and-record" | "playback"): AudioContext | null {
  try {
    const session = (navigator as { audioSession?: Session }).audioSession;
    if (session) session.type = use;
    const context = new AudioContext({ latencyHint: "interactive" });
    void context.resume();
    return context;
  } catch {
    return null;
  }
}
