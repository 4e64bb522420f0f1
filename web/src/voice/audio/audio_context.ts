// Creates the AudioContext. It has to happen during a user gesture, because phones play nothing otherwise, and so this
// file is part of the page's first load: keep it small.

type Session = { type: string };

type Use = "play-and-record" | "playback";

/** The purpose of the audio, by which phones choose route and volume. */
export function setAudioSession(use: Use): void {
  const session = (navigator as { audioSession?: Session }).audioSession;
  if (session) session.type = use;
}

/** Returns null where the browser has no audio. */
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
