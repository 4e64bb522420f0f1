import type { UpstreamProblem } from "../../../wire/models/upstreams";
import type { ProblemWords } from "../../en/shell/problems";
import { modelSize } from "../../../ui/parts/byte_size";
import type { ProblemValues } from "../../../wire/transport/http";

/** Codes for which the server's sentence adds nothing. */
const SENTENCES: Readonly<Record<string, string>> = {
  admin_needed: "Seul un administrateur peut faire cela.",
  app_disabled: "Un administrateur a désactivé cela sur ce serveur.",
  approval_closed: "Cette demande n’est plus ouverte.",
  busy: "Le serveur est trop occupé. Réessayez dans un instant.",
  call_idle: "Rien n’a été dit pendant longtemps, le serveur a donc terminé l’appel. Rappelez.",
  call_too_long: "L’appel a atteint la durée maximale. Rappelez.",
  connection_lost: "La connexion a été coupée. Réessayez.",
  conversation_deleted: "Le chat de cet appel a été supprimé.",
  file_empty: "Le fichier est vide.",
  message_gone: "Ce message n’existe plus.",
  nothing_said: "Ce chat ne contient encore aucun message.",
  queue_full: "La file d’attente du serveur est pleine. Réessayez dans quelques minutes.",
  recording_forbidden: "Cet appel ne peut pas être enregistré : l’enregistrement est désactivé ici, ou la discussion est temporaire.",
  nothing_recorded: "Cet enregistrement n’a pas de son : il a été coupé dès le début.",
  recording_not_found: "Cet enregistrement n’existe plus.",
  recording_running: "Cet enregistrement est en cours. Il pourra être lu une fois terminé.",
  recording_unavailable: "Ce serveur ne peut pas enregistrer : il lui manque un paquet.",
  recordings_full: "L’espace des enregistrements est plein. Supprimez-en d’abord un.",
  reply_incomplete: "La réponse a été coupée avant la fin. Réessayez.",
  run_ended: "Cette réponse est déjà terminée. Envoyez simplement le message.",
  run_in_progress: "Une réponse est en cours ici. Arrêtez-la ou attendez qu’elle soit finie.",
  server_stopping: "Le serveur s’arrête. Réessayez dans un instant.",
  too_many_upstreams: "Le nombre maximal de serveurs connectés est atteint. Retirez-en d’abord un.",
  too_many_voices: "Le nombre maximal de voix personnelles est atteint. Supprimez-en d’abord une.",
  upstream_exists: "Un serveur connecté porte déjà ce nom.",
  upstream_key_needed: "La clé enregistrée ne vaut que pour l’ancienne adresse. Saisissez celle de la nouvelle.",
  upstream_not_found: "Ce serveur n’est plus connecté.",
  timeout: "Le modèle a mis trop de temps. Réessayez plus tard.",
  voice_consent_missing: "Une voix n’est conservée qu’avec l’accord de la personne qui parle.",
  voice_lost: "La voix du serveur tombe sans cesse en panne. La cause est dans le journal du serveur.",
  avatar_not_found: "Ce visage n’existe pas ici.",
  avatar_not_yours: "Seule la personne à qui appartient ce visage peut le modifier.",
  avatar_consent_missing: "Une image n’est conservée qu’avec l’accord de la personne représentée.",
  avatar_unreadable: "Le fichier est endommagé, ou n’est ni une image ni une figure VRM. Exportez de nouveau la figure, en VRM 0.x ou 1.0.",
  avatar_too_small: "L’image a trop peu de pixels pour un visage. Choisissez-en une plus grande.",
  avatar_too_large: "La figure est trop grande : trop de triangles ou des textures trop grandes. Réduisez-la dans le programme qui l’a créée.",
  avatar_refers_outside: "La figure renvoie à quelque chose hors de son fichier, qui n’est jamais chargé. Exportez-la en un seul fichier VRM qui contient tout.",
  avatar_extension_unknown: "La figure utilise une extension que la page ne peut pas dessiner. Exportez-la sans compresser maillages et textures.",
  avatar_without_head: "La figure n’a pas d’os de la tête. Donnez-lui les os de VRM et exportez-la de nouveau.",
  avatar_without_mouth: "La figure ne peut pas ouvrir la bouche : il lui manque l’expression « aa » (« A » en VRM 0.x).",
  avatar_without_preview: "Cette figure ne contient pas de vignette.",
  landmarks_missing: "Le visage de cette image n’est pas encore repéré. Placez ses points une fois dans Réglages > Voix.",
  landmarks_invalid: "Ces points ne peuvent pas être ceux d’un visage. Placez-les de nouveau.",
  too_many_avatars: "Le nombre maximal de visages personnels est atteint. Supprimez-en d’abord un.",
  voice_not_yours: "Seule la personne à qui appartient cette voix peut la modifier.",
  voice_sample_long: "L’enregistrement dépasse 30 secondes.",
  voice_sample_short: "L’enregistrement dure moins d’une seconde. Une dizaine de secondes de parole claire convient bien.",
  voice_sample_silent: "On n’entend rien dans l’enregistrement. Vérifiez le micro et parlez un peu plus fort.",
  voice_sample_text_missing: "Cette voix doit savoir ce qui est dit dans l’enregistrement. Écrivez-le auprès de la voix.",
  worker_lost: "Le modèle s’est arrêté en cours de route et redémarre. Réessayez dans un instant.",
  blob_not_found: "Ce fichier n’existe plus. Joignez-le à nouveau.",
  call_running: "L’appel est déjà en cours.",
  clip_too_long: "Le clip durerait plus de dix minutes. Faites-en plusieurs avec des textes plus courts.",
  count_timeout: "Le modèle est trop occupé pour mesurer la longueur du chat. Réessayez dans un instant.",
  device_lost: "La carte graphique est tombée en panne ou le modèle ne répond plus. Il redémarre ; réessayez dans un instant.",
  document_locked: "Le PDF est protégé par un mot de passe. Retirez-le et réessayez.",
  file_breaks_reader: "Le fichier est endommagé ou beaucoup trop complexe et ne peut pas être lu.",
  file_too_complex: "Le fichier est trop complexe : le lire demande trop de temps ou de mémoire.",
  files_busy: "Le serveur lit trop de fichiers en ce moment. Réessayez dans un instant.",
  has_children: "D’autres messages suivent celui-ci.",
  import_running: "Une importation est déjà en cours. Attendez qu’elle se termine.",
  import_unknown: "Le fichier ne contient pas de chats dans un format connu.",
  import_unreadable: "Le fichier est endommagé et ne peut pas être importé.",
  last_admin: "Le dernier administrateur ne peut être ni désactivé ni rétrogradé.",
  load_running: "Un autre modèle est déjà en cours de chargement. Attendez qu’il soit prêt.",
  login_over: "Cette connexion a expiré. Recommencez.",
  model_unloaded: "Le modèle a été déchargé. Choisissez-en un autre ou rechargez-le.",
  not_editable: "Le résultat d’un outil ne peut pas être modifié.",
  nothing_to_continue: "Cette réponse est déjà complète.",
  nothing_to_fold: "Il y a encore trop peu de texte pour un résumé.",
  pack_in_use: "Ce paquet de voix est utilisé. Choisissez-en d’abord un autre.",
  pack_running: "Un autre paquet de voix est déjà en cours d’installation. Attendez ou annulez-le.",
  pictures_busy: "Trop d’images sont en cours de chargement. Réessayez dans un instant.",
  too_many_pending: "Trop de messages sont déjà en attente.",
  too_many_temporary: "Trop de chats temporaires sont ouverts. Fermez-en un d’abord.",
  too_many_uploads: "Trop d’envois sont en cours. Attendez que l’un d’eux se termine.",
  unauthorized: "La clé manque ou n’est pas correcte. Reconnectez-vous.",
  upload_not_found: "Cet envoi a été interrompu. Joignez le fichier à nouveau.",
  worker_restarted: "Un administrateur a redémarré le modèle. Réessayez dans un instant.",
};

