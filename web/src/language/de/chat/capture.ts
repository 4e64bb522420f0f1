import type { CaptureWords } from "../../en/chat/capture";

export const capture: CaptureWords = {
  camera: "Kamera",
  faults: {
    insecure: "Browser erlauben die Kamera nur über https oder auf demselben Rechner. Starte den Server mit duologue serve --tls und öffne seine https-Adresse.",
    unsupported: "Dieser Browser unterstützt keine Kameras.",
    denied: "Der Zugriff auf die Kamera ist blockiert. Erlaube ihn in den Website-Einstellungen des Browsers und versuche es erneut.",
    none: "Keine Kamera gefunden. Schließe eine an und versuche es erneut.",
    busy: "Ein anderes Programm verwendet die Kamera. Schließe es und versuche es erneut.",
    failed: "Die Kamera konnte nicht gestartet werden.",
  },
  screenFaults: {
    denied: "Das System lässt den Browser den Bildschirm nicht aufnehmen. Erlaube es in den Datenschutz-Einstellungen des Systems.",
    failed: "Der Bildschirm konnte nicht aufgenommen werden.",
  },
  kind: "Was aufgenommen wird",
  kinds: { photo: "Foto", video: "Video" },
  opening: "Warten auf den Zugriff auf die Kamera",
  preview: "Vorschau der Kamera",
  chooseCamera: "Welche Kamera",
  cameraNumber: (number) => `Kamera ${number}`,
  turn: "Kamera umdrehen",
  takePhoto: "Foto aufnehmen",
  startRecording: "Aufnahme starten",
  stopRecording: "Aufnahme beenden",
  recording: "Nimmt auf",
  of: (now, most) => `${now} von ${most}`,
  silent: "Kein Mikrofon, deshalb hat das Video keinen Ton.",
  tryAgain: "Erneut versuchen",
  again: { photo: "Neu aufnehmen", video: "Neu aufnehmen" },
  use: { photo: "Foto verwenden", video: "Video verwenden" },
  taken: { photo: "Dein Foto", video: "Dein Video" },

  recordSound: "Ton aufnehmen",
  soundHint: (most) => `Musik, ein Vortrag, eine Stimme: bis zu ${most}. Du kannst die Aufnahme vor dem Senden anhören.`,
  openingMicrophone: "Warten auf den Zugriff auf das Mikrofon",
  recordAgain: "Neu aufnehmen",
  useSound: "Aufnahme verwenden",
  takenSound: "Deine Aufnahme",

  names: { photo: "Foto", video: "Video", sound: "Aufnahme", screen: "Bildschirmfoto" },
};
