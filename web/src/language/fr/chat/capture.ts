import type { CaptureWords } from "../../en/chat/capture";

export const capture: CaptureWords = {
  camera: "Caméra",
  faults: {
    insecure: "Les navigateurs n’autorisent la caméra qu’en https ou sur la même machine. Démarrez le serveur avec duologue serve --tls et ouvrez son adresse https.",
    unsupported: "Ce navigateur ne prend pas en charge les caméras.",
    denied: "L’accès à la caméra est bloqué. Autorisez-le dans les réglages du site de votre navigateur, puis réessayez.",
    none: "Aucune caméra trouvée. Branchez-en une, puis réessayez.",
    busy: "Un autre programme utilise la caméra. Fermez-le, puis réessayez.",
    failed: "Impossible de démarrer la caméra.",
  },
  screenFaults: {
    denied: "Votre système ne laisse pas le navigateur capturer l’écran. Autorisez-le dans les réglages de confidentialité du système.",
    failed: "Impossible de capturer l’écran.",
  },
  kind: "Que prendre",
  kinds: { photo: "Photo", video: "Vidéo" },
  opening: "En attente de l’accès à la caméra",
  preview: "Aperçu de la caméra",
  chooseCamera: "Quelle caméra",
  cameraNumber: (number) => `Caméra ${number}`,
  turn: "Retourner la caméra",
  takePhoto: "Prendre la photo",
  startRecording: "Commencer l’enregistrement",
  stopRecording: "Arrêter l’enregistrement",
  recording: "Enregistrement en cours",
  of: (now, most) => `${now} sur ${most}`,
  silent: "Pas de micro : la vidéo n’a pas de son.",
  tryAgain: "Réessayer",
  again: { photo: "Reprendre", video: "Recommencer" },
  use: { photo: "Utiliser la photo", video: "Utiliser la vidéo" },
  taken: { photo: "Votre photo", video: "Votre vidéo" },

  recordSound: "Enregistrer du son",
  soundHint: (most) => `De la musique, un cours, une voix : jusqu’à ${most}. Vous pouvez écouter avant d’envoyer.`,
  openingMicrophone: "En attente de l’accès au micro",
  recordAgain: "Recommencer",
  useSound: "Utiliser l’enregistrement",
  takenSound: "Votre enregistrement",

  names: { photo: "Photo", video: "Vidéo", sound: "Enregistrement", screen: "Capture d’écran" },
};