/** Codes for which the server's sentence names the object or the cause and is appended. */
const LEADS: Readonly<Record<string, string>> = {
  bad_url: "Cette adresse n’est pas utilisable ici.",
  context_length_exceeded: "Le chat est trop long pour le modèle.",
  disk_full: "Le disque du serveur est plein.",
  document_too_long: "Le document est trop long.",
  document_unreadable: "Impossible de lire le document.",
  document_without_text: "Le document ne contient pas de texte.",
  engine_failed: "Le modèle a signalé une erreur.",
  file_unsupported: "Aucun modèle ne prend en charge ce type de fichier.",
  internal_error: "Une erreur interne s’est produite sur le serveur.",
  key_needed: "Pour cela, il faut se connecter avec une clé.",
  modality_unsupported: "Le modèle ne prend pas en charge l’un des fichiers.",
  model_loading: "Le modèle est en cours de chargement. Réessayez dans un instant.",
  model_not_found: "Ce modèle n’existe pas ici.",
  private_address: "Cette adresse ne doit pas être contactée d’ici.",
  rate_limited: "Trop de tentatives.",
  sound_too_long: "L’enregistrement est trop long.",
  sound_unreadable: "Impossible de lire l’enregistrement.",
  video_too_large: "La vidéo est trop grande, 4K au plus.",
  video_too_long: "La vidéo est trop longue.",
  video_unreadable: "Impossible de lire la vidéo.",
  video_unsupported: "Ce type de vidéo ne peut pas être lu ici.",
  video_without_pictures: "La vidéo ne contient pas d’images.",
  storage_unavailable: "Le serveur ne peut rien enregistrer pour le moment.",
  storage_full: "Votre espace de stockage sur le serveur est plein.",
  too_large: "C’est plus gros que ce que le serveur accepte.",
  tool_server_error: "Le serveur d’outils a signalé une erreur.",
  tool_server_unavailable: "Le serveur d’outils est indisponible pour le moment.",
  tool_server_unreachable: "Le serveur d’outils est injoignable.",
  too_many_sockets: "Trop de connexions sont déjà ouvertes.",
  too_much_in_flight: "Vous envoyez trop de choses à la fois.",
  unavailable: "Indisponible pour le moment.",
  upstream_failed: "Le serveur du modèle a signalé une erreur.",
  upstream_refused: "Le serveur du modèle a refusé.",
  upstream_unreachable: "Le serveur du modèle est injoignable.",
  voice_not_found: "Cette voix n’existe pas ici.",
  voice_unavailable: "La voix du serveur est indisponible pour le moment.",
  access_revoked: "L’accès qui a servi à commencer a été révoqué. Recommencez avec une clé valide.",
  forbidden: "Vous n’y êtes pas autorisé.",
  hub_busy: "Le dépôt de modèles n’accepte plus de requêtes pour le moment.",
  hub_unreachable: "Le dépôt de modèles est inaccessible.",
  image_too_large: "L’image est trop grande.",
  image_unreadable: "L’image est illisible.",
  model_failed: "Le modèle n’a pas pu être chargé.",
  name_taken: "Ce nom est déjà pris.",
  not_enough_memory: "La mémoire ne suffit pas.",
  sound_unsupported: "Ce type d’enregistrement ne peut pas être lu ici.",
  template_error: "Le modèle ne peut pas traiter ces messages.",
  unsupported: "Ce n’est pas pris en charge ici.",
  video_unavailable: "Ce serveur ne peut pas produire de vidéo.",
  write_failed: "Ce dossier du serveur n’est pas accessible en écriture.",
};

