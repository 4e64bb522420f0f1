import type { CaptureWords } from "../../en/chat/capture";

export const capture: CaptureWords = {
  camera: "Cámara",
  faults: {
    insecure: "Los navegadores solo permiten la cámara por https o en el mismo equipo. Inicia el servidor con duologue serve --tls y abre su dirección https.",
    unsupported: "Este navegador no admite cámaras.",
    denied: "El acceso a la cámara está bloqueado. Permítelo en los ajustes del sitio de tu navegador e inténtalo de nuevo.",
    none: "No se encontró ninguna cámara. Conecta una e inténtalo de nuevo.",
    busy: "Otro programa está usando la cámara. Ciérralo e inténtalo de nuevo.",
    failed: "No se pudo iniciar la cámara.",
  },
  screenFaults: {
    denied: "El sistema no deja que el navegador capture la pantalla. Permítelo en los ajustes de privacidad del sistema.",
    failed: "No se pudo capturar la pantalla.",
  },
  kind: "Qué tomar",
  kinds: { photo: "Foto", video: "Video" },
  opening: "Esperando acceso a la cámara",
  preview: "Vista previa de la cámara",
  chooseCamera: "Qué cámara",
  cameraNumber: (number) => `Cámara ${number}`,
  turn: "Girar la cámara",
  takePhoto: "Hacer foto",
  startRecording: "Empezar a grabar",
  stopRecording: "Dejar de grabar",
  recording: "Grabando",
  of: (now, most) => `${now} de ${most}`,
  silent: "No hay micrófono: el video no tiene sonido.",
  tryAgain: "Reintentar",
  again: { photo: "Repetir", video: "Repetir" },
  use: { photo: "Usar foto", video: "Usar video" },
  taken: { photo: "Tu foto", video: "Tu video" },

  recordSound: "Grabar sonido",
  soundHint: (most) => `Música, una clase, una voz: hasta ${most}. Puedes escucharlo antes de enviarlo.`,
  openingMicrophone: "Esperando acceso al micrófono",
  recordAgain: "Repetir",
  useSound: "Usar grabación",
  takenSound: "Tu grabación",

  names: { photo: "Foto", video: "Video", sound: "Grabación", screen: "Captura de pantalla" },
};