/** Sentences with the values of the problem, for problems that have them. */
const VALUED: Readonly<Record<string, (values: ProblemValues) => string>> = {
  disk_full: ({ needed, free, folder }) => {
    const download = Number(needed) > 0 ? `, et le téléchargement a besoin de ${size(needed)} et d’un peu de marge` : "";
    return `Il ne reste que ${size(free)} sur le disque de ${folder}${download}. Supprimez un modèle, ou démarrez le serveur avec --data et un autre dossier.`;
  },
};

const size = (bytes: number | string | undefined): string => modelSize(Number(bytes));

/** What is wrong with a connected model server, by reason, or by code where there is no reason. */
const UPSTREAMS: Readonly<Record<string, string>> = {
  certificate: "Cette machine ne fait pas confiance au certificat du serveur. Installez-en un auquel elle fait confiance ou, sur votre propre réseau, utilisez http://.",
  disconnected: "Le serveur a coupé la connexion. Vérifiez qu’il est en marche et consultez son journal.",
  error: "Le serveur a renvoyé une erreur.",
  key_missing: "Le serveur demande une clé.",
  key_refused: "Le serveur refuse la clé. Saisissez-en une valide.",
  no_answer: "Le serveur ne répond pas. Vérifiez l’adresse, que le serveur est en marche et qu’aucun pare-feu ne bloque.",
  no_tls: "Le serveur ne parle pas TLS. Écrivez http:// au lieu de https://.",
  no_words: "Le serveur répond, mais le modèle n’a rien écrit. Essayez-en un autre.",
  not_a_model_server: "Quelque chose répond, mais pas un serveur compatible OpenAI. Vérifiez l’adresse, y compris son chemin.",
  not_listening: "Le serveur refuse la connexion. Vérifiez qu’il est en marche et écoute sur ce port.",
  rate_limited: "Le serveur n’accepte plus de requêtes pour le moment. Attendez, ou vérifiez votre forfait.",
  redirected: "Le serveur redirige vers une autre adresse. Saisissez-la si elle est correcte.",
  unknown_host: "Ce serveur est introuvable. Vérifiez l’orthographe de l’adresse.",
  private_address: "Aucun modèle n’est servi à cette adresse : dans un cloud, elle donne accès à des identifiants. Saisissez-en une autre.",
  upstream_empty: "Le serveur n’a aucun modèle de chat. Chargez-en un là-bas, puis testez de nouveau.",
  upstream_in_settings: "Les paramètres du serveur connectent déjà cette adresse, et ils l’emportent.",
  upstream_key_lost: "La clé enregistrée n’est plus lisible. Saisissez-la à nouveau.",
};

/** What the server's own words are called after these reasons; nothing is appended to the others. */
const DETAILS: Readonly<Record<string, (detail: string) => string>> = {
  certificate: (detail) => `(${detail})`,
  error: (detail) => `Il indique : ${detail}`,
  key_missing: (detail) => `Il indique : ${detail}`,
  key_refused: (detail) => `Il indique : ${detail}`,
  rate_limited: (detail) => `Il indique : ${detail}`,
  redirected: (detail) => `Nouvelle adresse : ${detail}`,
  no_words: (detail) => `(${detail})`,
};

function ofUpstream({ code, message, reason = "", detail = "" }: UpstreamProblem): string {
  const sentence = UPSTREAMS[reason] ?? UPSTREAMS[code];
  if (sentence === undefined) return problems.told(code, message);
  return detail === "" ? sentence : [sentence, DETAILS[reason]?.(detail) ?? ""].join(" ").trim();
}

export const problems: ProblemWords = {
  ofUpstream,
  told: (code, message, values) => (values && VALUED[code]?.(values)) ?? SENTENCES[code] ?? (LEADS[code] === undefined ? message : `${LEADS[code]} Message du serveur : ${message}`),
};
